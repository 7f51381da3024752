import type { ChatOptions, Content, MessageInput } from '@lamella/core'
import { hostedTool, jsonSchema, message, tool } from '@lamella/core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { clientRequest, collect, failureOf } from '@lamella/testing'
import type { Received } from '@lamella/testing/raw-server'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { responsesRecording } from '../../fixtures/responses-recording.ts'
import { OpenAIChatClient } from '../openai-chat-client.ts'
import type { OpenAIProviderOptions } from '../connection/openai-provider-options.ts'

let server: RawServer
let client: OpenAIChatClient
beforeAll(async () => {
  server = await RawServer.start()
  client = new OpenAIChatClient({ apiKey: 'test-key', baseURL: server.baseURL, model: 'gpt-4.1' })
})
afterAll(() => server.stop())
beforeEach(() => {
  server.handler = answer(responsesRecording([]).whole)
})

async function sent(
  input: MessageInput,
  options: ChatOptions = {},
  instructions?: string,
): Promise<Received['body']> {
  await client.respond(clientRequest(input, options, { instructions }))
  return server.last.body
}

const openai = (options: OpenAIProviderOptions): ChatOptions => ({
  providerOptions: { openai: options },
})
const weather = tool({
  name: 'get_weather',
  description: 'Tells the weather.',
  parameters: z.object({ city: z.string() }),
})

test('a plain question is a short request that OpenAI does not keep', async () => {
  expect(await sent('Hello.', {}, 'Be brief.')).toEqual({
    stream: false,
    model: 'gpt-4.1',
    instructions: 'Be brief.',
    input: [{ role: 'user', content: 'Hello.' }],
    store: false,
  })
  expect(server.last).toMatchObject({
    method: 'POST',
    path: '/v1/responses',
    headers: { authorization: 'Bearer test-key' },
  })
})

test('a stream is the same request with `stream`', async () => {
  const body = await sent('Hello.')
  server.handler = answer(responsesRecording([]).sse)

  await collect(client.stream(clientRequest('Hello.')))

  expect(server.last.body).toEqual({ ...body, stream: true })
})

test('every option has its field', async () => {
  const options: ChatOptions = {
    model: 'gpt-4.1',
    temperature: 0.5,
    topP: 0.9,
    maxOutputTokens: 100,
    tools: [weather],
    toolChoice: 'auto',
    allowParallelToolCalls: false,
    responseFormat: 'json',
    reasoning: { effort: 'low', summary: 'auto' },
    metadata: { a: 'b' },
    user: 'u',
    ...openai({
      serviceTier: 'flex',
      promptCacheKey: 'k',
      promptCacheRetention: '24h',
      safetyIdentifier: 's',
      verbosity: 'low',
      store: true,
      include: ['web_search_call.action.sources'],
      maxToolCalls: 3,
      truncation: 'auto',
      extraBody: { prompt: { id: 'pmpt_1' }, top_p: 0.8 },
    }),
  }

  expect(await sent('Hi', options)).toMatchObject({
    model: 'gpt-4.1',
    temperature: 0.5,
    top_p: 0.8,
    max_output_tokens: 100,
    tool_choice: 'auto',
    parallel_tool_calls: false,
    text: { format: { type: 'json_object' }, verbosity: 'low' },
    reasoning: { effort: 'low', summary: 'auto' },
    metadata: { a: 'b' },
    user: 'u',
    service_tier: 'flex',
    prompt_cache_key: 'k',
    prompt_cache_retention: '24h',
    safety_identifier: 's',
    store: true,
    include: ['web_search_call.action.sources'],
    max_tool_calls: 3,
    truncation: 'auto',
    prompt: { id: 'pmpt_1' },
  })
})

test('options that the API has no field for are told, not lost', async () => {
  const request = clientRequest('Hi', { stop: ['END'], seed: 7, topP: 1 })

  expect((await client.respond(request)).metadata).toMatchObject({
    ignoredOptions: ['stop', 'seed'],
  })
  expect((await client.respond(clientRequest())).metadata).not.toHaveProperty('ignoredOptions')
})

test('extra headers go with their request', async () => {
  await sent('Hi', openai({ extraHeaders: { 'x-team': 'a' } }))

  expect(server.last.headers['x-team']).toBe('a')
})

test('a provider option of the wrong type is an error, too', async () => {
  const options = { providerOptions: { openai: { store: 'yes' } } }

  expect(String(await failureOf(client.respond(clientRequest('Hi', options))))).toBe(
    'TypeError: providerOptions.openai: `store` must be of type boolean, got string',
  )
})

