import { untilAborted } from '../../packages/testing/src/base/abortable.ts'

/** A wait of dead processes in a test. It fails when the test is over, so that no timer of theirs is left. */
export class Hang {
  readonly #end = new AbortController()

  /** Waits like a process that is dead. */
  wait(): Promise<never> {
    return untilAborted(this.#end.signal)
  }

  /** Ends all waits. */
  end(): void {
    this.#end.abort(new Error('the test is over'))
  }
}
