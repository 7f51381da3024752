import { expect, test } from 'vitest'
import { tooFast } from '../../../../tests/support/growth-of-exports.ts'
import { providerWords } from './provider-words.ts'

test('the work of cleaning an error grows with the conversation', async () => {
  const error = 'Something about 17 17 17 17 17 17 17 went wrong. '.repeat(10)
  const clean = (conversation: string) =>
    providerWords(error, { keys: () => [], texts: () => [conversation] })

  expect(await tooFast(clean, ['17 ', 'a', ' '])).toEqual([])
})
