import { inspect } from 'node:util'
import { message } from '@lamella/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientRequest, failureOf } from '@lamella/testing'
import type { Handler } from '@lamella/testing/raw-server'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { AzureOpenAIChatClient } from './azure-openai-chat-client.ts'
import type { AzureOpenAIClientOptions } from './sdk-sender.ts'

const key = 'azure-key-0123456789abcdef'
let server: RawServer
beforeAll(async () => {
  server = await RawServer.start()
})
afterAll(() => server.stop())

function client(options: AzureOpenAIClientOptions = {}): AzureOpenAIChatClient {
  const own = { endpoint: server.url, apiKey: key, deployment: 'd' }
  return new AzureOpenAIChatClient({ ...own, ...options })
}

const busy =
  'Requests to the ChatCompletions_Create Operation have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 22 seconds.'

const faults: readonly [string, Handler, object][] = [
  [
    'a key of another resource (401, the gateway’s dialect)',
    answer(
      {
        statusCode: 401,
        message: 'Unauthorized. Access token is missing, invalid, audience is incorrect.',
      },
      { status: 401 },
    ),
    { kind: 'auth', status: 401, retry: { retryable: false } },
  ],
  [
    'a role that is missing (401 with a code)',
    answer(
      {
        error: {
          code: 'PermissionDenied',
          message: 'The principal lacks the required data action.',
        },
      },
      { status: 401 },
    ),
    { kind: 'auth', status: 401, details: { code: 'PermissionDenied' } },
  ],
  [
    'a firewall (403)',
    answer(
      { error: { code: '403', message: 'Access denied due to Virtual Network/Firewall rules.' } },
      { status: 403 },
    ),
    { kind: 'auth', status: 403 },
  ],
  [
    'a gateway’s quota (403)',
    answer(
      {
        statusCode: 403,
        message: 'Out of call volume quota. Quota will be replenished in 12:34:56.',
      },
      { status: 403 },
    ),
    { kind: 'quota', status: 403, retry: { retryable: false } },
  ],
  [
    'a deployment that is not there (404)',
    answer(
      {
        error: {
          code: 'DeploymentNotFound',
          message: 'The API deployment for this resource does not exist.',
        },
      },
      { status: 404, headers: { 'apim-request-id': 'apim-1' } },
    ),
    {
      kind: 'not_found',
      status: 404,
      details: { code: 'DeploymentNotFound' },
      requestId: 'apim-1',
    },
  ],
  [
    'a version that is not there (404)',
    answer({ error: { code: '404', message: 'Resource not found' } }, { status: 404 }),
    { kind: 'not_found', status: 404 },
  ],
  [
    'an argument that the version does not know (400)',
    answer(
      {
        error: {
          message: 'Unrecognized request argument supplied: reasoning_effort',
          type: 'invalid_request_error',
          param: null,
          code: null,
        },
      },
      { status: 400 },
    ),
    { kind: 'invalid_request', status: 400, retry: { retryable: false } },
  ],
  [
    'a prompt that is too long (400)',
    answer(
      {
        error: {
          message:
            'This model’s maximum context length is 8192 tokens, however you requested 9000 tokens.',
          type: 'invalid_request_error',
          param: 'messages',
          code: 'context_length_exceeded',
        },
      },
      { status: 400 },
    ),
    { kind: 'context_length', details: { limitTokens: 8192, requestedTokens: 9000 } },
  ],
  [
    'a limit, with headers (429)',
    answer(
      { error: { code: '429', message: busy } },
      {
        status: 429,
        headers: { 'retry-after-ms': '1250', 'retry-after': '2', 'x-request-id': 'req-1' },
      },
    ),
    {
      kind: 'rate_limit',
      retry: { retryable: true, afterMs: 1250, replay: 'safe' },
      requestId: 'req-1',
    },
  ],
  [
    'a limit, by its reset header in seconds (429)',
    answer(
      { error: { code: '429', message: 'Slow down.' } },
      {
        status: 429,
        headers: { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '7' },
      },
    ),
    { kind: 'rate_limit', retry: { afterMs: 7000 } },
  ],
  [
    'a limit, by its words (429, the gateway’s dialect)',
    answer(
      { statusCode: 429, message: 'Rate limit is exceeded. Try again in 9 seconds.' },
      { status: 429 },
    ),
    { kind: 'rate_limit', retry: { afterMs: 9000 } },
  ],
  [
    'no capacity (503)',
    answer(
      {
        error: {
          code: 'ServiceUnavailable',
          message: 'The service is temporarily unable to process your request.',
        },
      },
      { status: 503 },
    ),
    { kind: 'overloaded', retry: { retryable: true } },
  ],
  [
    'a request that took too long (408)',
    answer({ error: { code: 'Timeout', message: 'The operation was timeout.' } }, { status: 408 }),
    { kind: 'timeout', retry: { retryable: true } },
  ],
  [
    'an inner failure (500)',
    answer(
      { error: { message: 'The server had an error.', type: 'server_error', code: null } },
      { status: 500 },
    ),
    { kind: 'server', retry: { retryable: true } },
  ],
  [
    'a conflict (409)',
    answer({ error: { code: 'Conflict', message: 'Busy.' } }, { status: 409 }),
    { kind: 'server', status: 409, retry: { retryable: true } },
  ],
  [
    'a body that is too large (413)',
    answer('<html>413</html>', { status: 413, headers: { 'content-type': 'text/html' } }),
    { kind: 'invalid_request', status: 413, retry: { retryable: false } },
  ],
  [
    'a page of a proxy (502)',
    answer('<html>nginx</html>', { status: 502, headers: { 'content-type': 'text/html' } }),
    { kind: 'server', status: 502, retry: { retryable: true } },
  ],
  [
    'too much to do (529)',
    answer({ error: { code: '529', message: 'Overloaded.' } }, { status: 529 }),
    { kind: 'overloaded', status: 529, retry: { retryable: true } },
  ],
  [
    'half of a JSON (200)',
    answer('{"id":', { headers: { 'content-type': 'application/json' } }),
    { kind: 'server', retry: { retryable: true } },
  ],
  [
    'a web page (200)',
    answer('<!doctype html><p>Sign in', { headers: { 'content-type': 'text/html' } }),
    {
      kind: 'server',
      retry: { retryable: false },
      message: expect.stringContaining('is `endpoint` right?'),
    },
  ],
  [
    'nothing (200)',
    (reply) => void reply.end(),
    { kind: expect.stringMatching(/server|truncated/) },
  ],
  [
    'a connection that is cut',
    (reply) => void reply.destroy(),
    { kind: 'network', retry: { retryable: true } },
  ],
]

