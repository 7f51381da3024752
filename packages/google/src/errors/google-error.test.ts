import type { ProviderError } from '@lamella/core'
import { clientRequest, collect, failureOf } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import { googleSse } from '../../fixtures/google-recording.ts'
import { GoogleChatClient } from '../google-chat-client.ts'
import { googleContentFilter } from '../safety/google-content-filter.ts'

type Wire = Readonly<Record<string, unknown>>

/** The failure of a call that is answered in this way. */
async function failureFor(status: number, body: unknown, headers: Record<string, string> = {}) {
  const client = clientOf(() => Response.json(body, { status, headers }))
  return (await failureOf(
    client.respond(clientRequest('Hi', { transportRetries: 0 })),
  )) as ProviderError
}

function clientOf(answer: () => Response): GoogleChatClient {
  return new GoogleChatClient({
    apiKey: 'secret-key',
    model: 'gemini-3-flash',
    fetch: async () => answer(),
  })
}

function report(
  code: number,
  status: string,
  message = 'No.',
  details: readonly Wire[] = [],
): Wire {
  return { error: { code, message, status, details } }
}

const quota = (quotaId: string): Wire => ({
  '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
  violations: [{ quotaId }],
})
const wait = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' }

describe('failures by kind', () => {
  test.each<[string, number, Wire, Wire]>([
    ['a wrong request', 400, report(400, 'INVALID_ARGUMENT'), { kind: 'invalid_request' }],
    [
      'a wrong key',
      400,
      report(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
        { reason: 'API_KEY_INVALID' },
      ]),
      { kind: 'auth' },
    ],
    [
      'an input that is too long',
      400,
      report(
        400,
        'INVALID_ARGUMENT',
        'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
      ),
      { kind: 'context_length', details: { limitTokens: 1_048_576, requestedTokens: 1_200_000 } },
    ],
    ['a key without a right', 403, report(403, 'PERMISSION_DENIED'), { kind: 'auth' }],
    [
      'a project without billing',
      403,
      report(403, 'PERMISSION_DENIED', 'Billing.', [{ reason: 'BILLING_DISABLED' }]),
      { kind: 'quota' },
    ],
    ['a model that there is not', 404, report(404, 'NOT_FOUND'), { kind: 'not_found' }],
    [
      'a limit of a minute',
      429,
      report(
        429,
        'RESOURCE_EXHAUSTED',
        'You exceeded your current quota, please check your plan and billing details.',
        [quota('GenerateRequestsPerMinutePerProjectPerModel'), wait],
      ),
      {
        kind: 'rate_limit',
        retry: { retryable: true, afterMs: 34_500 },
        details: { quota: 'GenerateRequestsPerMinutePerProjectPerModel' },
      },
    ],
    [
      'a limit of a day',
      429,
      report(429, 'RESOURCE_EXHAUSTED', 'No.', [
        quota('GenerateRequestsPerDayPerProjectPerModel'),
        wait,
      ]),
      { kind: 'quota', retry: { retryable: false } },
    ],
    [
      'a model outside of the plan',
      429,
      report(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded for metric: x, limit: 0'),
      { kind: 'quota' },
    ],
    ['a call that was given up', 499, report(499, 'CANCELLED'), { kind: 'network' }],
    ['a fault', 500, report(500, 'INTERNAL'), { kind: 'server', retry: { retryable: true } }],
    ['too much work', 503, report(503, 'UNAVAILABLE'), { kind: 'overloaded' }],
    ['a deadline', 504, report(504, 'DEADLINE_EXCEEDED'), { kind: 'timeout' }],
    [
      'a report in a list',
      429,
      [report(429, 'RESOURCE_EXHAUSTED')] as unknown as Wire,
      { kind: 'rate_limit' },
    ],
    ['a status alone', 502, {}, { kind: 'server' }],
  ])('%s', async (_name, status, body, expected) => {
    const error = await failureFor(status, body)

    expect(error).toMatchObject({ provider: 'google', status, ...expected })
    expect(JSON.stringify([error.message, String(error.cause)])).not.toContain('secret-key')
  })
})

test('the words of Google are the cause, and its name for the failure is in the message', async () => {
  const error = await failureFor(
    400,
    report(400, 'FAILED_PRECONDITION', 'User location is not supported.'),
  )

  expect(error.message).toBe('google: the request was refused (400, FAILED_PRECONDITION)')
  expect(error.cause).toMatchObject({ message: 'User location is not supported.' })
})

describe('a blocked prompt', () => {
  const body = {
    promptFeedback: {
      blockReason: 'PROHIBITED_CONTENT',
      safetyRatings: [{ category: 'HARM_CATEGORY_HATE_SPEECH', probability: 'LOW' }],
    },
    usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
  }
  const verdict = {
    filtered: true,
    prompt: {
      hate_speech: { filtered: false, severity: 'low' },
      prohibited_content: { filtered: true, detected: true },
    },
  }

  test.each(['plain', 'streamed'])(
    'is a failure with its verdict and its usage, %s',
    async (mode) => {
      const client = clientOf(() =>
        mode === 'plain'
          ? Response.json(body)
          : new Response(googleSse([body]), { headers: { 'content-type': 'text/event-stream' } }),
      )

      const error = await failureOf(
        mode === 'plain'
          ? client.respond(clientRequest())
          : collect(client.stream(clientRequest())),
      )

      expect(error).toMatchObject({ kind: 'content_filter', retry: { retryable: false } })
      expect(googleContentFilter(error)).toEqual(verdict)
      expect((error as ProviderError).partial?.usage.inputTokens).toBe(9)
    },
  )
})

test.each([
  [
    'SAFETY',
    [{ category: 'HARM_CATEGORY_HARASSMENT', probability: 'HIGH', blocked: true }],
    { harassment: { filtered: true, severity: 'high' } },
  ],
  ['SAFETY', [], { safety: { filtered: true, detected: true } }],
  ['RECITATION', undefined, { recitation: { filtered: true, detected: true } }],
  ['BLOCKLIST', undefined, { blocklist: { filtered: true, detected: true } }],
  ['PROHIBITED_CONTENT', undefined, { prohibited_content: { filtered: true, detected: true } }],
  ['SPII', undefined, { spii: { filtered: true, detected: true } }],
  ['MODEL_ARMOR', undefined, { model_armor: { filtered: true, detected: true } }],
  ['IMAGE_SAFETY', undefined, { image_safety: { filtered: true, detected: true } }],
  [
    'IMAGE_PROHIBITED_CONTENT',
    undefined,
    { image_prohibited_content: { filtered: true, detected: true } },
  ],
  ['IMAGE_RECITATION', undefined, { image_recitation: { filtered: true, detected: true } }],
])(
  'an answer that ends with %s is filtered, and says in which category',
  async (finishReason, safetyRatings, completion) => {
    const candidate = { content: { parts: [{ text: 'Well' }] }, finishReason, safetyRatings }

    const response = await clientOf(() => Response.json({ candidates: [candidate] })).respond(
      clientRequest(),
    )

    expect(response).toMatchObject({
      text: 'Well',
      finishReason: 'content-filter',
      metadata: { finishReason },
    })
    expect(googleContentFilter(response)).toEqual({ filtered: true, completion })
  },
)
