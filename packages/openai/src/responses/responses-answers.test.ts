import type { ChatResponse, Content } from '@lamella/core'
import { foldUpdates } from '@lamella/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientRequest, collect } from '@lamella/testing'
import { answer, RawServer } from '@lamella/testing/raw-server'
import type { Recording } from '../../fixtures/responses-recording.ts'
import { responsesRecording, responsesSse } from '../../fixtures/responses-recording.ts'
import { withProviderIds } from '../../../../tests/provider-harness/provider-ids.ts'
import { OpenAIChatClient } from '../openai-chat-client.ts'

let server: RawServer
let client: OpenAIChatClient
beforeAll(async () => {
  server = await RawServer.start()
  client = new OpenAIChatClient({
    apiKey: 'test-key',
    baseURL: server.baseURL,
    model: 'gpt-5-mini',
  })
})
afterAll(() => server.stop())

const origin = { provider: 'openai', model: 'gpt-5-mini' }

const reasoning = {
  id: 'rs_1',
  type: 'reasoning',
  summary: [
    { type: 'summary_text', text: '**First** this.' },
    { type: 'summary_text', text: '**Then** that.' },
  ],
  encrypted_content: 'sealed',
}
const said = (text: string, more: object = {}) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
  ...more,
})
const call = (number: number, args: string) => ({
  id: `fc_${number}`,
  type: 'function_call',
  status: 'completed',
  call_id: `call_${number}`,
  name: 'get_weather',
  arguments: args,
})

const recordings: Readonly<Record<string, Recording>> = {
  text: responsesRecording([said('Grüße, 🌍! Two words.')]),
  'text in one piece': responsesRecording([said('Short.')], { size: 100 }),
  'reasoning, then text': responsesRecording([reasoning, said('42')]),
  'raw reasoning': responsesRecording([
    {
      id: 'rs_1',
      type: 'reasoning',
      summary: [],
      content: [{ type: 'reasoning_text', text: 'Hm, so.' }],
    },
    said('4'),
  ]),
  'sealed reasoning': responsesRecording([
    { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'sealed' },
    call(1, '{}'),
  ]),
  'parallel calls': responsesRecording([
    said('I look it up.'),
    call(1, '{"city":"Oslo"}'),
    call(2, '{"city":"Porto"}'),
  ]),
  'a free-text call': responsesRecording([
    { id: 'ctc_1', type: 'custom_tool_call', call_id: 'call_1', name: 'sql', input: 'SELECT 1' },
  ]),
  'two messages': responsesRecording([
    said('Let me see. ', { id: 'msg_1', phase: 'commentary' }),
    call(1, '{}'),
    said('Here it is.', { id: 'msg_2', phase: 'final_answer' }),
  ]),
  'a refusal': responsesRecording([
    said('', { content: [{ type: 'refusal', refusal: 'I cannot do that.' }] }),
  ]),
  citations: responsesRecording([
    {
      id: 'ws_1',
      type: 'web_search_call',
      status: 'completed',
      action: { type: 'search', query: 'rain' },
    },
    said('', {
      content: [
        {
          type: 'output_text',
          text: 'It rains.',
          annotations: [
            {
              type: 'url_citation',
              url: 'https://a.example/',
              title: 'A',
              start_index: 3,
              end_index: 8,
            },
            { type: 'file_citation', file_id: 'file-1', filename: 'b.pdf', index: 4 },
          ],
        },
      ],
    }),
  ]),
  'a generated image': responsesRecording([
    {
      id: 'ig_1',
      type: 'image_generation_call',
      status: 'completed',
      output_format: 'webp',
      result: 'AAAA',
    },
  ]),
  'an approval of a remote tool': responsesRecording([
    {
      id: 'mcpr_1',
      type: 'mcp_approval_request',
      name: 'shorten',
      arguments: '{"a":1}',
      server_label: 'zip',
    },
  ]),
  'cut by length': responsesRecording([said('Once upon')], {
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
  }),
  'cut by the filter': responsesRecording([said('Once')], {
    status: 'incomplete',
    incomplete_details: { reason: 'content_filter' },
  }),
}

async function whole({ whole: body }: Recording): Promise<ChatResponse> {
  server.handler = answer(body)
  return withProviderIds(await client.respond(clientRequest()))
}

async function streamed({ sse }: Recording, size = 0): Promise<ChatResponse> {
  server.handler = answer(sse, { size })
  return withProviderIds(foldUpdates(await collect(client.stream(clientRequest()))))
}

