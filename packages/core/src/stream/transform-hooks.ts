import { SerialQueue } from '../base/serial-queue.ts'
import type { StreamFold, StreamSource } from './stream-source.ts'

/** Lets a stream's transform hooks have every update, one at a time, and folds what they make of it. */
export class TransformHooks<Update, Final> {
  readonly fold: StreamFold<Update, Final>
  /** Error that a hook threw. */
  fault: { readonly error: unknown } | undefined
  readonly #source: StreamSource<Update, Final>
  readonly #hooks: ((update: Update) => unknown)[] = []
  readonly #turns = new SerialQueue()

  constructor(source: StreamSource<Update, Final>, fold: StreamFold<Update, Final>) {
    this.#source = source
    this.fold = fold
  }

  get busy(): boolean {
    return this.#turns.busy
  }

  add(hook: (update: Update) => unknown): void {
    this.#hooks.push(hook)
  }

  next(): Promise<IteratorResult<Update>> {
    return this.#turns.take(() => this.#pull())
  }

  async #pull(): Promise<IteratorResult<Update>> {
    const step = await this.#source.next()
    if (step.done === true) return step
    let update = step.value
    try {
      for (const hook of this.#hooks) update = ((await hook(update)) as Update) ?? update
      this.fold.add(update)
    } catch (error) {
      this.fault = { error }
      await this.#source.cancel(error)
      throw error
    }
    return { done: false, value: update }
  }
}
