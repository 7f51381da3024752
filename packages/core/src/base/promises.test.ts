import { expect, test } from 'vitest'
import { unlessAborted } from './promises.ts'

const never = new Promise<never>(() => {})

test('work that settles is given as it is', async () => {
  const { signal } = new AbortController()

  await expect(unlessAborted(signal, Promise.resolve(1))).resolves.toBe(1)
  await expect(unlessAborted(signal, Promise.reject(new Error('no')))).rejects.toThrow('no')
})

test('an abort ends the wait with its reason, before or while it lasts', async () => {
  const own = new AbortController()
  const reason = new Error('enough')
  const waiting = unlessAborted(own.signal, never)
  own.abort(reason)

  await expect(waiting).rejects.toBe(reason)
  await expect(unlessAborted(own.signal, never)).rejects.toBe(reason)
})
