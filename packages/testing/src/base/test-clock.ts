import type { Clock } from '@lamella/core/authoring'

/** A clock that only advances when the test says so. */
export interface TestClock extends Clock {
  /**
   * Advances the time and wakes the sleepers that are due, in order, each at its own time. Code
   * that follows one sleep runs before the next sleeper wakes.
   */
  advance(ms: number): Promise<void>
  /** Number of sleepers. */
  readonly sleeping: number
}

interface Sleeper {
  readonly dueMs: number
  wake(): void
}

/** Creates a clock that starts at `startMs`, so that no test waits for real time. */
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

/** Resolves after all microtasks, and after sockets and files had their turn. */
function settled(): Promise<void> {
  return new Promise((resolve) => realSetTimeout(resolve, 0))
}

/** Also resolves after all microtasks, without the minimum of a millisecond of Node's timers. */
function macrotask(): Promise<void> {
  return new Promise((resolve) => (realSetImmediate ?? realSetTimeout)(() => resolve()))
}

// Read before a test can replace them with fakes. Not every runtime has both.
const { setTimeout: realSetTimeout, setImmediate: realSetImmediate } =
  globalThis as typeof globalThis & { readonly setImmediate?: (work: () => void) => void }