test('an unknown provider option is an error that names it', async () => {
  const options = { providerOptions: { openai: { serviceteir: 'flex' } } }

  expect(await failureOf(client.respond(clientRequest('Hi', options)))).toMatchObject({
    name: 'TypeError',
    message:
      'providerOptions.openai: unknown option `serviceteir`; fields of the request go under `extraBody`',
  })
})

describe('conversations', () => {
  test.each([
    ['resp_1', { previous_response_id: 'resp_1' }],
    ['conv_1', { conversation: 'conv_1' }],
  ])('%s continues, and what is stored is left to OpenAI', async (conversation, fields) => {
    const body = await sent('Hi', openai({ conversation }))

    expect(body).toMatchObject(fields)
    expect(body).not.toHaveProperty('store')
  })

  test('results of calls that only OpenAI knows are sent', async () => {
    const result: Content = {
      type: 'function-result',
      callId: 'call_1',
      contents: [{ type: 'text', text: '9' }],
    }

    const body = await sent([message('tool', result)], openai({ conversation: 'resp_1' }))

    expect(body.input).toEqual([{ type: 'function_call_output', call_id: 'call_1', output: '9' }])
  })

  test.each([
    ['gpt-5-mini', ['reasoning.encrypted_content']],
    ['o4-mini', ['reasoning.encrypted_content']],
    ['gpt-5-chat-latest', undefined],
    ['gpt-4.1', undefined],
  ])('what %s thinks is asked for where OpenAI does not keep it: %j', async (model, include) => {
    expect((await sent('Hi', { model })).include).toEqual(include)
    expect((await sent('Hi', { model, ...openai({ store: true }) })).include).toBeUndefined()
  })
})

describe('tools', () => {
  const hosted = hostedTool('search', { type: 'web_search', search_context_size: 'low' })
  const parameters = {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  }

  test('tools of ours and of OpenAI stand side by side', async () => {
    const body = await sent('Hi', { tools: [weather, hosted, hostedTool('image_generation', {})] })

    expect(body.tools).toMatchObject([
      {
        type: 'function',
        name: 'get_weather',
        description: 'Tells the weather.',
        parameters,
        strict: false,
      },
      { type: 'web_search', search_context_size: 'low' },
      { type: 'image_generation' },
    ])
  })

  test('strict tools are those that OpenAI accepts as strict', async () => {
    const loose = tool({
      name: 'loose',
      description: '',
      parameters: z.object({ a: z.string().optional() }),
    })

    const body = await sent('Hi', { tools: [weather, loose], ...openai({ strictTools: true }) })

    expect(body.tools).toMatchObject([
      { strict: true, parameters: { ...parameters, additionalProperties: false } },
      { strict: false },
    ])
  })

  test('a tool without parameters has an object without properties', async () => {
    const body = await sent('Hi', { tools: [tool({ name: 'now', description: 'The time.' })] })

    expect(body.tools[0].parameters).toEqual({ type: 'object', properties: {} })
  })

  test.each([
    ['auto', 'auto'],
    ['none', 'none'],
    ['required', 'required'],
    [
      { mode: 'required', functionName: 'get_weather' },
      { type: 'function', name: 'get_weather' },
    ],
    [{ mode: 'required', functionName: 'search' }, { type: 'web_search' }],
    [
      { mode: 'required', functionName: 'zip' },
      { type: 'mcp', server_label: 'zip1' },
    ],
    [
      { mode: 'required', functionName: 'sql' },
      { type: 'custom', name: 'sql' },
    ],
  ] as const)('the choice %j is %j', async (toolChoice, expected) => {
    const tools = [
      weather,
      hosted,
      hostedTool('zip', { type: 'mcp', server_label: 'zip1' }),
      hostedTool('sql', { type: 'custom', name: 'sql' }),
    ]

    expect((await sent('Hi', { tools, toolChoice })).tool_choice).toEqual(expected)
  })

  test('without a tool nothing is said about tools', async () => {
    const body = await sent('Hi', { toolChoice: 'required', allowParallelToolCalls: true })

    expect(Object.keys(body).filter((field) => /tool/.test(field))).toEqual([])
  })
})

