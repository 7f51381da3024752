import { unlessAborted } from './promises.ts'

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
