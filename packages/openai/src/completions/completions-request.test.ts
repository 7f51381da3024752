import type {
  ChatOptions,
  Content,
  FunctionCallContent,
  Message,
  MessageInput,
} from '@lamella/core'
import { foldUpdates, hostedTool, message, tool } from '@lamella/core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { clientRequest, collect } from '@lamella/testing'
import { completionsRecording } from '../../fixtures/completions-recording.ts'
import type { Received } from '@lamella/testing/raw-server'
import { answer, RawServer } from '@lamella/testing/raw-server'
import type { OpenAIChatCompletionsClientOptions } from '../openai-chat-completions-client.ts'
import { OpenAIChatCompletionsClient } from '../openai-chat-completions-client.ts'

let server: RawServer
beforeAll(async () => {
  server = await RawServer.start()
})
afterAll(() => server.stop())
const hello = completionsRecording({ content: 'Hello.' })
beforeEach(() => {
  server.handler = answer(hello.whole)
})

const open = (options: OpenAIChatCompletionsClientOptions = {}) =>
  new OpenAIChatCompletionsClient({
    apiKey: 'test-key',
    baseURL: server.baseURL,
    model: 'gpt-4.1',
    ...options,
  })

async function sent(
  input: MessageInput,
  options: ChatOptions = {},
  instructions?: string,
): Promise<Received['body']> {
  await open().respond(clientRequest(input, options, { instructions }))
  return server.last.body
}

const weather = tool({
  name: 'get_weather',
  description: 'Tells the weather.',
  parameters: z.object({ city: z.string() }),
})
const call = (callId: string, more: Partial<Content> = {}): Content =>
  ({ type: 'function-call', callId, name: 'f', arguments: '{}', ...more }) as Content
const result = (callId: string, contents: Content[]): Content => ({
  type: 'function-result',
  callId,
  contents,
})
const text = (value: string): Content => ({ type: 'text', text: value })

test('a plain question is a short request', async () => {
  expect(await sent('Hello.', {}, 'Be brief.')).toEqual({
    stream: false,
    model: 'gpt-4.1',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello.' },
    ],
  })
  expect(server.last).toMatchObject({ method: 'POST', path: '/v1/chat/completions' })
})

test('a stream asks for usage, unless the server would refuse that', async () => {
  server.handler = answer(hello.sse)

  await collect(open().stream(clientRequest()))
  const usual = server.last.body
  await collect(open({ streamUsage: false }).stream(clientRequest()))

  expect(usual).toMatchObject({ stream: true, stream_options: { include_usage: true } })
  expect(server.last.body).not.toHaveProperty('stream_options')
})

test('every option has its field', async () => {
  const body = await sent('Hi', {
    temperature: 0.5,
    topP: 0.9,
    maxOutputTokens: 100,
    stop: ['END'],
    seed: 7,
    tools: [weather],
    toolChoice: 'required',
    allowParallelToolCalls: false,
    responseFormat: { schema: z.object({ a: z.string() }), name: 'answer' },
    reasoning: { effort: 'low' },
    metadata: { a: 'b' },
    user: 'u',
    providerOptions: {
      openai: {
        serviceTier: 'flex',
        store: true,
        verbosity: 'low',
        extraBody: { logit_bias: { 1: 2 } },
      },
    },
  })

  expect(body).toMatchObject({
    temperature: 0.5,
    top_p: 0.9,
    max_completion_tokens: 100,
    stop: ['END'],
    seed: 7,
    tools: [
      { type: 'function', function: { name: 'get_weather', description: 'Tells the weather.' } },
    ],
    tool_choice: 'required',
    parallel_tool_calls: false,
    response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true } },
    reasoning_effort: 'low',
    metadata: { a: 'b' },
    user: 'u',
    service_tier: 'flex',
    store: true,
    verbosity: 'low',
    logit_bias: { 1: 2 },
  })
  expect(body.tools[0].function).not.toHaveProperty('strict')
})

test.each([
  ['gpt-5-mini', 'max_completion_tokens'],
  ['o3', 'max_completion_tokens'],
  ['openai/gpt-4.1', 'max_completion_tokens'],
  ['openai/gpt-oss-120b', 'max_tokens'],
  ['llama3.2', 'max_tokens'],
  ['mistral-large', 'max_tokens'],
])('the limit of %s is sent as %s', async (model, field) => {
  expect(await sent('Hi', { model, maxOutputTokens: 9 })).toHaveProperty(field, 9)
})

test('which field the limit is sent in can be said', async () => {
  await open({ maxTokensField: 'max_completion_tokens' }).respond(
    clientRequest('Hi', { model: 'my-deployment', maxOutputTokens: 9 }),
  )

  expect(server.last.body).toHaveProperty('max_completion_tokens', 9)
})

