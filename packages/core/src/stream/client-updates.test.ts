import { expect, test } from 'vitest'
import { ResponseStream } from '../index.ts'

const sent = (updates: readonly object[]): Promise<string> =>
  new Response(ResponseStream.from(updates).toSSE({ include: ['tool-results'] })).text()

test('a client never gets what a tool message holds besides results', async () => {
  const text = await sent([
    { role: 'tool', contents: [{ type: 'text', text: 'a secret' }] },
    {
      role: 'tool',
      contents: [{ type: 'function-result', callId: 'c1', name: 'find', contents: [] }],
    },
    { contents: [{ type: 'text', text: 'Hello.' }] },
  ])

  expect(text).not.toContain('a secret')
  expect(text).toContain('find')
  expect(text).toContain('Hello.')
})

test('what is no update is not sent', async () => {
  const text = await sent([{}, { contents: 'a text' }, { contents: [null, 1] }])

  expect(text.match(/^event: (.*)$/gm)).toEqual(['event: done'])
})