function contentsOf(response: ChatResponse): readonly Content[] {
  return response.messages.flatMap(({ contents }) => contents)
}

describe.each(Object.entries(recordings))('%s', (_name, recording) => {
  test('is the same streamed and whole', async () => {
    const { raw, ...plain } = await whole(recording)

    expect(await streamed(recording)).toEqual(plain)
    expect(raw).toEqual(recording.whole)
  })

  test('does not depend on how the bytes are split', async () => {
    const { raw: _, ...plain } = await whole(recording)

    expect(await streamed(recording, 1)).toEqual(plain)
  })
})

test('a partial image is discarded, and the final one is kept', async () => {
  const recording = recordings['a generated image']!
  const partial = responsesSse([
    {
      type: 'response.image_generation_call.partial_image',
      item_id: 'ig_1',
      output_index: 0,
      partial_image_index: 0,
      partial_image_b64: 'UEFSVElBTA==',
    },
  ])
  const done = recording.sse.indexOf('event: response.output_item.done')
  const sse = recording.sse.slice(0, done) + partial + recording.sse.slice(done)
  const { raw: _, ...plain } = await whole(recording)

  expect(done).toBeGreaterThan(0)
  expect(await streamed({ ...recording, sse })).toEqual(plain)
})

test('a response says all that is known of it', async () => {
  const response = await whole(recordings['text']!)

  expect(response).toMatchObject({
    id: 'resp_1',
    model: 'gpt-5-mini-2025-08-07',
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
    messages: [{ role: 'assistant', createdAt: '2026-01-01T00:00:00.000Z' }],
  })
  expect(response).not.toHaveProperty('conversationId')
})

test('a piece of text is one small object', async () => {
  server.handler = answer(recordings['text']!.sse)

  const updates = await collect(client.stream(clientRequest()))

  expect(updates[0]).toMatchObject({ contents: [], role: 'assistant', responseId: 'resp_1' })
  expect(updates[1]).toEqual({
    contents: [{ type: 'text', text: 'Grü', origin, providerData: { itemId: 'msg_1' } }],
    messageId: 'resp_1',
  })
  expect(updates[2]).toEqual({ contents: [{ type: 'text', text: 'ße,' }], messageId: 'resp_1' })
})

test('the parts of a thought stay apart, and what is sealed is on the last', async () => {
  const response = await whole(recordings['reasoning, then text']!)

  const providerData = { itemId: 'rs_1' }
  expect(contentsOf(response)).toEqual([
    {
      type: 'reasoning',
      kind: 'summary',
      id: 'rs_1',
      text: '**First** this.',
      origin,
      providerData,
    },
    {
      type: 'reasoning',
      kind: 'summary',
      id: 'rs_1#2',
      text: '**Then** that.',
      protected: 'sealed',
      origin,
      providerData,
    },
    { type: 'text', text: '42', origin, providerData: { itemId: 'msg_1', reasoningId: 'rs_1' } },
  ])
})

test('parallel calls have an index each, however their arguments are mixed', async () => {
  const added = (index: number) => ({
    type: 'response.output_item.added',
    output_index: index,
    item: { ...call(index, ''), status: 'in_progress' },
  })
  const delta = (index: number, piece: string) => ({
    type: 'response.function_call_arguments.delta',
    output_index: index,
    item_id: 'changes every time',
    delta: piece,
  })
  const done = responsesRecording([call(0, '{"a":1}'), call(1, '{"b":2}')]).whole
  server.handler = answer(
    responsesSse([
      added(0),
      added(1),
      delta(0, '{"a"'),
      delta(1, '{"b"'),
      delta(0, ':1}'),
      delta(1, ':2}'),
      { type: 'response.completed', response: done },
    ]),
  )

  const updates = await collect(client.stream(clientRequest()))

  const calls = updates.flatMap(({ contents }) => contents)
  expect(calls.map((content) => content.type === 'function-call' && content.index)).toEqual([
    0, 1, 0, 1, 0, 1,
  ])
  expect(withProviderIds(foldUpdates(updates))).toMatchObject({
    finishReason: 'tool-calls',
    functionCalls: [
      { callId: 'call_0', arguments: '{"a":1}' },
      { callId: 'call_1', arguments: '{"b":2}' },
    ],
  })
})

test.each([
  ['parallel calls', 'tool-calls'],
  ['a refusal', 'refusal'],
  ['cut by length', 'length'],
  ['cut by the filter', 'content-filter'],
])('%s ends with `%s`', async (name, reason) => {
  expect((await streamed(recordings[name]!)).finishReason).toBe(reason)
})

