import { median, shuffled } from './statistics.mjs'

/**
 * Runs all probes once in each round, in random order, so that what slows the machine down meets all
 * of them. A probe that fails is not asked again.
 */
export async function interleave(probes, rounds) {
  const columns = probes.map(() => ({ samples: [], error: undefined }))
  for (let round = 0; round < rounds; round++) {
    for (const index of shuffled(probes.keys())) {
      const column = columns[index]
      if (column.error !== undefined) continue
      try {
        column.samples.push(await probes[index]())
      } catch (error) {
        column.error = error
      }
    }
  }
  return columns
}

/**
 * Asks a worker for a measurement again while the machine was busy with something else, and keeps
 * the quietest attempt.
 */
export class QuietMeter {
  #bestSpin = Infinity
  #limits
  #kept = []
  #repeated = 0

  /** `foreign` is in cores; `slow` is a factor over the fastest spin seen. */
  constructor(limits) {
    this.#limits = limits
  }

  async ask(worker, command, params) {
    let best = await this.#attempt(worker, command, params)
    for (let retry = 1; retry <= this.#limits.retries && this.#noise(best) > 0; retry++) {
      this.#repeated++
      await new Promise((resolve) => setTimeout(resolve, 150 * retry))
      const next = await this.#attempt(worker, command, params)
      if (this.#noise(next) < this.#noise(best)) best = next
    }
    this.#kept.push(best)
    return best
  }

  /** How noisy the machine was. */
  summary() {
    const loud = this.#kept.filter((attempt) => this.#noise(attempt) > 0).length
    return {
      batches: this.#kept.length,
      repeated: this.#repeated,
      stillNoisy: loud,
      foreign: median(this.#kept.map(({ foreign }) => foreign)),
    }
  }

  async #attempt(worker, command, params) {
    const result = await worker.ask(command, params)
    this.#bestSpin = Math.min(this.#bestSpin, result.spin)
    return result
  }

  #noise({ foreign, spin }) {
    const { foreign: quiet, slow } = this.#limits
    return Math.max(0, foreign - quiet) + Math.max(0, spin / this.#bestSpin - slow)
  }
}
