import type { ChatResponse, Content } from '@lamella/core'
import { foldUpdates } from '@lamella/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientRequest, collect } from '@lamella/testing'
import { completionsRecording, completionsSse } from '../../fixtures/completions-recording.ts'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { providerId, withProviderIds } from '../../../../tests/provider-harness/provider-ids.ts'
import type { Recording } from '../../fixtures/responses-recording.ts'
import { OpenAIChatCompletionsClient } from '../openai-chat-completions-client.ts'

let server: RawServer
let client: OpenAIChatCompletionsClient
beforeAll(async () => {
  server = await RawServer.start()
  client = new OpenAIChatCompletionsClient({
    apiKey: 'test-key',
    baseURL: server.baseURL,
    model: 'm',
  })
})
afterAll(() => server.stop())

const origin = { provider: 'openai', model: 'm' }
const call = (number: number, args: string, more: object = {}) => ({
  id: `call_${number}`,
  type: 'function',
  function: { name: 'get_weather', arguments: args },
  ...more,
})

const recordings: Readonly<Record<string, Recording>> = {
  text: completionsRecording({ content: 'Grüße, 🌍! Two words.' }),
  'parallel calls': completionsRecording(
    { content: null, tool_calls: [call(1, '{"city":"Oslo"}'), call(2, '{"city":"Porto"}')] },
    { finish: 'tool_calls' },
  ),
  'text and a call': completionsRecording(
    { content: 'I look.', tool_calls: [call(1, '{}')] },
    { finish: 'tool_calls' },
  ),
  'a forced call': completionsRecording(
    { content: null, tool_calls: [call(1, '{}')] },
    { finish: 'stop' },
  ),
  'a signed call': completionsRecording(
    { tool_calls: [call(1, '{}', { extra_content: { google: { thought_signature: 'sig' } } })] },
    { finish: 'tool_calls' },
  ),
  'a refusal': completionsRecording({ content: null, refusal: 'I cannot do that.' }),
  'thinking of DeepSeek': completionsRecording({ reasoning_content: 'Hm, so.', content: '42' }),
  'thinking of Groq': completionsRecording({ reasoning: 'Hm, so.', content: '42' }),
  'cut by length': completionsRecording({ content: 'Once upon' }, { finish: 'length' }),
  'cut by the filter': completionsRecording({ content: 'Once' }, { finish: 'content_filter' }),
  citations: completionsRecording({
    content: 'It rains.',
    annotations: [
      {
        type: 'url_citation',
        url_citation: { url: 'https://a.example/', title: 'A', start_index: 3, end_index: 8 },
      },
    ],
  }),
}

async function whole({ whole: body }: Pick<Recording, 'whole'>): Promise<ChatResponse> {
  server.handler = answer(body)
  return client.respond(clientRequest())
}

async function streamed(sse: string, size = 0): Promise<ChatResponse> {
  server.handler = answer(sse, { size })
  return foldUpdates(await collect(client.stream(clientRequest())))
}

function contentsOf(response: ChatResponse): readonly Content[] {
  return response.messages.flatMap(({ contents }) => contents)
}

describe.each(Object.entries(recordings))('%s', (_name, recording) => {
  test('is the same streamed and whole', async () => {
    const { raw, ...plain } = withProviderIds(await whole(recording))

    expect(withProviderIds(await streamed(recording.sse))).toEqual(plain)
    expect(raw).toEqual(recording.whole)
  })

  test('does not depend on how the bytes are split', async () => {
    const { raw: _, ...plain } = withProviderIds(await whole(recording))

    expect(withProviderIds(await streamed(recording.sse, 1))).toEqual(plain)
  })
})

test.each([
  [1_767_225_600, '2026-01-01T00:00:00.000Z'],
  [1_767_225_600_000, '2026-01-01T00:00:00.000Z'],
  [0, undefined],
  [1e20, undefined],
  ['yesterday', undefined],
])('a completion of the time %j was made at %s', async (created, createdAt) => {
  const response = await whole(completionsRecording({ content: 'Hi.' }, { created }))

  expect(response.messages[0]!.createdAt).toBe(createdAt)
})

test('a completion says all that is known of it', async () => {
  expect(await whole(recordings['text']!)).toMatchObject({
    id: 'chatcmpl-1',
    model: 'gpt-4.1-mini-2025-04-14',
    text: 'Grüße, 🌍! Two words.',
    finishReason: 'stop',
    usage: {
      inputTokens: 20,
      outputTokens: 12,
      totalTokens: 32,
      cachedInputTokens: 8,
      cacheWriteTokens: 4,
      reasoningTokens: 6,
    },
    metadata: { serviceTier: 'default' },
    messages: [{ id: 'chatcmpl-1', role: 'assistant', createdAt: '2026-01-01T00:00:00.000Z' }],
  })
})

test('a piece of text is one small object', async () => {
  server.handler = answer(recordings['text']!.sse)

  const updates = await collect(client.stream(clientRequest()))

  expect(updates[1]).toEqual({
    contents: [{ type: 'text', text: 'Grü', origin }],
    messageId: 'chatcmpl-1',
  })
  expect(updates[2]).toEqual({ contents: [{ type: 'text', text: 'ße,' }], messageId: 'chatcmpl-1' })
})

test.each([
  ['parallel calls', 'tool-calls'],
  ['a forced call', 'tool-calls'],
  ['a refusal', 'refusal'],
  ['cut by length', 'length'],
  ['cut by the filter', 'content-filter'],
])('%s ends with `%s`', async (name, reason) => {
  expect((await streamed(recordings[name]!.sse)).finishReason).toBe(reason)
})

