import type { StreamFold, StreamSource } from './stream-source.ts'

/** Lets a stream's transform hooks have every update, one at a time, and folds what they make of it. */
export class TransformHooks<Update, Final> {
  readonly fold: StreamFold<Update, Final>
  /** What a hook threw. */
  fault: { readonly error: unknown } | undefined
  readonly #source: StreamSource<Update, Final>
  readonly #hooks: ((update: Update) => unknown)[] = []
  #turn: Promise<unknown> | undefined

  constructor(source: StreamSource<Update, Final>, fold: StreamFold<Update, Final>) {
    this.#source = source
    this.fold = fold
  }

  get busy(): boolean {
    return this.#turn !== undefined
  }

  add(hook: (update: Update) => unknown): void {
    this.#hooks.push(hook)
  }

  next(): Promise<IteratorResult<Update>> {
    const pull = (): Promise<IteratorResult<Update>> => this.#pull()
    const turn = this.#turn === undefined ? pull() : this.#turn.then(pull, pull)
    const settled = (): void => {
      if (this.#turn === turn) this.#turn = undefined
    }
    this.#turn = turn
    turn.then(settled, settled)
    return turn
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
