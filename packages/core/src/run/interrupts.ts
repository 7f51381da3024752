import type { IdSource } from '../base/create-id.ts'
import type { Question } from '../contract/control-flow.ts'
import { RunPaused } from '../contract/control-flow.ts'
import type { Journal } from './journal.ts'
import { questionMark } from './journal.ts'

/**
 * The questions that middleware pauses a run for. A question is known by where it is asked (a model call,
 * a tool call), what it asks and how often the same was asked there before, so that a middleware that is
 * entered again finds its answer.
 */
export class Interrupts {
  readonly #journal: Journal
  readonly #ids: IdSource
  readonly #asked = new Map<string, number>()
  readonly pending: Question[] = []

  constructor(journal: Journal, ids: IdSource) {
    this.#journal = journal
    this.#ids = ids
  }

  /** `position` is where it is asked: `run`, the number of a model call, or the position of a tool call. */
  async ask(payload: unknown, position: string | number): Promise<unknown> {
    const { answers, state } = this.#journal
    const question = `${questionMark}${position} ${JSON.stringify(payload)}`
    const count = this.#asked.get(question) ?? 0
    this.#asked.set(question, count + 1)
    const address = `${question}#${count}`
    if (answers.has(address)) return answers.get(address)
    const known = state?.pending.find((request) => request.address === address)
    const request = (known ?? {
      kind: 'interrupt',
      id: this.#ids.createSecretId('interrupt'),
      payload,
      address,
    }) as Question
    this.pending.push(request)
    throw new RunPaused([request])
  }

  /**
   * Says from which tool call a pause came: of those that run side by side nobody knows while they
   * ask. The call will ask again when it runs again, alone.
   */
  claim({ requests: [request] }: RunPaused, position: string): void {
    const at = this.pending.indexOf(request as Question)
    if (at < 0) return
    const question = this.pending[at]!
    const address = `${questionMark}${position} ${JSON.stringify(question.payload)}#0`
    this.pending[at] = { ...question, address }
  }
}
