/** Buffers updates that were read while the stream's reader paused. */
export class ReadAhead<Update> {
  readonly #kept: Update[] = []
  /** Index of the first update: V8 moves a long list for each `shift()`. */
  #head = 0
  readonly #waiting: ((step: IteratorResult<Update> | Promise<IteratorResult<Update>>) => void)[] =
    []
  #end: Promise<IteratorResult<Update>> | undefined

  add(update: Update): void {
    const waiting = this.#waiting.shift()
    if (waiting === undefined) this.#kept.push(update)
    else waiting({ done: false, value: update })
  }

  /** `last` is what the stream ends with. */
  end(last: Promise<IteratorResult<Update>>): void {
    this.#end = last
    for (const waiting of this.#waiting) waiting(last)
  }

  next(): Promise<IteratorResult<Update>> {
    if (this.#head < this.#kept.length) {
      const value = this.#kept[this.#head++]!
      if (this.#head === this.#kept.length) this.#head = this.#kept.length = 0
      return Promise.resolve({ done: false, value })
    }
    return this.#end ?? new Promise((resolve) => this.#waiting.push(resolve))
  }
}
