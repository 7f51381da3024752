/** Runs tasks one after another, in the order in which they were added. */
export class SerialQueue {
  #last: Promise<unknown> | undefined

  /** True while a task runs. */
  get busy(): boolean {
    return this.#last !== undefined
  }

  take<Value>(work: () => Promise<Value>): Promise<Value> {
    const turn = this.#last === undefined ? work() : this.#last.then(work, work)
    const settled = (): void => {
      if (this.#last === turn) this.#last = undefined
    }
    this.#last = turn
    turn.then(settled, settled)
    return turn
  }
}
