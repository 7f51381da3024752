/**
 * Order of the tool calls of one run. Engines number steps as they begin, so a call whose inside has steps of its
 * own, such as a sub-agent, runs while no other call does.
 */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()
  #alone: Promise<unknown> = Promise.resolve()

  /** Runs `work` beside others. Results come in the order of the calls, so that what follows is the same in every pass. */
  beside<Value>(work: () => Promise<Value>): Promise<Value> {
    const running = this.#alone.then(work)
    const inOrder = Promise.allSettled([this.#last, running])
    this.#last = inOrder
    return inOrder.then(() => running)
  }

  /** Runs `work` alone, in the order of the calls. */
  alone<Value>(work: () => Promise<Value>): Promise<Value> {
    const running = this.#last.then(work)
    this.#last = this.#alone = running.catch(() => {})
    return running
  }
}
