import { inspect } from 'node:util'
import type { ProviderError } from '@lamella/core'
import { isProviderError, message } from '@lamella/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientRequest, failureOf } from '@lamella/testing'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { OpenAIChatClient } from '../openai-chat-client.ts'
import { OpenAIChatCompletionsClient } from '../openai-chat-completions-client.ts'

let server: RawServer
beforeAll(async () => {
  server = await RawServer.start()
})
afterAll(() => server.stop())

const key = 'test-key-that-nobody-may-see'
const open = (options: object = {}) => ({
  apiKey: key,
  baseURL: server.baseURL,
  model: 'm',
  ...options,
})
const apis = [
  { api: 'Responses', Client: OpenAIChatClient },
  { api: 'Chat Completions', Client: OpenAIChatCompletionsClient },
]

const unsendable = {
  kind: 'invalid_request',
  message: 'openai: the request cannot be sent: its address or one of its headers is not valid',
}

const error = (code: string | null, type = 'invalid_request_error', text = 'Sorry.') => ({
  error: { message: text, type, param: null, code },
})

const failures: readonly [string, number, string | object, Record<string, string>, object][] = [
  ['context length', 400, error('context_length_exceeded'), {}, { kind: 'context_length' }],
  [
    'context length in words',
    400,
    error(
      null,
      'BadRequestError',
      "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
    ),
    {},
    { kind: 'context_length', details: { limitTokens: 4096, requestedTokens: 5000 } },
  ],
  ['a bad parameter', 400, error('unsupported_parameter'), {}, { kind: 'invalid_request' }],
  ['a policy', 400, error('content_policy_violation'), {}, { kind: 'content_filter' }],
  [
    'the filter of Azure',
    400,
    {
      error: {
        code: 'content_filter',
        param: 'prompt',
        innererror: { content_filter_result: { hate: { filtered: true, severity: 'high' } } },
      },
    },
    {},
    {
      kind: 'content_filter',
      details: { contentFilter: { hate: { filtered: true, severity: 'high' } } },
    },
  ],
  ['a bad key', 401, error('invalid_api_key'), {}, { kind: 'auth' }],
  ['no credit', 402, error(null), {}, { kind: 'quota' }],
  ['a country', 403, error('unsupported_country_region_territory'), {}, { kind: 'auth' }],
  ['a model that is not there', 404, error('model_not_found'), {}, { kind: 'not_found' }],
  [
    'a slow request',
    408,
    error(null),
    {},
    { kind: 'timeout', retry: { retryable: true, replay: 'safe' } },
  ],
  [
    'a conflict',
    409,
    error(null),
    {},
    { kind: 'server', retry: { retryable: true, replay: 'safe' } },
  ],
  ['a body that is too large', 413, '<html>413</html>', {}, { kind: 'invalid_request' }],
  [
    'a prompt that is too large',
    413,
    error(null, 'x', 'prompt is too long'),
    {},
    { kind: 'context_length' },
  ],
  ['an odd status', 418, error(null), {}, { kind: 'invalid_request' }],
  ['bad values', 422, error(null), {}, { kind: 'invalid_request' }],
  [
    'a limit',
    429,
    error('rate_limit_exceeded', 'requests'),
    { 'retry-after': '7' },
    { kind: 'rate_limit', retry: { retryable: true, afterMs: 7000, replay: 'safe' } },
  ],
  [
    'a limit without words',
    429,
    '',
    {},
    { kind: 'rate_limit', retry: { retryable: true, replay: 'safe' } },
  ],
  [
    'the limit of Azure',
    429,
    { error: { code: '429', message: 'Please retry after 2 seconds.' } },
    {},
    { kind: 'rate_limit', retry: { retryable: true, afterMs: 2000, replay: 'safe' } },
  ],
  [
    'a request that no limit allows',
    429,
    error('rate_limit_exceeded', 'tokens', 'Request too large for m: Limit 100, Requested 200.'),
    {},
    { kind: 'rate_limit', retry: { retryable: false, replay: 'safe' } },
  ],
  [
    'no quota',
    429,
    error('insufficient_quota', 'insufficient_quota'),
    { 'x-should-retry': 'true' },
    { kind: 'quota', retry: { retryable: false, replay: 'safe' } },
  ],
  [
    'a quota per minute',
    429,
    { error: { code: 'x', message: 'You exceeded your current quota. Please retry in 36.5s.' } },
    {},
    { kind: 'rate_limit', retry: { retryable: true, afterMs: 36_500, replay: 'safe' } },
  ],
  ['a failure', 500, error('server_error', 'server_error'), {}, { kind: 'server' }],
  [
    'a failure that should not be repeated',
    500,
    error(null),
    { 'x-should-retry': 'false' },
    { kind: 'server', retry: { retryable: false, replay: 'safe' } },
  ],
  [
    'a page of a proxy',
    502,
    '<html>nginx</html>',
    {},
    { kind: 'server', retry: { retryable: true, replay: 'safe' } },
  ],
  ['too much to do', 503, error('engine_overloaded', 'server_error'), {}, { kind: 'overloaded' }],
  ['a gateway that waited', 504, '', {}, { kind: 'timeout' }],
]

