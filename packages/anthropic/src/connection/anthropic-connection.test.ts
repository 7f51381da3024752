import type { ChatResponse } from '@lamella/core'
import { Anthropic } from '@anthropic-ai/sdk'
import { chatMiddleware } from '@lamella/core'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { clientRequest, failureOf } from '@lamella/testing'
import { messagesRecording } from '../../fixtures/messages-recording.ts'
import { AnthropicChatClient } from '../anthropic-chat-client.ts'
import type { AnthropicChatClientOptions } from '../sdk-options.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

/** The headers and the address of one request, wherever it goes. */
async function requestOf(
  options: AnthropicChatClientOptions,
): Promise<{ url: string; authorization: string | null; headers: Headers; body: string }> {
  let seen: { url: string; headers: Headers; body: string } | undefined
  const fetch = async (url: unknown, init: RequestInit = {}): Promise<Response> => {
    seen = { url: String(url), headers: new Headers(init.headers), body: init.body as string }
    return Response.json(messagesRecording([]).whole)
  }
  await new AnthropicChatClient({ model: 'm', fetch, ...options }).respond(clientRequest())
  return { ...seen!, authorization: seen!.headers.get('authorization') }
}

describe('credentials', () => {
  test('that are missing are missed at once, wherever else the SDK would look', () => {
    vi.stubEnv('ANTHROPIC_PROFILE', 'default')

    expect(() => new AnthropicChatClient()).toThrow(
      new TypeError(
        'AnthropicChatClient: no API key; pass `apiKey` or set the variable ANTHROPIC_API_KEY',
      ),
    )
  })

  test('come from options before variables, keys before tokens', async () => {
    vi.stubEnv('ANTHROPIC_AUTH_TOKEN', 'token')
    expect((await requestOf({})).authorization).toBe('Bearer token')

    vi.stubEnv('ANTHROPIC_API_KEY', 'key\n')
    expect((await requestOf({})).authorization).toBe('Bearer key')
    expect((await requestOf({ authToken: 'own-token' })).authorization).toBe('Bearer own-token')
    expect((await requestOf({ apiKey: 'own' })).authorization).toBe('Bearer own')
  })

  test('may be asked for before each request', async () => {
    const apiKey = vi.fn<() => Promise<string>>(async () => 'fresh')

    expect((await requestOf({ apiKey })).authorization).toBe('Bearer fresh')
    expect(apiKey).toHaveBeenCalledTimes(1)
  })

  test('are one, not two', () => {
    expect(() => new AnthropicChatClient({ apiKey: 'a', authToken: 'b' })).toThrow(
      'AnthropicChatClient: pass `apiKey` or `authToken`, not both',
    )
  })

  test.each([
    ['`apiKey`', { apiKey: 'sk-secret\nx' }, {}],
    ['`authToken`', { authToken: 'sk-secret\u007f' }, {}],
    ['`ANTHROPIC_API_KEY`', {}, { ANTHROPIC_API_KEY: 'sk-secret\u0001x' }],
    ['`ANTHROPIC_AUTH_TOKEN`', {}, { ANTHROPIC_AUTH_TOKEN: 'sk-secret\u{1F511}' }],
  ])('that no header may have are refused and not shown: %s', (name, options, variables) => {
    for (const [variable, value] of Object.entries(variables)) vi.stubEnv(variable, value)

    const make = (): unknown => new AnthropicChatClient(options)

    expect(make).toThrow(
      new TypeError(
        `AnthropicChatClient: ${name} holds a character that no header can carry, such as a line break`,
      ),
    )
  })

  test.each([
    ['fails', async () => Promise.reject(new Error('vault says sk-secret'))],
    ['gives nothing', async () => ''],
    ['gives what no header may have', async () => 'sk-secret\n'],
  ])('whose function %s are an `auth` error without them', async (_how, apiKey) => {
    const client = new AnthropicChatClient({ apiKey, model: 'm', baseURL: 'http://a.invalid' })

    const error = (await failureOf(client.respond(clientRequest()))) as Error

    expect(error).toMatchObject({ kind: 'auth', retry: { retryable: false } })
    expect(`${error.message} ${String(error.cause)}`).not.toContain('secret')
  })
})

