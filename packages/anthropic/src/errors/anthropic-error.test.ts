import type { ProviderError } from '@lamella/core'
import { isProviderError } from '@lamella/core'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { clientRequest, collect, failureOf } from '@lamella/testing'
import { messagesRecording, messagesSse } from '../../fixtures/messages-recording.ts'
import type { Handler } from '@lamella/testing/raw-server'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { AnthropicChatClient } from '../anthropic-chat-client.ts'

const key = 'sk-ant-api03-verysecretkey'
let server: RawServer
let client: AnthropicChatClient
beforeAll(async () => {
  server = await RawServer.start()
  client = new AnthropicChatClient({ apiKey: key, baseURL: server.url, model: 'm' })
})
afterAll(() => server.stop())
afterEach(() => {
  vi.useRealTimers()
})

const report = (type: string, message: string, more: object = {}): object => ({
  type: 'error',
  error: { type, message, ...more },
  request_id: 'req_body',
})

/** Returns the failures of both modes, which are the same. */
async function failures(handler: Handler): Promise<readonly ProviderError[]> {
  server.handler = handler
  const errors = [
    await failureOf(client.respond(clientRequest('My secret plan is to sleep.'))),
    await failureOf(client.stream(clientRequest('My secret plan is to sleep.'))),
  ]
  return errors.map((error) => {
    if (!isProviderError(error)) throw error
    return error
  })
}

describe('a status', () => {
  test.each<[number, object | string, string, boolean]>([
    [400, report('invalid_request_error', 'No.'), 'invalid_request', false],
    [
      400,
      report('invalid_request_error', 'prompt is too long: 215000 tokens > 200000 maximum'),
      'context_length',
      false,
    ],
    [
      400,
      report('invalid_request_error', 'input length and `max_tokens` exceed context limit: 1 + 2'),
      'context_length',
      false,
    ],
    [
      400,
      report('invalid_request_error', 'Your credit balance is too low to access the API.'),
      'quota',
      false,
    ],
    [
      400,
      report('invalid_request_error', 'You have reached your specified API usage limits.'),
      'quota',
      false,
    ],
    [
      400,
      report('invalid_request_error', 'Output blocked by content filtering policy'),
      'content_filter',
      false,
    ],
    [401, report('authentication_error', 'invalid bearer token'), 'auth', false],
    [402, report('billing_error', 'Pay.'), 'quota', false],
    [403, report('permission_error', 'No.'), 'auth', false],
    [404, report('not_found_error', 'model: m'), 'not_found', false],
    [408, report('timeout_error', 'Slow.'), 'timeout', true],
    [409, report('conflict_error', 'Again.'), 'server', true],
    [412, report('invalid_request_error', 'No.'), 'invalid_request', false],
    [413, report('request_too_large', 'Too many bytes.'), 'context_length', false],
    [422, report('invalid_request_error', 'No.'), 'invalid_request', false],
    [429, report('rate_limit_error', 'Slow down.'), 'rate_limit', true],
    [
      429,
      report('rate_limit_error', 'Extra usage is required for long context requests.'),
      'quota',
      false,
    ],
    [
      429,
      report('rate_limit_error', 'No.', {
        details: { error_code: 'enforced_spend_limit_reached' },
      }),
      'quota',
      false,
    ],
    [431, '', 'invalid_request', false],
    [499, '', 'network', true],
    [500, report('api_error', 'Oh.'), 'server', true],
    [500, report('overloaded_error', 'Overloaded'), 'overloaded', true],
    [501, '', 'server', false],
    [502, '<html>Bad gateway</html>', 'server', true],
    [503, '', 'overloaded', true],
    [504, report('timeout_error', 'Slow.'), 'timeout', true],
    [529, report('overloaded_error', 'Overloaded'), 'overloaded', true],
    [520, 'cloud', 'server', true],
  ])('%i %j is %s', async (status, body, kind, retryable) => {
    const headers = { 'request-id': 'req_header' }

    for (const error of await failures(answer(body, { status, headers }))) {
      expect(error).toMatchObject({
        kind,
        status,
        provider: 'anthropic',
        requestId: 'req_header',
        retry: { retryable },
      })
    }
  })

  test('has its type, its code and the numbers of tokens as details, and the id of the body', async () => {
    const words = 'prompt is too long: 215000 tokens > 200000 maximum'
    const body = report('invalid_request_error', words, { details: { error_code: 'too_long' } })

    const [error] = await failures(answer(body, { status: 400 }))

    expect(error!.message).toBe('anthropic: the input is too long for the model (400, too_long)')
    expect(error!.requestId).toBe('req_body')
    expect(error!.details).toEqual({
      type: 'invalid_request_error',
      code: 'too_long',
      limitTokens: 200_000,
      requestedTokens: 215_000,
    })
  })

  test.each([
    [
      { detail: [{ loc: ['body', 'model'], msg: 'Bad model', input: 'x' }] },
      'body.model: Bad model',
    ],
    [{ error: { type: 'invalid_request_error', message: { detail: 'No.' } } }, 'No.'],
    [[{ error: { message: 'In a list.' } }], 'In a list.'],
  ])('keeps the words of the report %j', async (body, words) => {
    for (const error of await failures(answer(body, { status: 400 }))) {
      expect((error.cause as Error | undefined)?.message).toBe(words)
    }
  })

  test('says whether to come back, except for a quota', async () => {
    const headers = { 'x-should-retry': 'true' }

    const [refused] = await failures(answer(report('a', 'b'), { status: 400, headers }))
    const [unpaid] = await failures(answer(report('billing_error', 'b'), { status: 402, headers }))

    expect([refused!.retry.retryable, unpaid!.retry.retryable]).toEqual([true, false])
  })
})

