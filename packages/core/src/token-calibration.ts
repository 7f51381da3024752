/** What is known of how a model's own count compares with an estimate. */
export interface TokenCalibration {
  /** What an estimate for the model is to be multiplied with; 1 until something was learned. */
  factor(model: string): number
  /** Takes in what a call was estimated at, and what the provider reported for it. */
  learn(model: string, estimated: number, reported: number | undefined): void
}

const maxModels = 100
/** What older calls count for beside the last one. */
const memory = 0.8
/** Beyond these something else is in the figures, such as images or a conversation kept elsewhere. */
const least = 0.5
const most = 3

/**
 * Learns from reported usage how far off an estimate is, for each model. It holds two sums for each of
 * at most 100 models and nothing of any conversation, so one may serve many runs.
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
