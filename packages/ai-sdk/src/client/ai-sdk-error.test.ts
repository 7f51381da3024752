import { isProviderError, MiddlewareTermination } from '@lamella/core'
import { runModes } from '@lamella/testing'
import { APICallError, LoadAPIKeyError, NoSuchModelError } from '@ai-sdk/provider'
import { APICallError as APICallError3 } from '@ai-sdk/provider-v3'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { MockStep } from '../../fixtures/ai-lines.ts'
import { mockModel } from '../../fixtures/ai-lines.ts'
import { aiSdk } from '../index.ts'

const secret = 'the words that the user has said'

function apiError(more: Partial<ConstructorParameters<typeof APICallError>[0]>): APICallError {
  const url = 'https://example.com'
  return new APICallError({ message: 'Bad', url, requestBodyValues: { secret }, ...more })
}

const body = (error: object): string => JSON.stringify({ error })

const failures: readonly (readonly [what: string, error: unknown, expected: object])[] = [
  [
    'a limit, with the time to wait in milliseconds',
    apiError({ statusCode: 429, responseHeaders: { 'Retry-After-Ms': '1500' } }),
    { kind: 'rate_limit', status: 429, retry: { retryable: true, afterMs: 1500, replay: 'safe' } },
  ],
  [
    'a limit of Google, with the time to wait in its body',
    apiError({
      statusCode: 429,
      responseBody: body({
        status: 'RESOURCE_EXHAUSTED',
        message: 'You exceeded your current quota. Please retry in 34.5s.',
        details: [{ retryDelay: '34.5s' }],
      }),
    }),
    { kind: 'rate_limit', retry: { afterMs: 34_500 } },
  ],
  [
    'a quota that is used up',
    apiError({
      statusCode: 429,
      responseBody: body({ code: 'insufficient_quota', message: 'No.' }),
    }),
    { kind: 'quota', retry: { retryable: false } },
  ],
  [
    'an input that is too long',
    apiError({ statusCode: 400, responseBody: body({ message: 'prompt is too long: 9 tokens' }) }),
    { kind: 'context_length', retry: { retryable: false } },
  ],
  [
    'the content filter',
    apiError({ statusCode: 400, data: { error: { code: 'content_filter', message: 'No.' } } }),
    { kind: 'content_filter', details: { code: 'content_filter' } },
  ],
  ['a key that does not fit', apiError({ statusCode: 403 }), { kind: 'auth', status: 403 }],
  ['a busy server', apiError({ statusCode: 529 }), { kind: 'overloaded' }],
  [
    'a server that cannot be reached',
    apiError({ message: 'Cannot connect to API', isRetryable: true }),
    { kind: 'network', retry: { retryable: true } },
  ],
  [
    'an answer that is a web page',
    apiError({ statusCode: 200, responseBody: '<html>', message: 'Invalid JSON response' }),
    { kind: 'server' },
  ],
  [
    'an error of the other line',
    new APICallError3({ message: 'x', url: 'x', requestBodyValues: {}, statusCode: 503 }),
    { kind: 'overloaded' },
  ],
  ['a key that is missing', new LoadAPIKeyError({ message: 'x' }), { kind: 'auth' }],
  [
    'a model that is unknown',
    new NoSuchModelError({ modelId: 'x', modelType: 'languageModel' }),
    { kind: 'not_found' },
  ],
]

const cases = runModes.map((mode) => ({ mode }))

describe.each(cases)('$mode', ({ mode }) => {
  const failureOf = async (...steps: MockStep[]): Promise<unknown> => {
    const client = aiSdk(mockModel('v4', steps).model)
    const asked =
      mode === 'plain'
        ? client.getResponse(secret)
        : client.getResponse(secret, { stream: true }).finalResponse()
    return asked.then(
      () => 'no failure',
      (error: unknown) => error,
    )
  }

  test.each(failures)('%s', async (_, thrown, expected) => {
    const error = await failureOf({ error: thrown })

    expect(isProviderError(error)).toBe(true)
    expect(error).toMatchObject({ provider: 'mock.chat', ...expected })
  })

  test('nothing of the conversation is in an error', async () => {
    const message = `Cannot say "${secret}", nor Bearer abc123`
    const thrown = apiError({ statusCode: 400, message, responseBody: body({ message }) })

    const error = await failureOf({ error: thrown })

    expect(inspect(error, { depth: 9 })).not.toContain(secret)
    expect(inspect(error, { depth: 9 })).not.toContain('abc123')
    expect((error as Error).cause).toMatchObject({ message: 'Cannot say "[…]", nor Bearer [key]' })
  })

  test("what is not the model's stays as it is", async () => {
    const bug = new RangeError('a bug')
    const ended = new MiddlewareTermination('over')

    expect(await failureOf({ error: bug })).toBe(bug)
    expect(await failureOf({ error: ended })).toBe(ended)
  })

  test('a hosted tool makes a failure unsafe to repeat', async () => {
    const { model } = mockModel('v4', [{ error: apiError({ statusCode: 500 }) }])
    const tools = [{ type: 'hosted', name: 'buy', definition: { id: 'mock.buy' } }] as const
    const client = aiSdk(model)
    const asked =
      mode === 'plain'
        ? client.getResponse('Hi', { tools })
        : client.getResponse('Hi', { tools, stream: true }).finalResponse()

    await expect(asked).rejects.toMatchObject({ retry: { retryable: true, replay: 'unsafe' } })
  })
})

