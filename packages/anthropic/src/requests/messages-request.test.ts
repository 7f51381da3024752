import type { ChatOptions, ChatRequest, MessageInput } from '@lamella/core'
import { hostedTool, message, tool } from '@lamella/core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { clientRequest, failureOf } from '@lamella/testing'
import { messagesRecording } from '../../fixtures/messages-recording.ts'
import type { Received } from '@lamella/testing/raw-server'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { AnthropicChatClient } from '../anthropic-chat-client.ts'

let server: RawServer
let client: AnthropicChatClient
beforeAll(async () => {
  server = await RawServer.start(answer(messagesRecording([]).whole))
})
beforeEach(() => {
  client = new AnthropicChatClient({ apiKey: 'k', baseURL: server.url, model: 'claude-sonnet-5-5' })
})
afterAll(() => server.stop())

async function sent(
  input: MessageInput,
  options: ChatOptions = {},
  more: Partial<ChatRequest> = {},
): Promise<Received['body']> {
  await client.respond(clientRequest(input, options, more))
  return server.last.body
}

const clock = tool({ name: 'clock', description: 'Tells the time.' })
const search = hostedTool('web_search', { type: 'web_search_20260318', max_uses: 2 })

describe('the request', () => {
  test('is a POST to /v1/messages of the version that the SDK speaks, with a bearer token', async () => {
    await sent('Hello.')

    const { method, path, headers, body } = server.last
    expect([method, path]).toEqual(['POST', '/v1/messages'])
    expect(headers['authorization']).toBe('Bearer k')
    expect(headers['anthropic-version']).toBe('2026-10-21')
    expect(headers['traceparent']).toBeUndefined()
    expect(body).toEqual({
      model: 'claude-sonnet-5-5',
      max_tokens: 8192,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello.' }] }],
    })
  })

  test('says how the answer is limited', async () => {
    const body = await sent('Hello.', {
      model: 'other',
      maxOutputTokens: 5,
      stop: ['END'],
      user: 'u1',
    })

    expect(body).toMatchObject({
      model: 'other',
      max_tokens: 5,
      stop_sequences: ['END'],
      metadata: { user_id: 'u1' },
    })
  })

  test('has room for the budget of thinking', async () => {
    const thinking = { type: 'enabled', budget_tokens: 20_000 }
    const providerOptions = { anthropic: { thinking } }

    expect((await sent('Hello.', { providerOptions })).max_tokens).toBe(28_192)
    expect((await sent('Hello.', { providerOptions, maxOutputTokens: 21_000 })).max_tokens).toBe(
      21_000,
    )
  })

  test('may ask for a long answer in one piece', async () => {
    const body = await sent('Hello.', { maxOutputTokens: 100_000 })

    expect(body.max_tokens).toBe(100_000)
  })

  test('leaves out what the API has no field for, and the answer tells which', async () => {
    const options: ChatOptions = {
      temperature: 0,
      topP: 1,
      seed: 1,
      metadata: { a: 'b' },
      responseFormat: 'json',
    }

    const { metadata } = await client.respond(clientRequest('Hello.', options))

    expect(Object.keys(server.last.body)).toEqual(['model', 'max_tokens', 'messages'])
    expect(metadata['ignoredOptions']).toEqual([
      'temperature',
      'topP',
      'seed',
      'metadata',
      'responseFormat',
    ])
  })

  test('needs a model', async () => {
    const without = new AnthropicChatClient({ apiKey: 'k', baseURL: server.url })
    const before = server.received.length

    const error = await failureOf(without.respond(clientRequest()))

    expect(error).toMatchObject({
      kind: 'invalid_request',
      message: 'anthropic: no model; pass `model` to the client or the call',
    })
    expect(server.received).toHaveLength(before)
  })

  test('has instructions and system messages as the system prompt', async () => {
    const body = await sent(
      [message('system', 'Be kind.'), message('user', 'Hi.'), message('system', 'Be short.')],
      {},
      { instructions: 'You are Bo.' },
    )

    expect(body.system).toEqual(['You are Bo.', 'Be kind.', 'Be short.'].map(toText))
    expect(body.messages.map((each: { role: string }) => each.role)).toEqual(['user'])
  })

  test.each([
    ['after the user', ['user', 'system'], ['user', 'system']],
    ['between two words of the user', ['user', 'system', 'user'], ['user', 'system']],
    [
      'before the user',
      ['user', 'assistant', 'system', 'user', 'assistant'],
      ['user', 'assistant', 'user', 'system', 'assistant'],
    ],
    [
      'between two words of the model',
      ['user', 'assistant', 'system', 'assistant'],
      ['user', 'assistant'],
    ],
    ['after the model', ['user', 'assistant', 'system'], ['user', 'assistant']],
  ] as const)(
    'has a system message %s where the model takes it',
    async (_place, roles, arrived) => {
      const history = roles.map((role) => message(role, `The ${role}.`))

      const body = await sent(history, { model: 'claude-opus-5-5' })

      expect(body.messages.map((each: { role: string }) => each.role)).toEqual(arrived)
      expect(body.system).toEqual(
        (arrived as readonly string[]).includes('system') ? undefined : [toText('The system.')],
      )
    },
  )
})

