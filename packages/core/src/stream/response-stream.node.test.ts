import { expect, it } from 'vitest'
import { ResponseStream } from '../index.ts'

it('a stream that cannot be made and that nobody reads is no unhandled rejection', async () => {
  const unhandled: unknown[] = []
  const note = (error: unknown) => void unhandled.push(error)
  process.on('unhandledRejection', note)

  ResponseStream.fromAwaitable(Promise.reject(new Error('no stream')))
  await new Promise((resolve) => setTimeout(resolve))
  process.off('unhandledRejection', note)

  expect(unhandled).toEqual([])
})