describe('when to come back', () => {
  const now = '2026-11-21T12:00:00Z'

  test.each<[Record<string, string>, number | undefined]>([
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': '3600' }, 3_600_000],
    [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
    [{ 'retry-after': 'Sat, 21 Nov 2026 12:00:09 GMT' }, 9000],
    [{ 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }, 0],
    [{ 'retry-after': '-1' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [
      {
        'anthropic-ratelimit-requests-remaining': '0',
        'anthropic-ratelimit-requests-reset': '2026-11-21T12:00:18Z',
        'anthropic-ratelimit-input-tokens-remaining': '3',
        'anthropic-ratelimit-input-tokens-reset': '2026-11-21T12:05:00Z',
      },
      18_000,
    ],
    [
      {
        'anthropic-ratelimit-input-tokens-remaining': '0',
        'anthropic-ratelimit-input-tokens-reset': '2026-11-21T12:00:30Z',
        'anthropic-ratelimit-output-tokens-remaining': '0',
        'anthropic-ratelimit-output-tokens-reset': '2026-11-21T12:00:40Z',
      },
      40_000,
    ],
    [
      {
        'anthropic-ratelimit-unified-status': 'rejected',
        'anthropic-ratelimit-unified-reset': `${Date.parse(now) / 1000 + 60}`,
      },
      60_000,
    ],
    [{ 'anthropic-ratelimit-requests-reset': '2026-11-21T12:00:18Z' }, undefined],
  ])('%j', async (headers, afterMs) => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date(now) })

    const [error] = await failures(
      answer(report('rate_limit_error', 'No.'), { status: 429, headers }),
    )

    expect(error!.retry.afterMs).toBe(afterMs)
  })
})

describe('an answer that is none', () => {
  test.each<[string, string, string, string, boolean]>([
    ['a web page', 'text/html', '<html>Sign in</html>', 'server', false],
    [
      'an error with status 200',
      'application/json',
      JSON.stringify(report('overloaded_error', 'x')),
      'overloaded',
      true,
    ],
    ['other JSON', 'application/json', '{"ok":true}', 'server', false],
    ['nothing', 'application/json', '', 'server', true],
    ['cut JSON', 'application/json', '{"id":"msg_1","content":[', 'server', true],
  ])('%s fails', async (_what, type, body, kind, retryable) => {
    const handler = answer(body, { headers: { 'content-type': type } })

    for (const error of await failures(handler)) {
      expect(error).toMatchObject({ kind, retry: { retryable } })
    }
  })

  test.each([
    ['', 'truncated_stream'],
    ['hello', 'server'],
    ['event: ping\ndata: {"type": "ping"}\n\n', 'truncated_stream'],
  ])('a stream of %j fails', async (body, kind) => {
    server.handler = answer(body)

    expect(await failureOf(client.stream(clientRequest()))).toMatchObject({ kind })
  })
})

