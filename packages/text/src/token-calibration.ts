/** Learns how a model's own token count compares with an estimate. */
export interface TokenCalibration {
  /** Returns the factor for estimates of the model; 1 until something was learned. */
  factor(model: string): number
  /** Adds a call's estimated tokens and the provider's reported ones. */
  learn(model: string, estimated: number, reported: number | undefined): void
}

const maxModels = 100

/** Weight of older calls relative to the last one. */
const memory = 0.8

/**
 * Limits of the factor. Beyond them the figures include something else, such as images or a stored
 * conversation.
 */
const least = 0.5
const most = 3

/**
 * Makes a calibration that learns from reported usage, for each model. It stores two sums for each
 * of at most 100 models and no content, so many runs can share one.
 */
export function tokenCalibration(): TokenCalibration {
  const sums = new Map<string, { readonly estimated: number; readonly reported: number }>()
  return {
    factor(model) {
      const sum = sums.get(model)
      if (sum === undefined) return 1
      return Math.min(most, Math.max(least, sum.reported / sum.estimated))
    },
    learn(model, estimated, reported) {
      if (reported === undefined || !(reported > 0) || !(estimated > 0)) return
      const old = sums.get(model) ?? { estimated: 0, reported: 0 }
      sums.delete(model)
      sums.set(model, {
        estimated: old.estimated * memory + estimated,
        reported: old.reported * memory + reported,
      })
      if (sums.size > maxModels) sums.delete(sums.keys().next().value!)
    },
  }
}