test('a second message of a response is a message of its own', async () => {
  const { messages, text } = await whole(recordings['two messages']!)

  expect(text).toBe('Let me see. Here it is.')
  expect(messages.map(({ id, contents }) => [id, contents.map(({ type }) => type)])).toEqual([
    ['resp_1', ['text', 'function-call']],
    ['msg_2', ['text']],
  ])
  expect(messages.map((message) => message.origin)).toEqual([origin, origin])
  expect(messages[1]!.contents[0]!.providerData).toEqual({ itemId: 'msg_2', phase: 'final_answer' })
})

test('citations are annotations with their places in the text', async () => {
  const [search, text] = contentsOf(await whole(recordings['citations']!))

  expect(search).toEqual({
    type: 'hosted',
    name: 'web_search',
    id: 'ws_1',
    data: {
      id: 'ws_1',
      type: 'web_search_call',
      status: 'completed',
      action: { type: 'search', query: 'rain' },
    },
    origin,
  })
  expect(text!.annotations).toEqual([
    { type: 'url_citation', uri: 'https://a.example/', title: 'A', start: 3, end: 8 },
    { type: 'file_citation', title: 'b.pdf', start: 4, metadata: { file_id: 'file-1' } },
  ])
})

test('what a hosted tool is doing is shown before it has done it', async () => {
  server.handler = answer(recordings['citations']!.sse)

  const updates = await collect(client.stream(clientRequest()))

  const states = updates.flatMap(({ contents }) =>
    contents.flatMap((content) =>
      content.type === 'hosted' ? [(content.data as { status: string }).status] : [],
    ),
  )
  expect(states).toEqual(['in_progress', 'completed'])
})

test('a generated image is data, an approval of a remote tool a hosted request', async () => {
  expect(contentsOf(await whole(recordings['a generated image']!))).toMatchObject([
    { type: 'data', mediaType: 'image/webp', data: 'AAAA' },
  ])
  expect(contentsOf(await whole(recordings['an approval of a remote tool']!))).toMatchObject([
    {
      type: 'approval-request',
      id: 'mcpr_1',
      hosted: true,
      call: { name: 'shorten', arguments: '{"a":1}', informational: true },
    },
  ])
})

test('a free-text call is told from one with JSON', async () => {
  const { functionCalls } = await whole(recordings['a free-text call']!)

  expect(functionCalls).toEqual([
    {
      type: 'function-call',
      callId: 'call_1',
      name: 'sql',
      arguments: 'SELECT 1',
      origin,
      providerData: { callId: 'call_1', itemId: 'ctc_1', type: 'custom' },
    },
  ])
})

test('a response that only its last event holds is complete all the same', async () => {
  const { whole: body } = recordings['parallel calls']!
  server.handler = answer(responsesSse([{ type: 'response.completed', response: body }]))

  const response = foldUpdates(await collect(client.stream(clientRequest())))

  expect(response.text).toBe('I look it up.')
  expect(response.functionCalls).toHaveLength(2)
})

test('a response in the background has no end yet', async () => {
  const response = await whole(responsesRecording([], { status: 'in_progress', usage: null }))

  expect(response.finishReason).toBeUndefined()
  expect(response.metadata).toMatchObject({ status: 'in_progress' })
})

test('an answer in a conversation that OpenAI keeps names it', async () => {
  const { whole: body } = recordings['text']!
  server.handler = answer(body)
  const ask = (conversation: string) =>
    client.respond(clientRequest('Hi', { providerOptions: { openai: { conversation } } }))

  expect(await ask('conv_1')).toMatchObject({ conversationId: 'conv_1' })
  expect(await ask('resp_0')).not.toHaveProperty('conversationId')
})

type Wire = Readonly<Record<string, unknown>>