test.each([
  ['auto', 'auto'],
  [
    { mode: 'required', functionName: 'get_weather' },
    { type: 'function', function: { name: 'get_weather' } },
  ],
  [
    { mode: 'required', functionName: 'sql' },
    { type: 'custom', custom: { name: 'sql' } },
  ],
] as const)('the choice %j is %j', async (toolChoice, expected) => {
  const tools = [weather, hostedTool('sql', { type: 'custom', custom: { name: 'sql' } })]

  expect((await sent('Hi', { tools, toolChoice })).tool_choice).toEqual(expected)
})

test('options may stand under the name of the compatible server', async () => {
  const client = open({ provider: 'groq' })
  const providerOptions = {
    openai: { serviceTier: 'auto', promptCacheKey: 'k' },
    groq: { serviceTier: 'flex' },
    anthropic: { anything: 1 },
  }

  await client.respond(clientRequest('Hi', { providerOptions }))

  expect(client.provider).toBe('groq')
  expect(server.last.body).toMatchObject({ service_tier: 'flex', prompt_cache_key: 'k' })
})

test('images, sound and files are shown in each form that they come in', async () => {
  const contents: Content[] = [
    text('Look.'),
    {
      type: 'data',
      mediaType: 'image/png',
      data: new Uint8Array([1, 2, 3]),
      metadata: { detail: 'low' },
    },
    { type: 'uri', uri: 'https://a.example/cat.jpg' },
    { type: 'data', mediaType: 'audio/mpeg', data: 'AAAA' },
    { type: 'data', mediaType: 'application/pdf', data: 'AAAA' },
    { type: 'data', mediaType: 'text/markdown', data: btoa('# Hi') },
    { type: 'uri', uri: 'https://a.example/b.pdf', name: 'b.pdf' },
    { type: 'uri', uri: 'file-abc' },
  ]

  const { messages } = await sent([message('user', contents)])

  expect(messages[0].content).toEqual([
    { type: 'text', text: 'Look.' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID', detail: 'low' } },
    { type: 'image_url', image_url: { url: 'https://a.example/cat.jpg' } },
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
    { type: 'file', file: { filename: 'file.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
    { type: 'text', text: '# Hi' },
    { type: 'text', text: '[b.pdf](https://a.example/b.pdf)' },
    { type: 'file', file: { file_id: 'file-abc' } },
  ])
})

test('a round of tool calls keeps its order, and images of tools are shown behind it', async () => {
  const image: Content = { type: 'data', mediaType: 'image/png', data: 'AAAA' }

  const { messages } = await sent([
    message('user', 'Hi'),
    message('assistant', [text('I look.'), call('a'), call('b')]),
    message('tool', [result('b', [image]), result('a', [text('1')])]),
  ])

  expect(messages.slice(1)).toEqual([
    {
      role: 'assistant',
      content: 'I look.',
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } },
        { id: 'b', type: 'function', function: { name: 'f', arguments: '{}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'a', content: '1' },
    { role: 'tool', tool_call_id: 'b', content: 'The result is shown in the next message.' },
    {
      role: 'user',
      content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }],
    },
  ])
})

test('two messages of one turn are one where a call stands in the first', async () => {
  const { messages } = await sent([
    message('assistant', [text('One moment. '), call('a')]),
    message('assistant', [text('Here.')]),
    message('tool', [result('a', [text('1')])]),
  ])

  expect(messages).toMatchObject([
    { role: 'assistant', content: 'One moment. Here.', tool_calls: [{ id: 'a' }] },
    { role: 'tool', tool_call_id: 'a' },
  ])
})

test('what the assistant shows is shown by the user, before what the user says next', async () => {
  const image: Content = { type: 'data', mediaType: 'image/png', data: 'AAAA' }
  const shown = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }

  const { messages } = await sent([
    message('assistant', [text('Here.'), image]),
    message('system', 'Be brief.'),
    message('assistant', [image, { type: 'refusal', text: 'No.' }]),
    message('user', 'Make it blue.'),
  ])

  expect(messages).toEqual([
    { role: 'assistant', content: 'Here.' },
    { role: 'user', content: [shown] },
    { role: 'system', content: 'Be brief.' },
    { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
    { role: 'user', content: [shown, { type: 'text', text: 'Make it blue.' }] },
  ])
})

test('a refusal behind a call joins its message', async () => {
  const { messages } = await sent([
    message('assistant', [text('Hm. '), call('a')]),
    message('assistant', [{ type: 'refusal', text: 'No.' }]),
    message('tool', [result('a', [text('1')])]),
  ])

  expect(messages[0]).toMatchObject({ content: 'Hm. ', refusal: 'No.' })
})

test('a refusal beside text has a field of its own, since content is text or one refusal', async () => {
  const { messages } = await sent([
    message('assistant', [text('So much I say.'), { type: 'refusal', text: 'No more.' }]),
    message('user', 'Why?'),
  ])

  expect(messages[0]).toEqual({
    role: 'assistant',
    content: 'So much I say.',
    refusal: 'No more.',
  })
})

test('an id of a call that the same provider made in its other API is cut to 40 characters', async () => {
  const long = `call_${'x'.repeat(59)}`
  const origin = { provider: 'openai' }
  const { messages } = await sent([
    message('assistant', { ...call(long), origin }),
    message('tool', result(long, [text('1')])),
  ])

  const id = long.slice(0, 40)
  expect(messages).toMatchObject([{ tool_calls: [{ id }] }, { tool_call_id: id }])
})

test('names of authors go along where the API takes them', async () => {
  const { messages } = await sent([
    { ...message('user', 'Hi'), authorName: 'ada' },
    { ...message('user', 'Ho'), authorName: 'Ada Lovelace' },
  ])

  expect(messages).toEqual([
    { role: 'user', content: 'Hi', name: 'ada' },
    { role: 'user', content: 'Ho' },
  ])
})

/** The client's id of the first call in a history. */
function idOfCall(messages: readonly Message[]): string {
  return messages.flatMap(({ contents }) => contents).find(isCall)!.callId
}

function isCall(content: Content): content is FunctionCallContent {
  return content.type === 'function-call'
}

describe('what a server said goes back as it came', () => {
  const client = (provider: string) => open({ provider, model: 'm' })

  async function history(
    provider: string,
    said: Readonly<Record<string, unknown>>,
  ): Promise<Message[]> {
    server.handler = answer(completionsRecording(said, { finish: 'tool_calls' }).sse)
    const updates = await collect(client(provider).stream(clientRequest()))
    server.handler = answer(hello.whole)
    return [...foldUpdates(updates).messages]
  }

  async function sentOn(provider: string, messages: Message[]): Promise<Received['body']> {
    await client(provider).respond(clientRequest(messages))
    return server.last.body.messages
  }

  const calls = [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }]

  test.each(['reasoning_content', 'reasoning'])(
    'thinking in `%s`, within its round of calls',
    async (field) => {
      const messages = await history('acme', { [field]: 'Hm.', tool_calls: calls })
      const round = [
        message('user', 'Hi'),
        ...messages,
        message('tool', result(idOfCall(messages), [text('1')])),
      ]

      const within = await sentOn('acme', round)
      const later = await sentOn('acme', [...round, message('user', 'Thanks')])
      const elsewhere = await sentOn('groq', round)

      expect(within[1]).toEqual({
        role: 'assistant',
        content: null,
        [field]: 'Hm.',
        tool_calls: calls,
      })
      expect(later[1]).not.toHaveProperty(field)
      expect(elsewhere[1]).not.toHaveProperty(field)
    },
  )

  test('signatures that a server puts beside its calls', async () => {
    const signed = [{ ...calls[0], extra_content: { google: { thought_signature: 'sig' } } }]
    const messages = await history('google', { tool_calls: signed })

    expect((await sentOn('google', messages))[0].tool_calls).toEqual(signed)
    const [elsewhere] = await sentOn('groq', messages)
    expect(elsewhere.tool_calls).toEqual([{ ...calls[0], id: expect.any(String) }])
  })

  test('free-text calls', async () => {
    const custom = [{ id: 'call_1', type: 'custom', custom: { name: 'sql', input: 'SELECT 1' } }]
    server.handler = answer(completionsRecording({ tool_calls: custom }).whole)
    const { messages, functionCalls } = await open().respond(clientRequest())
    server.handler = answer(hello.whole)

    const { messages: params } = await sent(messages)

    expect(functionCalls).toMatchObject([{ name: 'sql', arguments: 'SELECT 1' }])
    expect(params[0].tool_calls).toEqual(custom)
  })

  test('refusals and spoken answers', async () => {
    server.handler = answer(
      completionsRecording({
        content: null,
        refusal: 'No.',
        audio: { id: 'audio_1', data: 'AAAA' },
      }).whole,
    )
    const { messages } = await open().respond(clientRequest())
    server.handler = answer(hello.whole)

    const { messages: params } = await sent(messages)

    expect(params).toEqual([
      {
        role: 'assistant',
        content: [{ type: 'refusal', refusal: 'No.' }],
        audio: { id: 'audio_1' },
      },
    ])
  })
})