test('thinking says in which field it has to go back', async () => {
  const [thought] = contentsOf(await whole(recordings['thinking of DeepSeek']!))

  expect(thought).toMatchObject({
    type: 'reasoning',
    kind: 'raw',
    text: 'Hm, so.',
    origin,
    providerData: { field: 'reasoning_content' },
  })
})

test('signed thinking of OpenRouter is put together from its pieces', async () => {
  const chunk = (delta: object, finish: string | null = null) => ({
    id: 'gen-1',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  const piece = (text: string, more: object = {}) => ({
    reasoning: text,
    reasoning_details: [{ type: 'reasoning.text', index: 0, text, ...more }],
  })

  const response = await streamed(
    completionsSse([
      chunk(piece('Hm, ')),
      chunk(piece('so.')),
      chunk({ reasoning_details: [{ type: 'reasoning.text', index: 0, signature: 'sig' }] }),
      chunk({ content: '42' }),
      chunk({}, 'stop'),
    ]),
  )

  const details = [{ type: 'reasoning.text', index: 0, text: 'Hm, so.', signature: 'sig' }]
  expect(contentsOf(response)).toMatchObject([
    { type: 'reasoning', text: 'Hm, so.', providerData: { field: 'reasoning_details', details } },
    { type: 'text', text: '42' },
  ])
})

test.each([
  ['`[DONE]`', completionsSse([{ choices: [{ index: 0, delta: { content: 'A' } }] }])],
  [
    'the count of usage',
    completionsSse([
      { id: '', choices: [{ index: 0, delta: { content: 'A' }, finish_reason: '' }] },
      { id: '', choices: [], usage: { prompt_tokens: 1 } },
    ]).replace('data: [DONE]\n\n', ''),
  ],
])('a server that gives no reason ends with %s', async (_, sse) => {
  const response = await streamed(sse)

  expect(response).toMatchObject({ text: 'A' })
  expect(response.finishReason).toBeUndefined()
})

test('parallel calls with the same index are told apart by their ids', async () => {
  const chunk = (calls: object[], finish: string | null = null) => ({
    id: 'x',
    choices: [{ index: 0, delta: { tool_calls: calls }, finish_reason: finish }],
  })

  const { functionCalls } = await streamed(
    completionsSse([
      chunk([{ index: 0, ...call(1, '{"a":1}') }]),
      chunk([{ index: 0, ...call(2, '{"b":2}') }], 'tool_calls'),
    ]),
  )

  expect(functionCalls.map((each) => [providerId(each), each.arguments])).toEqual([
    ['call_1', '{"a":1}'],
    ['call_2', '{"b":2}'],
  ])
})

test('a call without an id gets one, and keeps it', async () => {
  const chunk = (calls: object[], finish: string | null = null) => ({
    choices: [{ index: 0, delta: { tool_calls: calls }, finish_reason: finish }],
  })

  const { functionCalls } = await streamed(
    completionsSse([
      chunk([{ index: 0, function: { name: 'now', arguments: '{"a"' } }]),
      chunk([{ index: 0, function: { arguments: ':1}' } }], 'tool_calls'),
    ]),
  )

  expect(functionCalls).toEqual([expect.objectContaining({ name: 'now', arguments: '{"a":1}' })])
  expect(functionCalls[0]!.callId).toMatch(/^call_./)
})

test('of several choices the first is read', async () => {
  const chunk = (index: number, content: string) => ({
    id: 'x',
    choices: [{ index, delta: { content }, finish_reason: null }],
  })
  const end = { id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }

  const { text } = await streamed(
    completionsSse([chunk(1, 'B'), chunk(0, 'A'), chunk(1, 'B'), end]),
  )

  expect(text).toBe('A')
})

test('parts of an answer, thinking among them, are read one by one', async () => {
  const content = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
    { type: 'text', text: '42' },
  ]

  const response = await whole(completionsRecording({ content }))

  expect(contentsOf(response)).toMatchObject([
    { type: 'reasoning', text: 'Hm.' },
    { type: 'text', text: '42' },
  ])
})

test('citations beside the answer are annotations of it', async () => {
  const response = await whole(
    completionsRecording({ content: 'It rains.' }, { citations: ['https://a.example/'] }),
  )

  expect(contentsOf(response)).toMatchObject([
    { text: 'It rains.', annotations: [{ type: 'url_citation', uri: 'https://a.example/' }] },
  ])
})

test('a spoken answer is data in the format that was asked for', async () => {
  server.handler = answer(
    completionsRecording({
      content: null,
      audio: { id: 'audio_1', data: 'AAAA', transcript: 'Hi.' },
    }).whole,
  )
  const extraBody = { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'mp3' } }

  const response = await client.respond(
    clientRequest('Say hi', { providerOptions: { openai: { extraBody } } }),
  )

  expect(contentsOf(response)).toMatchObject([
    { type: 'data', mediaType: 'audio/mp3', data: 'AAAA', metadata: { transcript: 'Hi.' } },
  ])
})

test('usage that is told early and withdrawn later is kept', async () => {
  const end = (usage: unknown) => ({ id: 'x', choices: [], usage })
  const said = { id: 'x', choices: [{ index: 0, delta: { content: 'A' }, finish_reason: 'stop' }] }

  const { usage } = await streamed(completionsSse([said, end({ prompt_tokens: 3 }), end(null)]))

  expect(usage).toEqual({ inputTokens: 3 })
})