describe('the address', () => {
  test('is Anthropic’s, that of the variable, or that of the option', async () => {
    expect((await requestOf({ apiKey: 'k' })).url).toBe('https://api.anthropic.com/v1/messages')

    vi.stubEnv('ANTHROPIC_BASE_URL', 'https://variable.example')
    expect((await requestOf({ apiKey: 'k' })).url).toBe('https://variable.example/v1/messages')

    const { url } = await requestOf({ apiKey: 'k', baseURL: 'https://option.example/gateway' })
    expect(url).toBe('https://option.example/gateway/v1/messages')
  })

  test.each([
    ['here', '`baseURL` must be an address that begins with http:// or https://'],
    ['file:///etc', '`baseURL` must be an address that begins with http:// or https://'],
    [
      'https://me:sk-secret@a.example',
      '`baseURL` must not hold a user name or password; send them in `defaultHeaders`',
    ],
  ])('%s is refused', (baseURL, words) => {
    expect(() => new AnthropicChatClient({ apiKey: 'k', baseURL })).toThrow(
      new TypeError(`AnthropicChatClient: ${words}`),
    )
  })
})

describe('options', () => {
  test.each([
    [{ idleTimeoutMs: 0 }, '`idleTimeoutMs` must be more than 0 milliseconds, got 0'],
    [
      { firstUpdateTimeoutMs: Number.NaN },
      '`firstUpdateTimeoutMs` must be more than 0 milliseconds, got NaN',
    ],
    [{ timeoutMs: -1 }, '`timeoutMs` must be more than 0 milliseconds, got -1'],
    [{ maxOutputTokens: 0 }, '`maxOutputTokens` must be a whole number from 1 up, got 0'],
    [{ maxOutputTokens: 1.5 }, '`maxOutputTokens` must be a whole number from 1 up, got 1.5'],
  ])('%j is refused', (options, words) => {
    expect(() => new AnthropicChatClient({ apiKey: 'k', ...options })).toThrow(
      new RangeError(`AnthropicChatClient: ${words}`),
    )
  })

  test('set headers and the most tokens of an answer', async () => {
    const { headers, body } = await requestOf({
      apiKey: 'k',
      maxOutputTokens: 50,
      defaultHeaders: { 'x-own': '1' },
    })

    expect(headers.get('x-own')).toBe('1')
    expect(JSON.parse(body).max_tokens).toBe(50)
  })

  test('a client of one’s own excludes what would make another', () => {
    const client = new Anthropic({ apiKey: 'k' })

    expect(() => new AnthropicChatClient({ client, apiKey: 'other' })).toThrow(
      'AnthropicChatClient: `apiKey` belongs to the `client` that was given',
    )
    expect(new AnthropicChatClient({ client }).provider).toBe('anthropic')
  })

  test('middlewares are around every call', async () => {
    const seen: unknown[] = []
    const middleware = chatMiddleware('note', async (context, callNext) => {
      await callNext()
      seen.push(context.result?.text)
    })
    const { whole } = messagesRecording([{ type: 'text', text: 'Yes.', citations: null }])
    const fetch = async (): Promise<Response> => Response.json(whole)

    const client = new AnthropicChatClient({
      apiKey: 'k',
      model: 'm',
      middleware: [middleware],
      fetch,
    })
    const response: ChatResponse = await client.getResponse('Well?')

    expect(seen).toEqual([response.text])
  })

  test('the SDK makes no spans of its own', async () => {
    // Where the OpenTelemetry API keeps the provider that an application registers.
    const place = Symbol.for('opentelemetry.js.api.1')
    const asked: string[] = []
    const trace = {
      getTracer(name: string): never {
        asked.push(name)
        throw new Error('no tracer')
      },
    }
    Object.assign(globalThis, { [place]: { version: '1.999.0', trace } })

    try {
      await requestOf({ apiKey: 'k' })
    } finally {
      Reflect.deleteProperty(globalThis, place)
    }

    expect(asked).toEqual([])
  })
})

test('clients of other servers and limits have other fingerprints', () => {
  const options = { apiKey: 'sk-secret', baseURL: 'http://localhost:1/x' }

  const fingerprints = [
    new AnthropicChatClient(options).fingerprint,
    new AnthropicChatClient({ ...options, maxOutputTokens: 9 }).fingerprint,
  ]

  expect(fingerprints).toEqual(['http://localhost:1/x 8192', 'http://localhost:1/x 9'])
})