describe('an error inside the stream', () => {
  const begun = messagesRecording([{ type: 'text', text: 'So far.', citations: null }], {
    size: 99,
  })
  const start = begun.sse.slice(0, begun.sse.indexOf('event: content_block_stop'))

  test.each([
    ['overloaded_error', 'overloaded', true],
    ['rate_limit_error', 'rate_limit', true],
    ['api_error', 'server', true],
    ['timeout_error', 'timeout', true],
    ['billing_error', 'quota', false],
    ['authentication_error', 'auth', false],
    ['invalid_request_error', 'invalid_request', false],
    ['strange_error', 'server', true],
  ])('%s is %s, with what had arrived', async (type, kind, retryable) => {
    const headers = { 'request-id': 'req_header' }
    server.handler = answer(start + messagesSse([report(type, 'No.')] as never), { headers })

    const error = await failureOf(client.stream(clientRequest()))

    expect(error).toMatchObject({
      kind,
      status: undefined,
      retry: { retryable },
      requestId: 'req_header',
      details: { type },
      partial: { text: 'So far.', id: 'msg_1', usage: { inputTokens: 20, cachedInputTokens: 8 } },
    })
  })
})

describe('secrets', () => {
  test('neither the key nor what the conversation says is in an error', async () => {
    const words = `invalid ${key} Bearer abc sk-ant-other123 in: My secret plan is to sleep.`
    const body = report('invalid_request_error', words)

    for (const error of await failures(answer(body, { status: 400 }))) {
      const shown = `${error.message} ${(error.cause as Error).message} ${JSON.stringify(error)}`
      expect(shown).not.toMatch(/verysecret|Bearer abc|other123|secret plan/)
      expect((error.cause as Error).message).toContain('invalid [key]')
    }
  })

  test('a key of a function is not in an error either', async () => {
    const apiKey = async (): Promise<string> => 'tokenfromvault'
    const asking = new AnthropicChatClient({ apiKey, baseURL: server.url, model: 'm' })
    server.handler = answer(report('authentication_error', 'bad tokenfromvault'), { status: 401 })

    const error = (await failureOf(asking.respond(clientRequest()))) as ProviderError

    expect((error.cause as Error).message).toBe('bad [key]')
  })
})

describe('the network', () => {
  test('a refused connection was never used, so calling again is safe', async () => {
    const gone = await RawServer.start()
    const { url } = gone
    await gone.stop()
    const lost = new AnthropicChatClient({ apiKey: 'k', baseURL: url, model: 'm' })

    const error = await failureOf(lost.respond(clientRequest()))

    expect(error).toMatchObject({
      kind: 'network',
      retry: { retryable: true, replay: 'safe' },
      details: { code: 'ECONNREFUSED' },
    })
  })

  test('no headers in time is a timeout', async () => {
    server.handler = () => {}
    const hasty = new AnthropicChatClient({
      apiKey: 'k',
      baseURL: server.url,
      model: 'm',
      timeoutMs: 30,
    })

    expect(await failureOf(hasty.respond(clientRequest()))).toMatchObject({ kind: 'timeout' })
  })

  test.each([0, 1])('the SDK repeats as often as it may: %i', async (transportRetries) => {
    server.handler = answer(report('api_error', 'Oh.'), {
      status: 500,
      headers: { 'retry-after-ms': '1' },
    })

    // A request that an earlier test has left may arrive now.
    const text = `${transportRetries} times more.`
    await failureOf(client.respond(clientRequest(text, { transportRetries })))

    const own = server.received.filter(({ body }) => JSON.stringify(body).includes(text))
    expect(own).toHaveLength(1 + transportRetries)
  })

  test('the SDK does not wait for more than a minute', async () => {
    const before = server.received.length
    server.handler = answer(report('rate_limit_error', 'Later.'), {
      status: 429,
      headers: { 'retry-after': '3600', 'request-id': 'req_header' },
    })

    const error = await failureOf(client.respond(clientRequest('Hi.', { transportRetries: 2 })))

    expect(error).toMatchObject({
      kind: 'rate_limit',
      status: 429,
      requestId: 'req_header',
      details: { type: 'rate_limit_error' },
      retry: { retryable: true, afterMs: 3_600_000 },
    })
    expect(server.received.length - before).toBe(1)
  })

  test('tools that act make it unsafe to call again', async () => {
    server.handler = answer(report('api_error', 'Oh.'), { status: 500 })
    const options = { providerOptions: { anthropic: { extraBody: { mcp_servers: [{}] } } } }

    expect(await failureOf(client.respond(clientRequest('Hi.', options)))).toMatchObject({
      retry: { replay: 'unsafe' },
    })
    expect(await failureOf(client.respond(clientRequest('Hi.')))).toMatchObject({
      retry: { replay: 'safe' },
    })
  })
})

test('a whole stream has no error', async () => {
  server.handler = answer(messagesRecording([]).sse)

  expect(await collect(client.stream(clientRequest()))).not.toEqual([])
})
