import { expect, test } from 'vitest'
import { ResponseStream } from '@lamella/core'
import type { ClientContent } from './client-updates.ts'
import { clientOutcome, clientUpdate } from './client-updates.ts'
import { toSSE } from './to-sse.ts'

const sent = (updates: readonly object[]): Promise<string> =>
  new Response(toSSE(ResponseStream.from(updates), { include: ['tool-results'] })).text()

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

const shown = (update: object, ...include: ClientContent[]) =>
  clientUpdate(update, new Set(include))

test('a client gets of each content what it knows, and what the application includes', () => {
  const annotations = [{ title: 'A page' }]
  const contents = [
    { type: 'text', text: 'Hello', annotations, providerData: 'internal' },
    { type: 'reasoning', text: 'Hm', annotations },
    { type: 'invented', text: 'a secret' },
    { type: 'constructor', text: 'a secret' },
  ]
  const update = { contents, usage: { totalTokens: 3 } }

  expect(shown(update)).toEqual({ contents: [{ type: 'text', text: 'Hello' }] })
  expect(shown(update, 'annotations', 'reasoning', 'usage')).toEqual({
    contents: [
      { type: 'text', text: 'Hello', annotations },
      { type: 'reasoning', text: 'Hm' },
    ],
    usage: { totalTokens: 3 },
  })
})

test('a client gets of a result what it may read, and of one that failed the code', () => {
  const result = (more: object) =>
    shown(
      { contents: [{ type: 'function-result', callId: 'c1', name: 'find', ...more }] },
      'tool-results',
    )?.contents
  const own = { type: 'function-result', callId: 'c1', name: 'find' }
  const contents = [{ type: 'text', text: 'Found.' }, { type: 'invented' }]

  expect(result({ contents })).toEqual([{ ...own, contents: [{ type: 'text', text: 'Found.' }] }])
  expect(result({})).toEqual([{ ...own, contents: [] }])
  expect(result({ contents, error: { code: 'tool_failed', message: 'a secret' } })).toEqual([
    { ...own, contents: [], error: { code: 'tool_failed' } },
  ])
})

test('a message of tools ends what was said before, even if the client may not read it', () => {
  const result = { type: 'function-result', callId: 'c1' }

  expect(shown({ role: 'tool', contents: [result] })).toEqual({ role: 'tool', contents: [] })
  expect(shown({ role: 'tool', contents: [] })).toBeUndefined()
})

test('a client learns how a run ended, whatever the final value is', () => {
  const call = { callId: 'c1', name: 'pay', arguments: '{}', providerData: 'internal' }
  const pending = [
    { id: 'r1', kind: 'approval', request: { call, reason: 'a secret' } },
    { id: 'r2', kind: 'function-call', call },
    { id: 'r3', kind: 'interrupt', payload: 'a secret' },
  ]
  const { providerData: _, ...known } = call

  expect(clientOutcome(undefined)).toEqual({ status: 'completed' })
  expect(clientOutcome({ status: 'paused' })).toEqual({ status: 'paused', pending: [] })
  expect(clientOutcome({ status: 'paused', pending })).toEqual({
    status: 'paused',
    pending: [
      { id: 'r1', kind: 'approval', ...known },
      { id: 'r2', kind: 'function-call', ...known },
      { id: 'r3', kind: 'interrupt' },
    ],
  })
})
