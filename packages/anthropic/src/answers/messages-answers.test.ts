import type { ChatResponse } from '@lamella/core'
import { foldUpdates } from '@lamella/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientRequest, collect } from '@lamella/testing'
import type { Recording } from '../../fixtures/messages-recording.ts'
import { withProviderIds } from '../../../../tests/provider-harness/provider-ids.ts'
import { messagesRecording, messagesSse } from '../../fixtures/messages-recording.ts'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { AnthropicChatClient } from '../anthropic-chat-client.ts'

let server: RawServer
let client: AnthropicChatClient
beforeAll(async () => {
  server = await RawServer.start()
  client = new AnthropicChatClient({ apiKey: 'k', baseURL: server.url, model: 'claude-sonnet-5-5' })
})
afterAll(() => server.stop())

/** The answer, after it was seen that the stream of it folds to the same, whatever its pieces. */
async function both({ whole, sse }: Recording): Promise<ChatResponse> {
  server.handler = answer(whole)
  const { raw, ...response } = withProviderIds(await client.respond(clientRequest()))
  expect(raw).toEqual(whole)
  for (const size of [0, 1, 7]) {
    server.handler = answer(sse, { size })
    expect(await streamed()).toEqual(response)
  }
  return response
}

async function streamed(): Promise<ChatResponse> {
  return withProviderIds(foldUpdates(await collect(client.stream(clientRequest()))))
}

const origin = { provider: 'anthropic', model: 'claude-sonnet-5-5' }
const say = (text: string, citations: unknown = null): object => ({ type: 'text', text, citations })
const use = (id: string, name: string, input: object): object => ({
  type: 'tool_use',
  id,
  name,
  input,
})