for (const api of ['chat', 'responses'] as const) {
  describe(`${api}: each fault has its kind, plain and streamed`, () => {
    test.for(faults)('%s', async ([, handler, expected]) => {
      server.handler = handler
      const subject = client({ api })
      const prompt = 'My card number is 4111 1111 1111 1111.'
      const request = clientRequest([message('user', prompt)])

      for (const work of [subject.respond(request), subject.stream(request)]) {
        const failure = await failureOf(work)

        expect(failure).toMatchObject({
          name: 'ProviderError',
          provider: 'azure-openai',
          ...expected,
        })
        expect(inspect(failure, { depth: 9, showHidden: true })).not.toMatch(/azure-key|4111 1111/)
      }
    })
  })
}

test.each(['chat', 'responses'] as const)('%s: a server that is not there', async (api) => {
  const gone = await RawServer.start()
  const endpoint = gone.url
  await gone.stop()
  const subject = client({ api, endpoint })

  const failures = [
    await failureOf(subject.respond(clientRequest())),
    await failureOf(subject.stream(clientRequest())),
  ]

  for (const failure of failures) {
    expect(failure).toMatchObject({ kind: 'network', retry: { retryable: true, replay: 'safe' } })
  }
})

test('no headers in time, and a stream that stalls, are timeouts', async () => {
  server.handler = () => {}
  const slow = client({ timeoutMs: 50, firstUpdateTimeoutMs: 60 })

  const failures = [
    await failureOf(slow.respond(clientRequest())),
    await failureOf(client({ firstUpdateTimeoutMs: 50 }).stream(clientRequest())),
  ]

  for (const failure of failures) expect(failure).toMatchObject({ kind: 'timeout' })
})

test('an abort rejects with its reason and closes the request', async () => {
  let closed: () => void
  const isClosed = new Promise<void>((resolve) => (closed = resolve))
  const reason = new Error('enough')
  const controller = new AbortController()
  server.handler = (reply) => {
    reply.on('close', () => closed())
    controller.abort(reason)
  }

  const work = client().respond(clientRequest('Hi', {}, { signal: controller.signal }))

  expect(await failureOf(work)).toBe(reason)
  await isClosed
})

test('the SDK repeats as often as the call says', async () => {
  server.handler = answer(
    { error: { code: '500' } },
    { status: 500, headers: { 'retry-after-ms': '1' } },
  )
  const counts = []
  for (const transportRetries of [0, 2]) {
    server.received.length = 0
    await failureOf(client().respond(clientRequest('Hi', { transportRetries })))
    counts.push(server.received.length)
  }

  expect(counts).toEqual([1, 3])
})
