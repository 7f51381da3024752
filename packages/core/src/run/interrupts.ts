import { createSecretId } from '../base/create-id.ts'
import type { Question } from '../contract/control-flow.ts'
import { RunPaused } from '../contract/control-flow.ts'
import type { Checkpoint, PendingRequest } from '../contract/outcome.ts'

/**
 * The questions that middlewares pause a run for. A question is known by where it is asked (a model call,
 * a tool call), what it asks and how often the same was asked there before, so that a middleware that is
 * entered again finds its answer.
 */
export class Interrupts {
  readonly #answers: Record<string, unknown>
  readonly #asked = new Map<string, number>()
  readonly #known: readonly PendingRequest[]
  readonly pending: Question[] = []

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

  /** `place` is where it is asked: `run`, the number of a model call, or the id of a tool call. */
  async ask(payload: unknown, place: string | number): Promise<unknown> {
    const question = `${place}:${JSON.stringify(payload)}`
    const count = this.#asked.get(question) ?? 0
    this.#asked.set(question, count + 1)
    const address = `${question}#${count}`
    if (Object.hasOwn(this.#answers, address)) return this.#answers[address]
    const known = this.#known.find((request) => (request as Partial<Question>).address === address)
    const request = (known ?? {
      kind: 'interrupt',
      id: createSecretId('interrupt'),
      payload,
      address,
    }) as Question
    this.pending.push(request)
    throw new RunPaused(request)
  }

  /**
   * Says from which tool call a pause came: of those that run side by side nobody knows while they
   * ask. The call will ask again when it runs again, alone.
   */
  claim({ request }: RunPaused, callId: string): void {
    const at = request === undefined ? -1 : this.pending.indexOf(request)
    if (request === undefined || at < 0) return
    const { address } = request
    const question = address.slice(address.indexOf(':'), address.lastIndexOf('#'))
    this.pending[at] = { ...request, address: `${callId}${question}#0` }
  }
}