describe('an answer, whole and streamed byte by byte', () => {
  test('is a text with what is known of it', async () => {
    const response = await both(messagesRecording([say('Grüße 🌍, all of you.') as never]))

    expect(response).toMatchObject({
      id: 'msg_1',
      model: 'claude-sonnet-5-5',
      text: 'Grüße 🌍, all of you.',
      finishReason: 'stop',
      metadata: { serviceTier: 'standard' },
      messages: [{ id: 'msg_1', role: 'assistant', origin, contents: [{ type: 'text', origin }] }],
    })
    expect(response.usage).toEqual({
      inputTokens: 20,
      outputTokens: 12,
      totalTokens: 32,
      cachedInputTokens: 8,
      cacheWriteTokens: 4,
      reasoningTokens: 6,
    })
  })

  test('has calls side by side, the empty input as an empty object', async () => {
    const blocks = [
      say('I look.'),
      use('toolu_a', 'weather', { city: 'Rome', days: [1, 2] }),
      use('toolu_b', 'clock', {}),
    ]

    const { functionCalls, finishReason } = await both(
      messagesRecording(blocks as never, { stop: 'tool_use' }),
    )

    expect(finishReason).toBe('tool-calls')
    expect(functionCalls.map((call) => [call.callId, call.name, call.arguments])).toEqual([
      ['toolu_a', 'weather', '{"city":"Rome","days":[1,2]}'],
      ['toolu_b', 'clock', '{}'],
    ])
  })

  test('keeps calls apart whose pieces alternate', async () => {
    const blocks = [
      use('toolu_a', 'weather', { city: 'Rome' }),
      use('toolu_b', 'weather', { city: 'Bari' }),
    ]

    const { functionCalls } = await both(
      messagesRecording(blocks as never, { stop: 'tool_use', isInterleaved: true }),
    )

    expect(functionCalls.map((call) => call.arguments)).toEqual([
      '{"city":"Rome"}',
      '{"city":"Bari"}',
    ])
  })

  test('is the same whichever way its blocks alternate', async () => {
    const blocks = [
      { type: 'thinking', thinking: 'First this.', signature: 'sig-1' },
      say('One, two, three, four, five.', [{ type: 'char_location', cited_text: 'x' }]),
      use('toolu_a', 'weather', { city: 'Rome' }),
      { type: 'redacted_thinking', data: 'sealed' },
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'rain' } },
      say('Six.', [{ type: 'char_location', cited_text: 'y' }]),
      use('toolu_b', 'weather', { city: 'Bari' }),
    ]
    const inTurn = await both(messagesRecording(blocks as never, { stop: 'tool_use' }))

    const alternated = await both(
      messagesRecording(blocks as never, { stop: 'tool_use', isInterleaved: true }),
    )

    expect(alternated).toEqual(inTurn)
    expect(alternated.messages[0]!.contents).toHaveLength(7)
  })

  test('keeps thoughts apart, each with its seal', async () => {
    const blocks = [
      { type: 'thinking', thinking: 'First this.', signature: 'sig-1' },
      { type: 'thinking', thinking: '', signature: 'sig-2' },
      { type: 'redacted_thinking', data: 'sealed' },
      say('So.'),
    ]

    const { messages } = await both(messagesRecording(blocks as never))

    expect(messages[0]!.contents).toMatchObject([
      { type: 'reasoning', text: 'First this.', protected: 'sig-1', origin },
      { type: 'reasoning', text: '', protected: 'sig-2', origin },
      {
        type: 'reasoning',
        text: '',
        protected: 'sealed',
        providerData: { type: 'redacted_thinking' },
      },
      { type: 'text', text: 'So.' },
    ])
  })

  test('has citations as marks on the text that they support', async () => {
    const web = {
      type: 'web_search_result_location',
      url: 'https://a.example',
      title: 'A',
      cited_text: 'Rain.',
      encrypted_index: 'x',
    }
    const page = {
      type: 'page_location',
      cited_text: 'Sun.',
      document_index: 0,
      document_title: 'B',
      start_page_number: 1,
      end_page_number: 2,
      file_id: null,
    }
    const blocks = [say('They say '), say('rain', [web]), say(' or '), say('sun', [page])]

    const { text, messages } = await both(messagesRecording(blocks as never))

    const [content] = messages[0]!.contents
    expect(messages[0]!.contents).toHaveLength(1)
    expect(content!.annotations).toEqual([
      {
        type: 'web_search_result_location',
        uri: 'https://a.example',
        title: 'A',
        start: 9,
        end: 13,
        metadata: { cited_text: 'Rain.', encrypted_index: 'x' },
      },
      {
        type: 'page_location',
        title: 'B',
        start: 17,
        end: 20,
        metadata: {
          cited_text: 'Sun.',
          document_index: 0,
          start_page_number: 1,
          end_page_number: 2,
        },
      },
    ])
    expect(content!.annotations!.map(({ start, end }) => text.slice(start, end))).toEqual([
      'rain',
      'sun',
    ])
  })

  test('shows what hosted tools did, and never as a call', async () => {
    const asked = {
      type: 'server_tool_use',
      id: 'srvtoolu_1',
      name: 'web_search',
      input: { query: 'rain' },
    }
    const found = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }
    const remote = {
      type: 'mcp_tool_use',
      id: 'mcptoolu_1',
      name: 'echo',
      input: {},
      server_name: 's',
    }
    const echo = {
      type: 'mcp_tool_result',
      tool_use_id: 'mcptoolu_1',
      content: [],
      is_error: false,
    }
    const unknown = { type: 'crystal_ball', vision: 'fog' }

    const { messages, functionCalls } = await both(
      messagesRecording([asked, found, remote, echo, unknown]),
    )

    expect(functionCalls).toEqual([])
    expect(messages[0]!.contents).toEqual([
      { type: 'hosted', name: 'web_search', id: 'srvtoolu_1', data: asked, origin },
      { type: 'hosted', name: 'web_search', data: found, origin },
      { type: 'hosted', name: 'echo', id: 'mcptoolu_1', data: remote, origin },
      { type: 'hosted', name: 'echo', data: echo, origin },
      { type: 'hosted', name: 'crystal_ball', data: unknown, origin },
    ])
  })

  test('that refuses says why', async () => {
    const details = { type: 'refusal', category: 'cyber', explanation: 'Not this.' }

    const response = await both(messagesRecording([], { stop: 'refusal', stop_details: details }))

    expect(response).toMatchObject({
      finishReason: 'refusal',
      text: '',
      metadata: { stopDetails: details },
      messages: [{ contents: [{ type: 'refusal', text: 'Not this.' }] }],
    })
  })

  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['pause_turn', 'pause_turn'],
    ['something_new', 'something_new'],
  ])('that ends with %s is told as %s', async (stop, finishReason) => {
    const recording = messagesRecording([say('So.') as never], {
      stop,
      stop_sequence: stop === 'stop_sequence' ? 'END' : null,
    })

    const response = await both(recording)

    expect(response.finishReason).toBe(finishReason)
    expect(response.metadata['stopSequence']).toBe(stop === 'stop_sequence' ? 'END' : undefined)
  })
})

