import type { PendingRequest } from './agent-response.ts'
import type { Checkpoint } from './checkpoint.ts'
import { createSecretId } from './create-id.ts'
import { LamellaError } from './lamella-error.ts'

/** Leaves all layers to pause the run. Never to be caught for good: rethrow it. */
export class RunPaused extends LamellaError {
  constructor() {
    super('the run is paused; layers must let this pass', { code: 'run_paused' })
  }

  override get name(): string {
    return 'RunPaused'
  }
}

/**
 * The questions that layers pause a run for. A question is known by what it asks and how often the
 * same was asked before, so that a layer that is entered again finds its answer.
 */
export class Interrupts {
  readonly #answers: Record<string, unknown>
  readonly #asked = new Map<string, number>()
  readonly #known: readonly PendingRequest[]
  readonly pending: PendingRequest[] = []

  constructor(checkpoint: Checkpoint | undefined, given: Readonly<Record<string, unknown>> = {}) {
    this.#known = checkpoint?.pending ?? []
    this.#answers = { ...checkpoint?.answers }
    for (const request of this.#known) {
      if (request.kind === 'interrupt' && Object.hasOwn(given, request.id)) {
        this.#answers[request.address] = given[request.id]
      }
    }
  }

  /** Answers given so far, by address, for the next checkpoint. */
  get answers(): Readonly<Record<string, unknown>> {
    return this.#answers
  }

  async ask(payload: unknown, iteration: number): Promise<unknown> {
    const question = `${iteration}:${JSON.stringify(payload)}`
    const count = this.#asked.get(question) ?? 0
    this.#asked.set(question, count + 1)
    const address = `${question}#${count}`
    if (Object.hasOwn(this.#answers, address)) return this.#answers[address]
    const known = this.#known.find((request) => request.kind === 'interrupt' && request.address === address)
    this.pending.push(known ?? { kind: 'interrupt', id: createSecretId('interrupt'), payload, address })
    throw new RunPaused()
  }
}

export function isPause(error: unknown): boolean {
  return LamellaError.is(error, 'run_paused')
}
