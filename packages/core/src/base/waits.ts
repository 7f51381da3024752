import { onAbort } from './promises.ts'
import type { Clock } from './timers.ts'
import { callLater, systemClock } from './timers.ts'

/** Limits of a wait. */
export interface WaitLimit {
  /** Tells the time. @default the clock of the machine */
  readonly clock?: Clock | undefined
  /** Milliseconds. @default no limit */
  readonly timeoutMs?: number | undefined
  /** Signal that ends the wait with its reason. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds that the work has after an abort to end by itself. @default none */
  readonly graceMs?: number | undefined
}

/**
 * Settles like `work`, but rejects as soon as the signal aborts, and with the error that `late` makes when
 * the time is up. The work itself continues and may still have its effect.
 */
export function withinTime<Value>(
  work: PromiseLike<Value>,
  { clock = systemClock, timeoutMs = Infinity, signal, graceMs }: WaitLimit,
  late: () => unknown,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    let stopTimer: (() => void) | undefined
    let stopListening: (() => void) | undefined
    const settled =
      <Result>(settle: (result: Result) => void) =>
      (result: Result): void => {
        stopTimer?.()
        stopListening?.()
        settle(result)
      }
    const onAborted = (reason: unknown): void => {
      stopTimer?.()
      if (graceMs === undefined) settled(reject)(reason)
      else stopTimer = callLater(clock, graceMs, () => settled(reject)(reason))
    }
    work.then(settled(resolve), settled(reject))
    if (signal?.aborted !== true && timeoutMs !== Infinity)
      stopTimer = callLater(clock, timeoutMs, () => settled(reject)(late()))
    if (signal !== undefined) stopListening = onAbort(signal, onAborted)
  })
}

/**
 * Resolves as `work`, or rejects with the signal's reason as soon as it aborts, even if `work`
 * ignores the signal. With `graceMs`, `work` has that time to end by itself.
 */
export function unlessAborted<Value>(
  signal: AbortSignal,
  work: PromiseLike<Value>,
  graceMs?: number,
): Promise<Value> {
  return withinTime(work, { signal, graceMs }, () => undefined)
}

/** The last turn of each key. */
export interface Turns<Key> {
  /** Returns the last turn of a key. */
  get(key: Key): Promise<void> | undefined
  /** Sets the last turn of a key. */
  set(key: Key, turn: Promise<void>): unknown
  /** Forgets a key without turns. */
  delete(key: Key): boolean
}

/**
 * Waits until the turns before are over. Resolves to the function that ends this one.
 * @throws the reason of the signal
 */
export async function takeTurn<Key>(
  turns: Turns<Key>,
  key: Key,
  signal: AbortSignal,
): Promise<() => void> {
  const before = turns.get(key)
  let end = (): void => {}
  const own = new Promise<void>((resolve) => (end = resolve))
  const last: Promise<void> = before === undefined ? own : before.then(() => own)
  turns.set(key, last)
  void last.then(() => turns.get(key) === last && turns.delete(key))
  try {
    if (before !== undefined) await unlessAborted(signal, before)
  } catch (error) {
    end()
    throw error
  }
  return end
}