describe('tools', () => {
  test('are sent with their schema, hosted ones in the words of the API', async () => {
    const add = tool({
      name: 'add',
      description: 'Adds.',
      parameters: z.object({ a: z.number().min(0) }),
      metadata: { anthropic: { defer_loading: true } },
    })

    const { tools, tool_choice: choice } = await sent('Hello.', { tools: [add, search] })

    expect(tools).toEqual([
      {
        name: 'add',
        description: 'Adds.',
        input_schema: add.jsonSchema,
        defer_loading: true,
      },
      { name: 'web_search', type: 'web_search_20260318', max_uses: 2 },
    ])
    expect(choice).toBeUndefined()
  })

  test.each<[ChatOptions, unknown]>([
    [{ toolChoice: 'auto' }, { type: 'auto' }],
    [{ toolChoice: 'none' }, { type: 'none' }],
    [{ toolChoice: 'required' }, { type: 'any' }],
    [{ toolChoice: { mode: 'required', functionName: 'clock' } }, { type: 'tool', name: 'clock' }],
    [
      { toolChoice: { mode: 'required', functionName: 'web_search' } },
      { type: 'tool', name: 'web_search' },
    ],
    [{ allowParallelToolCalls: true }, undefined],
    [{ allowParallelToolCalls: false }, { type: 'auto', disable_parallel_tool_use: true }],
    [
      { allowParallelToolCalls: false, toolChoice: 'required' },
      { type: 'any', disable_parallel_tool_use: true },
    ],
    [{ allowParallelToolCalls: false, toolChoice: 'none' }, { type: 'none' }],
  ])('are chosen by %j', async (options, choice) => {
    const body = await sent('Hello.', { tools: [clock, search], ...options })

    expect(body.tool_choice).toEqual(choice)
  })

  test('without a tool, nothing is said of tools', async () => {
    const body = await sent('Hello.', { toolChoice: 'none', allowParallelToolCalls: false })

    expect(body).not.toHaveProperty('tool_choice')
    expect(body).not.toHaveProperty('tools')
  })

  test('a hosted tool without a version is refused before anything is sent', async () => {
    const error = await failureOf(
      client.respond(clientRequest('Hi.', { tools: [hostedTool('web_search', {})] })),
    )

    expect(error).toBeInstanceOf(TypeError)
    expect((error as Error).message).toMatch(/"web_search" needs a `type`/)
  })
})

describe('structured output and reasoning', () => {
  test('a schema is sent in the form that Anthropic takes', async () => {
    const schema = z.object({ n: z.number().min(1), tags: z.array(z.string()).optional() })

    const { output_config: config } = await sent('Hello.', { responseFormat: { schema } })

    expect(config).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: {
            n: { type: 'number', description: '{minimum: 1}' },
            tags: { type: 'array', items: { type: 'string' } },
          },
          required: ['n'],
          additionalProperties: false,
        },
      },
    })
  })

  test.each<[ChatOptions['reasoning'], unknown, unknown]>([
    [{ effort: 'high' }, { effort: 'high' }, undefined],
    [{ effort: 'minimal' }, { effort: 'low' }, undefined],
    [{ effort: 'none' }, undefined, { type: 'disabled' }],
    [
      { effort: 'low', summary: 'auto' },
      { effort: 'low' },
      { type: 'adaptive', display: 'summarized' },
    ],
    [{ summary: 'none' }, undefined, { type: 'adaptive', display: 'omitted' }],
  ])('reasoning %j', async (reasoning, config, thinking) => {
    const body = await sent('Hello.', { reasoning })

    expect([body.output_config, body.thinking]).toEqual([config, thinking])
  })
})

