/** Does one thing after another, in the order in which they were asked for. */
export class Turns {
  #last: Promise<unknown> | undefined

  /** Whether something is under way. */
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
