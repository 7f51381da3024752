import type { Clock } from '@lamella/core/authoring'

/** A clock that stands still until the test moves it. */
export interface TestClock extends Clock {
  /**
   * Moves the time on and wakes the sleepers that are due, in order, each at its own moment. Before
   * and after each, what they set off runs until it waits again.
   */
  advance(ms: number): Promise<void>
  /** How many sleep. */
  readonly sleeping: number
}

interface Sleeper {
  readonly dueMs: number
  wake(): void
}

/** Makes a clock that starts at `startMs`. No test has to wait for real time. */
export function testClock(startMs = 0): TestClock {
  let nowMs = startMs
  const sleepers = new Set<Sleeper>()

  const earliest = (limitMs: number): Sleeper | undefined => {
    let found: Sleeper | undefined
    for (const sleeper of sleepers) {
      if (sleeper.dueMs <= limitMs && (found === undefined || sleeper.dueMs < found.dueMs)) {
        found = sleeper
      }
    }
    return found
  }

  return {
    now: () => nowMs,
    get sleeping() {
      return sleepers.size
    },
    sleep: (ms, signal) =>
      new Promise<void>((resolve, reject) => {
        if (signal?.aborted === true) {
          reject(signal.reason)
          return
        }
        const leave = (): void => {
          sleepers.delete(sleeper)
          signal?.removeEventListener('abort', onAbort)
        }
        const onAbort = (): void => {
          leave()
          reject(signal?.reason)
        }
        const sleeper: Sleeper = {
          dueMs: nowMs + Math.max(0, ms),
          wake: () => {
            leave()
            resolve()
          },
        }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', onAbort, { once: true })
      }),
    async advance(ms) {
      if (!(ms >= 0)) throw new RangeError(`testClock: \`ms\` must be 0 or more, got ${ms}`)
      const endMs = nowMs + ms
      await settled()
      for (let next = earliest(endMs); next !== undefined; next = earliest(endMs)) {
        nowMs = Math.max(nowMs, next.dueMs)
        next.wake()
        await macrotask()
      }
      nowMs = endMs
    },
  }
}

/** Comes after every microtask, however long their chain is, and lets sockets and files have their turn. */
function settled(): Promise<void> {
  return new Promise((resolve) => realSetTimeout(resolve, 0))
}

/** Comes after every microtask too, without the millisecond that a timer of Node takes at least. */
function macrotask(): Promise<void> {
  return new Promise((resolve) => (realSetImmediate ?? realSetTimeout)(() => resolve()))
}

// Taken before a test can replace them by fakes. Not every runtime has both.
const { setTimeout: realSetTimeout, setImmediate: realSetImmediate } =
  globalThis as typeof globalThis & { readonly setImmediate?: (work: () => void) => void }