describe('items that a server names in its own way', () => {
  const start = { type: 'response.created', response: { id: 'resp_1', status: 'in_progress' } }
  const end = (...output: readonly object[]): Wire => ({
    type: 'response.completed',
    response: { id: 'resp_1', status: 'completed', output },
  })
  const pay = (number: number, more: object = {}) => ({
    type: 'function_call',
    id: `fc_${number}`,
    call_id: `call_${number}`,
    name: 'pay',
    arguments: `{"n":${number}}`,
    ...more,
  })
  const say = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'I pay.' }],
  }
  const at = (index: number, item: Readonly<Record<string, unknown>>, ids = '') => {
    const id = `${String(item['id'])}${ids}`
    const isMessage = item['type'] === 'message'
    const begun = isMessage ? { ...item, content: [] } : { ...item, arguments: '' }
    const piece = isMessage
      ? { type: 'response.output_text.delta', content_index: 0, delta: 'I pay.' }
      : { type: 'response.function_call_arguments.delta', delta: item['arguments'] }
    return [
      { type: 'response.output_item.added', output_index: index, item: begun },
      { ...piece, output_index: index, item_id: id },
      {
        type: 'response.output_item.done',
        output_index: index,
        item: { ...item, id: `${id}${ids}` },
      },
    ]
  }
  const read = async (...events: readonly Wire[]): Promise<unknown> => {
    const { text, functionCalls } = await streamed({ sse: responsesSse(events) } as Recording)
    return [text, functionCalls.map((made) => `${made.callId} ${made.arguments}`)]
  }

  test.each([
    ['a text, then a call', [say, pay(1)], ['I pay.', ['call_1 {"n":1}']]],
    ['a call, then a text', [pay(1), say], ['I pay.', ['call_1 {"n":1}']]],
    ['two calls', [pay(1), pay(2)], ['', ['call_1 {"n":1}', 'call_2 {"n":2}']]],
    [
      'two calls with one id of a call',
      [pay(1), pay(2, { call_id: 'call_1' })],
      ['', ['call_1 {"n":1}', 'call_1 {"n":2}']],
    ],
  ])('at one index: %s', async (_, items, expected) => {
    const events = items.flatMap((item) => at(0, item))

    expect(await read(start, ...events, end(...items))).toEqual(expected)
  })

  test('with ids that change from event to event', async () => {
    const items = [say, pay(1), pay(2)]
    const events = items.flatMap((item, index) => at(index, item, '-x'))

    expect(await read(start, ...events, end(...items))).toEqual([
      'I pay.',
      ['call_1 {"n":1}', 'call_2 {"n":2}'],
    ])
  })

  test.each([
    ['an object, whole', [end(pay(1, { arguments: { n: 1 } }))]],
    ['an object, in each event', [...at(0, pay(1, { arguments: { n: 1 } })), end()]],
    [
      'all of them in each event',
      [
        { type: 'response.output_item.added', output_index: 0, item: pay(1) },
        {
          type: 'response.function_call_arguments.delta',
          output_index: 0,
          item_id: 'fc_1',
          delta: '{"n":1}',
        },
        {
          type: 'response.function_call_arguments.done',
          output_index: 0,
          item_id: 'fc_1',
          arguments: '{"n":1}',
        },
        end(pay(1)),
      ],
    ],
    [
      '`{}` at first',
      [
        { type: 'response.output_item.added', output_index: 0, item: pay(1, { arguments: '{}' }) },
        {
          type: 'response.function_call_arguments.delta',
          output_index: 0,
          item_id: 'fc_1',
          delta: '{"n":1}',
        },
        end(pay(1)),
      ],
    ],
    [
      'only in the event that ends them',
      [
        { type: 'response.output_item.added', output_index: 0, item: pay(1, { arguments: '' }) },
        {
          type: 'response.function_call_arguments.done',
          output_index: 0,
          item_id: 'fc_1',
          arguments: '{"n":1}',
        },
        end(),
      ],
    ],
  ])('arguments as %s', async (_, events) => {
    expect(await read(start, ...events)).toEqual(['', ['call_1 {"n":1}']])
  })

  test.each([
    [
      'only in `output_text.done`',
      [
        { type: 'response.output_text.done', output_index: 0, item_id: 'msg_1', text: 'I pay.' },
        end(),
      ],
    ],
    [
      'more of it in `output_text.done`',
      [
        { type: 'response.output_text.delta', output_index: 0, item_id: 'msg_1', delta: 'I' },
        { type: 'response.output_text.done', output_index: 0, item_id: 'msg_1', text: 'I pay.' },
        end(),
      ],
    ],
    ['as a string', [end({ ...say, content: 'I pay.' })]],
  ])('a text that comes %s', async (_, events) => {
    expect(await read(start, ...events)).toEqual(['I pay.', []])
  })

  test('a chat completion is a failure that names the other client', async () => {
    const completion = { id: 'c1', choices: [{ index: 0, message: { content: 'Hi.' } }] }
    server.handler = answer(completion)
    const plain = client.respond(clientRequest())
    await expect(plain).rejects.toThrow(/chat completion.*OpenAIChatCompletionsClient/)

    const chunk = { id: 'c1', choices: [{ index: 0, delta: { content: 'Hi.' } }] }
    await expect(read(chunk)).rejects.toThrow(/OpenAIChatCompletionsClient/)
  })
})
