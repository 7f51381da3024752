import type { KeyValueStore } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import { checkOptions, systemClock } from '@lamella/core/authoring'

/** Options of `whenStored`. */
export interface WhenStoredOptions<Value> {
  /** Channel of the notes that tell of changes. */
  readonly channel: string
  /** Reads the store. `undefined` waits on. */
  readonly read: () => Promise<Value | undefined>
  /**
   * Milliseconds until it is read again where the store carries no notes. With notes, it is read again after ten
   * times as long, since a note may be lost.
   * @default 500
   */
  readonly pollMs?: number | undefined
  /** Ends the wait. @default it lasts */
  readonly signal?: AbortSignal | undefined
  /** Clock of the wait. @default the machine's */
  readonly clock?: Clock | undefined
}

/**
 * Waits until a value is in a store: reads it again with each note on the channel, or now and then if the store has
 * no `signals`.
 * @throws TypeError or RangeError that names the option and the value; the error of `read`, or the reason of the signal
 * @example
 * ```ts
 * import { memoryStore } from '@lamella/core'
 * import { whenStored } from '@lamella/store'
 *
 * const store = memoryStore()
 * const answer = whenStored(store, { channel: 'answers', read: () => store.get('answer') })
 * await store.set('answer', 42)
 * await store.signals!.send('answers', 'answer')
 * console.log(await answer) // 42
 * ```
 */
export async function whenStored<Value>(
  { signals }: Pick<KeyValueStore, 'signals'>,
  options: WhenStoredOptions<Value>,
): Promise<Value> {
  checkOptions('whenStored', options, {
    channel: 'string?',
    read: 'function?',
    pollMs: 1,
    signal: 'any',
    clock: 'any',
  })
  const { channel, read, pollMs = 500, signal, clock = systemClock } = options
  signal?.throwIfAborted()
  let hasNews = false
  let wake = new AbortController()
  const onNews = (): void => {
    hasNews = true
    wake.abort()
  }
  // Without notes, it works all the same, more slowly.
  const listening = signals?.listen(channel, onNews).catch(() => undefined)
  const stop = await listening
  const waitMs = stop === undefined ? pollMs : pollMs * 10
  signal?.addEventListener('abort', onNews)
  try {
    for (;;) {
      hasNews = false
      wake = new AbortController()
      const value = await read()
      if (value !== undefined) return value
      signal?.throwIfAborted()
      if (!hasNews) await clock.sleep(waitMs, wake.signal).catch(() => {})
      signal?.throwIfAborted()
    }
  } finally {
    signal?.removeEventListener('abort', onNews)
    await stop?.().catch(() => {})
  }
}
