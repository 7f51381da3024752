import { expect, it } from 'vitest'
import { systemClock } from '../base/timers.ts'
import { withinStoreTime } from './store-time-limit.ts'

it.each([60_000, Infinity])('an abort ends a wait of at most %s ms', async (timeoutMs) => {
  const aborting = new AbortController()
  const limit = { clock: systemClock, timeoutMs, signal: aborting.signal }
  const waiting = withinStoreTime(new Promise<never>(() => {}), limit)

  aborting.abort(new Error('enough'))

  await expect(waiting).rejects.toThrow('enough')
})

it('a value that is there needs no wait', async () => {
  expect(await withinStoreTime('kept', { clock: systemClock, timeoutMs: 1000 })).toBe('kept')
})