describe('provider options', () => {
  test('become fields and headers of the request', async () => {
    const body = await sent('Hello.', {
      user: 'one',
      providerOptions: {
        anthropic: {
          cacheControl: '1h',
          thinking: { type: 'enabled', budget_tokens: 2000 },
          effort: 'max',
          serviceTier: 'standard_only',
          betas: ['a-1', 'b-2'],
          metadata: { userId: 'two' },
          container: 'container_1',
          extraBody: { inference_geo: 'us' },
          extraHeaders: { 'x-own': '1' },
        },
      },
    })

    expect(body).toMatchObject({
      cache_control: { type: 'ephemeral', ttl: '1h' },
      thinking: { type: 'enabled', budget_tokens: 2000 },
      output_config: { effort: 'max' },
      service_tier: 'standard_only',
      metadata: { user_id: 'two' },
      container: 'container_1',
      inference_geo: 'us',
    })
    expect(server.last.headers).toMatchObject({ 'anthropic-beta': 'a-1,b-2', 'x-own': '1' })
  })

  test('set breakpoints at the end of the tools, the system prompt and the last message', async () => {
    const body = await sent(
      ['One.', message('assistant', 'Two.'), message('user', ['Three.', 'Four.'].map(toText))],
      {
        tools: [clock, search],
        providerOptions: {
          anthropic: { cacheControl: { tools: '1h', system: '5m', lastMessage: '5m' } },
        },
      },
      { instructions: 'Be kind.' },
    )

    const short = { type: 'ephemeral', ttl: '5m' }
    const blocks = body.messages.flatMap((each: { content: unknown[] }) => each.content)
    expect(body.tools.map((each: { cache_control?: unknown }) => each.cache_control)).toEqual([
      undefined,
      { type: 'ephemeral', ttl: '1h' },
    ])
    expect(body.system[0].cache_control).toEqual(short)
    expect(blocks.map((each: { cache_control?: unknown }) => each.cache_control)).toEqual([
      undefined,
      undefined,
      undefined,
      short,
    ])
  })

  test('strict tools have a schema that Anthropic can guarantee', async () => {
    const body = await sent('Hello.', {
      tools: [clock],
      providerOptions: { anthropic: { strictTools: true } },
    })

    expect(body.tools[0]).toMatchObject({
      strict: true,
      input_schema: { type: 'object', additionalProperties: false },
    })
  })

  test.each([
    [{ thinkin: {} }, 'unknown option `thinkin`'],
    [{ betas: 'a' }, '`betas` must be of type array, got string'],
    [{ thinking: null }, '`thinking` must be of type object, got null'],
    [{ cacheControl: '2h' }, "`cacheControl` must be '5m' or '1h', got 2h"],
    [{ cacheControl: { user: '5m' } }, '`cacheControl` has no part `user`'],
  ])('%j is refused', async (anthropic, words) => {
    const request = clientRequest('Hello.', { providerOptions: { anthropic } })

    const error = await failureOf(client.respond(request))

    expect((error as Error).message).toContain(`providerOptions.anthropic: ${words}`)
  })
})

describe('files', () => {
  const png = { type: 'data', mediaType: 'image/png', data: 'aGk=' } as const

  test.each([
    [png, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } }],
    [
      { ...png, data: new Uint8Array([104, 105]) },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
    ],
    [
      { ...png, mediaType: 'application/pdf', name: 'a.pdf' },
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'aGk=' },
        title: 'a.pdf',
      },
    ],
    [
      { ...png, mediaType: 'text/csv; charset=utf-8', metadata: { citations: true, context: 'c' } },
      {
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: 'hi' },
        context: 'c',
        citations: { enabled: true },
      },
    ],
    [
      { type: 'uri', uri: 'https://a.example/b.png' },
      { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } },
    ],
    [
      { type: 'uri', uri: 'https://a.example/b.pdf' },
      { type: 'document', source: { type: 'url', url: 'https://a.example/b.pdf' } },
    ],
    [
      { type: 'uri', uri: 'data:text/plain,hi%20you' },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'hi you' } },
    ],
    [
      { type: 'uri', uri: 'file_011' },
      { type: 'document', source: { type: 'file', file_id: 'file_011' } },
    ],
    [
      { type: 'uri', uri: 'file_011', mediaType: 'image/png' },
      { type: 'image', source: { type: 'file', file_id: 'file_011' } },
    ],
  ] as const)('%j', async (content, block) => {
    const body = await sent([content])

    expect(body.messages[0].content).toEqual([block])
  })

  test('are not needed: texts of a result are joined as they are', async () => {
    const contents = [toText('a'), toText('\n'), toText('b')]

    const body = await sent([
      'Draw.',
      {
        role: 'assistant',
        contents: [{ type: 'function-call', callId: 'c1', name: 'draw', arguments: '' }],
      },
      { role: 'tool', contents: [{ type: 'function-result', callId: 'c1', contents }] },
    ])

    expect(body.messages.at(-1).content[0].content).toBe('a\nb')
  })

  test('in results of tools go with them, and what cannot be shown is left out', async () => {
    const contents = [
      toText('Here.'),
      png,
      { type: 'data', mediaType: 'audio/wav', data: 'aGk=' } as const,
    ]

    const body = await sent([
      'Draw.',
      {
        role: 'assistant',
        contents: [{ type: 'function-call', callId: 'c1', name: 'draw', arguments: '' }],
      },
      { role: 'tool', contents: [{ type: 'function-result', callId: 'c1', contents }] },
    ])

    expect(body.messages.at(-1)).toEqual({
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'c1',
          content: [
            { type: 'text', text: 'Here.' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
          ],
        },
      ],
    })
  })
})