describe('structured output', () => {
  test('a schema that OpenAI accepts is strict', async () => {
    const schema = z.object({ city: z.string(), days: z.array(z.number()) })

    const { format } = (await sent('Hi', { responseFormat: { schema, name: 'the plan' } })).text

    expect(format).toMatchObject({
      type: 'json_schema',
      name: 'the_plan',
      strict: true,
      schema: { additionalProperties: false, required: ['city', 'days'] },
    })
  })

  test('one that it does not accept is a hint', async () => {
    const schema = z.object({ city: z.string().optional() })

    const { format } = (await sent('Hi', { responseFormat: { schema } })).text

    expect(format).toMatchObject({ name: 'response', strict: false })
  })

  test('who says so decides', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }

    const no = await sent('Hi', { responseFormat: { schema: jsonSchema(schema), strict: false } })
    const yes = await sent('Hi', {
      responseFormat: { schema: jsonSchema({ type: 'object' }), strict: true },
    })

    expect(no.text.format).toMatchObject({ strict: false, schema })
    expect(yes.text.format).toMatchObject({ strict: true })
  })

  test('a schema that cannot describe itself is an error', async () => {
    const schema = {
      '~standard': { version: 1 as const, vendor: 'acme', validate: () => ({ value: 1 }) },
    }

    const failure = await failureOf(
      client.respond(clientRequest('Hi', { responseFormat: { schema } })),
    )

    expect(String(failure)).toMatch(/acme/)
  })
})

test('images and files are shown in each form that they come in', async () => {
  const contents: Content[] = [
    { type: 'text', text: 'Look.' },
    {
      type: 'data',
      mediaType: 'image/png',
      data: new Uint8Array([1, 2, 3]),
      metadata: { detail: 'low' },
    },
    { type: 'uri', uri: 'https://a.example/cat.jpg' },
    { type: 'data', mediaType: 'application/pdf', data: 'AAAA', name: 'a.pdf' },
    { type: 'uri', uri: 'https://a.example/b.pdf' },
    { type: 'uri', uri: 'file-abc' },
  ]

  const { input } = await sent([message('user', contents)])

  expect(input[0].content).toEqual([
    { type: 'input_text', text: 'Look.' },
    { type: 'input_image', image_url: 'data:image/png;base64,AQID', detail: 'low' },
    { type: 'input_image', image_url: 'https://a.example/cat.jpg', detail: 'auto' },
    { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' },
    { type: 'input_file', file_url: 'https://a.example/b.pdf' },
    { type: 'input_file', file_id: 'file-abc' },
  ])
})

test('a tool may answer with text, with images, or with nothing but an error', async () => {
  const call = (callId: string): Content => ({
    type: 'function-call',
    callId,
    name: 'f',
    arguments: '{}',
  })
  const result = (callId: string, contents: Content[], more: object = {}): Content => ({
    type: 'function-result',
    callId,
    contents,
    ...more,
  })
  const image: Content = { type: 'data', mediaType: 'image/png', data: 'AAAA' }

  const { input } = await sent([
    message('assistant', [call('a'), call('b'), call('c')]),
    message('tool', [
      result('a', [
        { type: 'text', text: '1' },
        { type: 'text', text: '2' },
      ]),
      result('b', [{ type: 'text', text: 'See:' }, image]),
      result('c', [], { error: { code: 'timeout', message: 'the secret reason' } }),
    ]),
  ])

  expect(input.slice(3)).toEqual([
    { type: 'function_call_output', call_id: 'a', output: '12' },
    {
      type: 'function_call_output',
      call_id: 'b',
      output: [
        { type: 'input_text', text: 'See:' },
        { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' },
      ],
    },
    { type: 'function_call_output', call_id: 'c', output: 'The tool failed: timeout.' },
  ])
})

test('instructions in the middle stay where they are', async () => {
  const { input } = await sent([
    message('user', 'Hi'),
    message('system', 'Be brief.'),
    message('user', 'Ho'),
  ])

  expect(input).toEqual([
    { role: 'user', content: 'Hi' },
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Ho' },
  ])
})

test('an image of another origin is shown by the user', async () => {
  const image: Content = {
    type: 'data',
    mediaType: 'image/png',
    data: 'AAAA',
    origin: { provider: 'other' },
  }

  const { input } = await sent([
    message('assistant', [{ type: 'text', text: 'Here.' }, image]),
    message('user', 'Make it blue.'),
  ])

  expect(input).toEqual([
    { role: 'assistant', content: 'Here.' },
    {
      role: 'user',
      content: [
        { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' },
        { type: 'input_text', text: 'Make it blue.' },
      ],
    },
  ])
})

test('a model that reasons is not sent how to sample, and the caller is told', async () => {
  server.handler = answer(responsesRecording([]).whole)

  const { metadata } = await client.respond(
    clientRequest('Hi', { model: 'gpt-5-mini', temperature: 0, topP: 0.5 }),
  )

  expect(server.last.body).not.toHaveProperty('temperature')
  expect(server.last.body).not.toHaveProperty('top_p')
  expect(metadata['ignoredOptions']).toEqual(['temperature', 'topP'])
})