describe.each(apis)('$api', ({ Client }) => {
  test.each(failures)('%s (%i)', async (_, status, body, headers, expected) => {
    server.handler = answer(body, { status, headers: { 'x-request-id': 'req_1', ...headers } })

    for (const stream of [false, true]) {
      const client = new Client(open())
      const failure = await failureOf(
        stream ? client.stream(clientRequest()) : client.respond(clientRequest()),
      )

      expect(failure).toMatchObject({ status, requestId: 'req_1', provider: 'openai', ...expected })
      expect(isProviderError(failure)).toBe(true)
    }
  })

  test.each([
    ['an empty body', '', 'application/json', 'server', true],
    ['half of it', '{"id":"x","choices":[{"mess', 'application/json', 'server', true],
    ['a web page', '<!doctype html>Sign in', 'text/html', 'server', false],
    ['a number', '42', 'application/json', 'server', true],
    ['JSON of another kind', '{"hello":"world"}', 'application/json', 'server', false],
    [
      'an error',
      JSON.stringify(error('rate_limit_exceeded')),
      'application/json',
      'rate_limit',
      true,
    ],
  ])('a 200 with %s is an error', async (_, body, type, kind, retryable) => {
    server.handler = answer(body, { headers: { 'content-type': type } })

    expect(await failureOf(new Client(open()).respond(clientRequest()))).toMatchObject({
      kind,
      retry: { retryable },
    })
  })

  test.each([
    [
      { message: 'Sorry.', code: 'server_error' },
      { kind: 'server', retry: { retryable: true } },
    ],
    [{ message: 'Sorry.', code: 'rate_limit_exceeded' }, { kind: 'rate_limit' }],
    [
      { message: 'Upstream', code: 502 },
      { kind: 'server', status: 502 },
    ],
    [
      { message: 'Try again in 4 seconds.', code: '429' },
      { kind: 'rate_limit', retry: { afterMs: 4000 } },
    ],
    [
      { message: 'no tool', type: 'invalid_request_error', code: 'tool_use_failed' },
      { kind: 'invalid_request', retry: { retryable: true } },
    ],
    [
      { message: 'bad', type: 'invalid_request_error' },
      { kind: 'invalid_request', retry: { retryable: false } },
    ],
  ])('an error inside a stream: %j', async (report, expected) => {
    for (const body of [
      `data: ${JSON.stringify({ error: report })}\n\n`,
      `event: error\ndata: ${JSON.stringify(report)}\n\n`,
    ]) {
      server.handler = answer(body)

      expect(await failureOf(new Client(open()).stream(clientRequest()))).toMatchObject(expected)
    }
  })

  test.each([
    ['<html>nginx</html>', 'a web page instead of JSON'],
    ['upstream connect error', 'upstream connect error'],
    ['', undefined],
  ])('the cause of a failure with the body %j is %j', async (body, words) => {
    server.handler = answer(body, { status: 502, headers: { 'content-type': 'text/plain' } })

    const failure = (await failureOf(new Client(open()).respond(clientRequest()))) as ProviderError

    expect((failure.cause as Error | undefined)?.message).toBe(words)
  })

  test.each([
    [
      'Google’s list',
      429,
      [
        {
          error: {
            code: 429,
            message: 'You exceeded your current quota. Please retry later.',
            status: 'RESOURCE_EXHAUSTED',
            details: [
              { '@type': 'type.googleapis.com/google.rpc.QuotaFailure' },
              { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' },
            ],
          },
        },
      ],
      'You exceeded your current quota. Please retry later.',
      { kind: 'rate_limit', retry: { afterMs: 34_500 } },
    ],
    [
      'Google’s list, in words',
      429,
      [{ error: { code: 429, message: 'Please retry in 34s.', status: 'RESOURCE_EXHAUSTED' } }],
      'Please retry in 34s.',
      { kind: 'rate_limit', retry: { afterMs: 34_000 } },
    ],
    [
      'the list of FastAPI and vLLM',
      422,
      {
        detail: [
          { loc: ['body', 'messages', 0, 'role'], msg: 'Field required', input: 'a secret' },
          { loc: ['body', 'n'], msg: 'Input should be 1', input: 'a secret' },
        ],
      },
      'body.messages.0.role: Field required; body.n: Input should be 1',
      { kind: 'invalid_request' },
    ],
    [
      'the list of Mistral',
      422,
      {
        object: 'error',
        type: 'invalid_request_error',
        message: { detail: [{ loc: ['body', 'model'], msg: 'Bad model', input: 'a secret' }] },
      },
      'body.model: Bad model',
      { kind: 'invalid_request' },
    ],
    ['a text', 401, { detail: 'No key.' }, 'No key.', { kind: 'auth' }],
    [
      'llama.cpp',
      400,
      {
        error: {
          code: 400,
          message: 'the request exceeds the available context size, try increasing it',
          type: 'exceed_context_size_error',
          n_prompt_tokens: 9000,
          n_ctx: 4096,
        },
      },
      'the request exceeds the available context size, try increasing it',
      { kind: 'context_length', details: { limitTokens: 4096, requestedTokens: 9000 } },
    ],
  ])('the words of %s are kept', async (_, status, body, words, expected) => {
    server.handler = answer(body, { status })

    const client = new Client(open())
    const request = clientRequest('Hi', { transportRetries: 0 })
    const failure = (await failureOf(client.respond(request))) as ProviderError

    expect(failure).toMatchObject(expected)
    expect((failure.cause as Error | undefined)?.message).toBe(words)
  })

  test('a server that does not answer the door is a network error', async () => {
    const gone = await RawServer.start()
    const client = new Client(open({ baseURL: gone.url }))
    await gone.stop()

    expect(await failureOf(client.respond(clientRequest()))).toMatchObject({
      kind: 'network',
      message: 'openai: the connection failed (ECONNREFUSED)',
      details: { code: 'ECONNREFUSED' },
      retry: { retryable: true, replay: 'safe' },
    })
  })

  test('a key that cannot be had is a matter of authorization, and its reason is kept away', async () => {
    const client = new Client(open({ apiKey: () => Promise.reject(new Error(`vault: ${key}`)) }))

    const failure = await failureOf(client.respond(clientRequest()))

    expect(failure).toMatchObject({ kind: 'auth', retry: { retryable: false } })
    expect(inspect(failure, { depth: 9 })).not.toContain(key)
  })

  test('a function’s key that no header can carry is named without the key', async () => {
    const client = new Client(open({ apiKey: async () => `${key}\nx` }))

    for (const work of [client.respond(clientRequest()), client.stream(clientRequest())]) {
      const failure = await failureOf(work)

      expect(failure).toMatchObject({
        kind: 'auth',
        message:
          'openai: the API key holds a character that no header can carry, such as a line break',
        retry: { retryable: false, replay: 'safe' },
      })
      expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain(key)
    }
  })

  test.each([
    [
      'a port that fetch never calls',
      () => open({ baseURL: `http://127.0.0.1:6000/v1?key=${key}` }),
      unsendable,
    ],
  ])(
    '%s that can never be sent is no reason to repeat, and stays unsaid',
    async (_, options, expected) => {
      const client = new Client(options())

      for (const work of [client.respond(clientRequest()), client.stream(clientRequest())]) {
        const failure = await failureOf(work)

        expect(failure).toMatchObject({ ...expected, retry: { retryable: false, replay: 'safe' } })
        expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain(key)
      }
    },
  )

  test('a header of one call that cannot be sent is not repeated', async () => {
    const extraHeaders = { 'x-a': `${key}\n.` }
    const request = clientRequest('Hi', { providerOptions: { openai: { extraHeaders } } })

    const failure = await failureOf(new Client(open()).respond(request))

    expect(failure).toMatchObject(unsendable)
    expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain(key)
  })

  test('a key in the words of a fetch that failed is taken out', async () => {
    const fetch = (): Promise<Response> => Promise.reject(new Error(`proxy refused ${key} at last`))

    const failure = (await failureOf(
      new Client(open({ fetch })).respond(clientRequest()),
    )) as ProviderError

    expect(failure.kind).toBe('network')
    expect((failure.cause as Error).message).toBe('proxy refused [key] at last')
    expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain(key)
  })

  test('the transport retries twice unless told otherwise', async () => {
    server.handler = answer(error(null), { status: 500, headers: { 'retry-after-ms': '1' } })
    const client = new Client(open())
    const counts = []

    for (const transportRetries of [0, 1, undefined]) {
      server.received.length = 0
      await failureOf(client.respond(clientRequest('Hi', { transportRetries })))
      counts.push(server.received.length)
    }

    expect(counts).toEqual([1, 2, 3])
  })

  test('no key, no header and nothing of the conversation is in an error', async () => {
    const prompt = 'My card number is 4111 1111 1111 1111, and my cat is called Ada.'
    const told = `Invalid value: '${prompt.slice(3, 40)}'. Your key ${key} (or sk-abc123xyz, demo-***-key) in Bearer abc is wrong for Ada`
    server.handler = answer(error('invalid_value', 'invalid_request_error', told), {
      status: 400,
      headers: { 'set-cookie': 'session=secret' },
    })
    const messages = [
      message('user', prompt),
      message('assistant', [{ type: 'text', text: 'Ada' }]),
    ]

    const failure = (await failureOf(
      new Client(open()).respond(clientRequest(messages)),
    )) as ProviderError

    const shown = inspect(failure, { depth: 9, showHidden: true })
    for (const secret of ['4111 1111', key, 'sk-abc', 'demo-', 'Bearer abc', 'session=secret']) {
      expect(shown).not.toContain(secret)
    }
    expect(failure.message).toBe('openai: the request was refused (400, invalid_value)')
    expect((failure.cause as Error).message).toMatch(/^Invalid value: '\[…\]'. Your key \[key\] /)
  })
})

test('a conversation that OpenAI keeps and tools that act make a repeat unsafe', async () => {
  const client = new OpenAIChatClient(open())
  server.handler = answer(error(null), { status: 500 })
  const mcp = {
    type: 'hosted' as const,
    name: 'mcp',
    definition: { type: 'mcp', server_label: 'x' },
  }
  const kept = { providerOptions: { openai: { conversation: 'conv_1' } } }
  const search = { type: 'hosted' as const, name: 'web_search', definition: {} }

  const advice = []
  for (const options of [kept, { tools: [mcp] }, { tools: [search] }, {}]) {
    const failure = (await failureOf(client.respond(clientRequest('Hi', options)))) as ProviderError
    advice.push(failure.retry.replay)
  }
  server.handler = answer(error(null), { status: 429 })
  const limited = (await failureOf(client.respond(clientRequest('Hi', kept)))) as ProviderError

  expect(advice).toEqual(['unsafe', 'unsafe', 'safe', 'safe'])
  expect(limited.retry.replay).toBe('safe')
})