function toText(text: string): { readonly type: 'text'; readonly text: string } {
  return { type: 'text', text }
}

test('a fifth breakpoint of the prompt cache is not sent: the earliest message loses its own', async () => {
  const marked = (text: string) =>
    message('user', { type: 'text', text, metadata: { cacheControl: '5m' } })
  const turns = [1, 2, 3, 4].flatMap((turn) => [marked(`${turn}`), message('assistant', 'Ok.')])
  const providerOptions = { anthropic: { cacheControl: { lastMessage: '5m' } } } as const

  const { messages } = await sent([...turns, message('user', 'And?')], { providerOptions })

  const places = messages.flatMap(({ content }: { content: object[] }, at: number) =>
    content.some((block) => 'cache_control' in block) ? [at] : [],
  )
  expect(places).toEqual([2, 4, 6, 8])
})

test('the image of a failed result stands behind the results, whose error is text', async () => {
  const call = { type: 'function-call', name: 'f', arguments: '{}' } as const
  const picture = { type: 'data', mediaType: 'image/png', data: 'aW1n' } as const

  const { messages } = await sent([
    message('user', 'Go.'),
    message('assistant', [
      { ...call, callId: 'a' },
      { ...call, callId: 'b' },
    ]),
    message('tool', [
      {
        type: 'function-result',
        callId: 'a',
        contents: [{ type: 'text', text: 'No such button.' }, picture],
        error: { code: 'tool_failed', message: '' },
      },
      { type: 'function-result', callId: 'b', contents: [{ type: 'text', text: 'fine' }] },
    ]),
  ])

  expect(messages[2].content).toMatchObject([
    { type: 'tool_result', content: 'No such button.', is_error: true },
    { type: 'tool_result', content: 'fine' },
    { type: 'image' },
  ])
})

test('a tool whose schema has no form for Anthropic is left out with an event, the others stay', async () => {
  const odd = tool({
    name: 'odd',
    description: '',
    parameters: z.object({}),
    jsonSchema: { type: 'object', properties: { a: { $ref: 'https://x.example/schema' } } },
  })
  const named = tool({
    name: 'named',
    description: '',
    parameters: z.object({}).loose(),
    jsonSchema: { type: 'object', properties: { 'StartTime<': { type: 'string' } } },
  })
  const events: unknown[] = []
  const use = { type: 'tool_use', id: 't1', name: 'named', input: { StartTime__1: 'now' } }
  const own = await RawServer.start(answer(messagesRecording([use], { stop: 'tool_use' }).whole))
  const asking = new AnthropicChatClient({ apiKey: 'k', baseURL: own.url, model: 'm' })

  const { functionCalls } = await asking.respond(
    clientRequest(
      'Hi',
      { tools: [odd, named], toolChoice: { mode: 'required', functionName: 'odd' } },
      { emit: (event) => void events.push(event) },
    ),
  )
  await own.stop()

  expect(own.last.body.tools).toMatchObject([{ name: 'named' }])
  expect(own.last.body).not.toHaveProperty('tool_choice')
  expect(functionCalls).toMatchObject([{ name: 'named', arguments: '{"StartTime<":"now"}' }])
  expect(events).toEqual([
    {
      type: 'tool_left_out',
      data: {
        tool: 'odd',
        reason: 'its schema refers to another document',
        provider: 'anthropic',
      },
    },
  ])
})
