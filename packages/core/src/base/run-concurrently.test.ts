import { expect, test, vi } from 'vitest'
import { runConcurrently } from './run-concurrently.ts'

test('work that is done leaves no listener on the signal around it', async () => {
  const { signal } = new AbortController()
  const added = vi.spyOn(signal, 'addEventListener')
  const removed = vi.spyOn(signal, 'removeEventListener')

  await runConcurrently([{ exclusive: false, start: () => Promise.resolve() }], 2, signal)

  expect(added).toHaveBeenCalledTimes(1)
  expect(removed).toHaveBeenCalledExactlyOnceWith('abort', added.mock.calls[0]![1])
})
