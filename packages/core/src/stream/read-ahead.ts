import { Queue } from './queue.ts'

/** Buffers updates that were read while the stream's reader paused. */
export class ReadAhead<Update> {
  readonly #kept = new Queue<IteratorResult<Update>>()
  readonly #waiting: ((step: IteratorResult<Update> | Promise<IteratorResult<Update>>) => void)[] =
    []
  #end: Promise<IteratorResult<Update>> | undefined

  add(value: Update): void {
    const step = { done: false, value } as const
    const waiting = this.#waiting.shift()
    if (waiting === undefined) this.#kept.added.push(step)
    else waiting(step)
  }

  /** `last` is what the stream ends with. */
  end(last: Promise<IteratorResult<Update>>): void {
    this.#end = last
    for (const waiting of this.#waiting) waiting(last)
  }

  next(): Promise<IteratorResult<Update>> {
    const step = this.#kept.take()
    if (step !== undefined) return Promise.resolve(step)
    return this.#end ?? new Promise((resolve) => this.#waiting.push(resolve))
  }
}