describe('streams', () => {
  const begun = { content: [{ type: 'text', text: 'The answ' }] }
  const cut = { retry: { retryable: true }, partial: { text: 'The answ' } }

  test.each([
    ['v4', 'says that it was interrupted', { unified: 'interrupted', raw: undefined }],
    ['v3', 'ends for no reason of its provider', { unified: 'other', raw: undefined }],
    ['v2', 'ends for a reason that nobody knows', 'unknown'],
  ] as const)('of %s that %s is truncated', async (version, _, finishReason) => {
    const rest = [{ type: 'finish', finishReason, usage: {} }]
    const client = aiSdk(mockModel(version, [{ ...begun, rest }]).model)

    const outcome = client.getResponse('Hi', { stream: true }).finalResponse()

    await expect(outcome).rejects.toMatchObject({ kind: 'truncated_stream', ...cut })
  })

  test('without a finish are truncated', async () => {
    const client = aiSdk(mockModel('v4', [{ ...begun, rest: [] }]).model)

    await expect(client.getResponse('Hi', { stream: true }).finalResponse()).rejects.toMatchObject({
      kind: 'truncated_stream',
      ...cut,
    })
  })

  test('fail with the first error that they report', async () => {
    const rest = [
      { type: 'error', error: { type: 'error', error: { type: 'overloaded_error' } } },
      { type: 'error', error: new Error('second') },
      { type: 'text-delta', id: 'x', delta: 'never read' },
    ]
    const client = aiSdk(mockModel('v4', [{ ...begun, rest }]).model)

    await expect(client.getResponse('Hi', { stream: true }).finalResponse()).rejects.toMatchObject({
      kind: 'overloaded',
      partial: { text: 'The answ' },
    })
  })

  test('whose socket is lost are truncated, whatever their status says', async () => {
    const lost = Object.assign(new Error('terminated'), { code: 'ECONNRESET' })
    const error = apiError({ statusCode: 200, isRetryable: true, cause: lost })
    const client = aiSdk(mockModel('v4', [{ ...begun, rest: [{ type: 'error', error }] }]).model)

    await expect(client.getResponse('Hi', { stream: true }).finalResponse()).rejects.toMatchObject({
      kind: 'truncated_stream',
      ...cut,
    })
  })

  test('keep the usage of an answer that was cut', async () => {
    const usage = { inputTokens: { total: 9 }, outputTokens: { total: 3 } }
    const finish = { type: 'finish', finishReason: { unified: 'interrupted' }, usage }
    const client = aiSdk(mockModel('v4', [{ ...begun, rest: [finish] }]).model)

    await expect(client.getResponse('Hi', { stream: true }).finalResponse()).rejects.toMatchObject({
      partial: { usage: { inputTokens: 9, outputTokens: 3 } },
    })
  })

  test('that open after the call was aborted are closed', async () => {
    let cancelled = false
    let open = (): void => {}
    const { model } = mockModel('v4', [])
    const late = Object.assign(Object.create(model) as typeof model, {
      doStream: () =>
        new Promise((resolve) => {
          open = () =>
            resolve({
              stream: new ReadableStream({
                cancel: () => {
                  cancelled = true
                },
              }),
            })
        }),
    })
    const controller = new AbortController()
    const waiting = aiSdk(late)
      .getResponse('Hi', { stream: true, signal: controller.signal })
      .finalResponse()
    waiting.catch(() => {})
    await new Promise((resolve) => setImmediate(resolve))

    controller.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    open()
    await new Promise((resolve) => setImmediate(resolve))

    expect(cancelled).toBe(true)
  })
})

describe('time limits', () => {
  const silent = (then: readonly object[]): Parameters<typeof aiSdk>[0] => {
    const { model } = mockModel('v4', [])
    return Object.assign(Object.create(model) as typeof model, {
      doGenerate: () => new Promise(() => {}),
      doStream: async () => ({
        stream: new ReadableStream({ start: (to) => then.forEach((part) => to.enqueue(part)) }),
      }),
    })
  }
  const started = [{ type: 'text-delta', id: '0', delta: 'The answ' }]

  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  test.each([
    ['a plain call', 'timeoutMs', [], false, 'no answer within 50 ms'],
    ['a stream that does not begin', 'firstUpdateTimeoutMs', [], true, 'no answer within 50 ms'],
    ['a stream that stalls', 'idleTimeoutMs', started, true, 'no data for 50 ms'],
  ] as const)('end %s', async (_, option, then, stream, words) => {
    const client = aiSdk(silent(then), { [option]: 50 })
    const asked = stream
      ? client.getResponse('Hi', { stream }).finalResponse()
      : client.getResponse('Hi')
    const failure = asked.catch((error: unknown) => error)

    await vi.advanceTimersByTimeAsync(200)

    expect(await failure).toMatchObject({
      kind: 'timeout',
      message: expect.stringContaining(words),
      retry: { retryable: true },
    })
  })

  test('must be above 0', () => {
    const { model } = mockModel('v4', [])

    expect(() => aiSdk(model, { timeoutMs: 0 })).toThrow(/`timeoutMs`.*got 0/)
    expect(() => aiSdk(model, { idleTimeoutMs: Number.NaN })).toThrow(/`idleTimeoutMs`/)
  })
})
