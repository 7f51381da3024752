import { setImmediate } from 'node:timers/promises'
import { RestatePromise } from '@restatedev/restate-sdk'

/** A promise of Restate, and what waits for it. */
interface Waiting {
  /** Settles the one who waits. */
  readonly settled: RestatePromise<Waiting>
  readonly finish: () => void
}

/**
 * Awaits promises of Restate for plain async code. Restate takes one await at a time: this is the only one, of all
 * promises that are open.
 */
export class RestatePump {
  readonly #open = new Set<Waiting>()
  #isRunning = false

  /** Resolves or rejects as the promise does. */
  settle<Value>(promise: RestatePromise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      let finish = (): void => {}
      const waiting: Waiting = {
        settled: promise.map((value, failure) => {
          finish = () => (failure === undefined ? resolve(value as Value) : reject(failure))
          return waiting
        }),
        finish: () => finish(),
      }
      this.#open.add(waiting)
      if (!this.#isRunning) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    // Whatever begins in the same turn is awaited together.
    await setImmediate()
    while (this.#open.size > 0) {
      const waiting = await RestatePromise.race([...this.#open].map(({ settled }) => settled))
      this.#open.delete(waiting)
      waiting.finish()
      await setImmediate()
    }
    this.#isRunning = false
  }
}