test('what code calls tools with comes in the first event', async () => {
  const caller = { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' }
  const container = { id: 'container_1', expires_at: '2026-11-21T16:00:00Z', skills: null }
  const message = {
    id: 'msg_1',
    content: [{ ...use('toolu_a', 'roll', { die: 1 }), caller }],
    container,
    stop_reason: 'tool_use',
    usage: { input_tokens: 0, output_tokens: 0 },
  }
  server.handler = answer(
    messagesSse([{ type: 'message_start', message }, { type: 'message_stop' }]),
  )

  const response = foldUpdates(await collect(client.stream(clientRequest())))

  expect(response).toMatchObject({
    finishReason: 'tool-calls',
    functionCalls: [{ arguments: '{"die":1}', providerData: { callId: 'toolu_a', caller } }],
    metadata: { container },
  })
})

test('a second answer spliced into the stream of a broken one replaces it', async () => {
  const thought = { type: 'thinking', thinking: 'Hm.', signature: 'sig-1' }
  const broken = messagesRecording([thought, use('toolu_a', 'pay', { amount: 100 }) as never])
  const whole = messagesRecording(
    [{ ...thought, signature: 'sig-2' }, use('toolu_b', 'pay', { amount: 5 }) as never],
    { id: 'msg_2', stop: 'tool_use' },
  )
  const cut = broken.sse.slice(0, broken.sse.lastIndexOf('event: content_block_delta'))
  server.handler = answer(whole.whole)
  const { raw: _, ...expected } = withProviderIds(await client.respond(clientRequest()))
  server.handler = answer(cut + whole.sse)

  const updates = await collect(client.stream(clientRequest()))

  expect(withProviderIds(foldUpdates(updates))).toEqual(expected)
  expect(updates.filter(({ restart }) => restart)).toHaveLength(1)
})

test('an announcement of the same answer twice changes nothing', async () => {
  const { whole, sse } = messagesRecording([say('So.') as never])
  const start = sse.slice(0, sse.indexOf('\n\n') + 2)
  server.handler = answer(start + sse)
  const cut = await streamed()

  server.handler = answer(whole)
  const { raw: _, ...response } = withProviderIds(await client.respond(clientRequest()))
  expect(cut).toEqual(response)
})

test('a fallback on the server names the model that answered, streamed as whole', async () => {
  const fallback = {
    type: 'fallback',
    from: { model: 'claude-fable-5' },
    to: { model: 'claude-opus-4-8' },
  }
  const recording = messagesRecording([fallback, say('So.') as never], { model: 'claude-fable-5' })

  const { model } = await both({
    ...recording,
    whole: { ...recording.whole, model: 'claude-opus-4-8' },
  })

  expect(model).toBe('claude-opus-4-8')
})

test('pieces without the start of their block are read', async () => {
  const { sse } = messagesRecording([
    { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
    say('So.') as never,
  ])
  server.handler = answer(sse.replaceAll(/event: content_block_start\n.*\n\n/g, ''))

  const { messages, text } = foldUpdates(await collect(client.stream(clientRequest())))

  expect(text).toBe('So.')
  expect(messages[0]!.contents).toMatchObject([
    { type: 'reasoning', text: 'Hm.', protected: 'sig' },
    { type: 'text', text: 'So.' },
  ])
})

test('arguments without the start of their call are a failure, not a call without arguments', async () => {
  const { sse } = messagesRecording([use('toolu_a', 'pay', { amount: 5 }) as never])
  server.handler = answer(sse.replaceAll(/event: content_block_start\n.*\n\n/g, ''))

  await expect(collect(client.stream(clientRequest()))).rejects.toMatchObject({ kind: 'server' })
})

test('blocks whose end a gateway forgot are complete at the end of the answer', async () => {
  const { whole, sse } = messagesRecording(
    [
      { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
      say('So.') as never,
      use('toolu_a', 'clock', {}) as never,
    ],
    { stop: 'tool_use' },
  )
  server.handler = answer(sse.replaceAll(/event: content_block_stop\n.*\n\n/g, ''))
  const cut = await streamed()

  server.handler = answer(whole)
  const { raw: _, ...response } = withProviderIds(await client.respond(clientRequest()))
  expect(cut).toEqual(response)
})

test('input that is no JSON arrives as it came', async () => {
  const { sse } = messagesRecording([use('toolu_a', 'roll', { die: 1 }) as never], { size: 99 })
  server.handler = answer(sse.replace(String.raw`{\"die\":1}`, String.raw`{\"die\":`))

  const { functionCalls } = foldUpdates(await collect(client.stream(clientRequest())))

  expect(functionCalls).toMatchObject([{ arguments: '{"die":' }])
})

test('a piece of text is an update with nothing else in it', async () => {
  server.handler = answer(messagesRecording([say('abcdef') as never]).sse)

  const updates = await collect(client.stream(clientRequest()))

  expect(updates.slice(1, 3)).toEqual([
    { contents: [{ type: 'text', text: 'abc', origin }], messageId: 'msg_1' },
    { contents: [{ type: 'text', text: 'def' }], messageId: 'msg_1' },
  ])
})
