/** A wait of dead processes in a test. It fails when the test is over, so that no timer of theirs is left. */
export class Hang {
  readonly #end = new AbortController()

  /** Waits like a process that is dead. */
  wait(): Promise<never> {
    const { signal } = this.#end
    return new Promise((_, reject) => {
      if (signal.aborted) reject(signal.reason)
      else signal.addEventListener('abort', () => reject(signal.reason))
    })
  }

  /** Ends all waits. */
  end(): void {
    this.#end.abort(new Error('the test is over'))
  }
}
