import { OpenAI } from 'openai'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { clientRequest, failureOf } from '@lamella/testing'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { responsesRecording } from '../../fixtures/responses-recording.ts'
import { OpenAIChatClient } from '../openai-chat-client.ts'
import { OpenAIChatCompletionsClient } from '../openai-chat-completions-client.ts'
import type { OpenAIClientOptions } from '../sdk-options.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

/** The headers and the address of one request, wherever it goes. */
async function requestOf(options: OpenAIClientOptions): Promise<{ url: string; headers: Headers }> {
  let seen: { url: string; headers: Headers } | undefined
  const fetch = async (url: unknown, init?: { headers?: unknown }): Promise<Response> => {
    seen = { url: String(url), headers: new Headers(init?.headers as Record<string, string>) }
    return Response.json(responsesRecording([]).whole)
  }
  await new OpenAIChatClient({ model: 'm', fetch, ...options }).respond(clientRequest())
  return seen!
}

describe.each([
  ['OpenAIChatClient', OpenAIChatClient],
  ['OpenAIChatCompletionsClient', OpenAIChatCompletionsClient],
] as const)('%s', (name, Client) => {
  test('without a key says at once what to do', () => {
    expect(() => new Client()).toThrow(
      new TypeError(`${name}: no API key; pass \`apiKey\` or set the variable OPENAI_API_KEY`),
    )
  })

  test.each([
    [{ idleTimeoutMs: 0 }, RangeError, '`idleTimeoutMs` must be more than 0 milliseconds, got 0'],
    [
      { firstUpdateTimeoutMs: Number.NaN },
      RangeError,
      '`firstUpdateTimeoutMs` must be more than 0 milliseconds, got NaN',
    ],
    [{ timeoutMs: -1 }, RangeError, '`timeoutMs` must be more than 0 milliseconds, got -1'],
    [{ provider: '' }, TypeError, '`provider` must not be empty'],
  ])('refuses %j', (options, Kind, words) => {
    const make = (): unknown => new Client({ apiKey: 'k', ...options })

    expect(make).toThrow(Kind)
    expect(make).toThrow(`${name}: ${words}`)
  })

  const secret = 'sesame-that-nobody-may-see'
  const character = 'holds a character that no header can carry, such as a line break'
  test.each([
    [{ apiKey: `${secret}\nx` }, `the API key ${character}`],
    [{ apiKey: `${secret}\u0000` }, `the API key ${character}`],
    [{ apiKey: `${secret}…` }, `the API key ${character}`],
    [{ organization: `${secret}\r\nx: y` }, `\`organization\` ${character}`],
    [{ project: `${secret}\n.` }, `\`project\` ${character}`],
    [
      { defaultHeaders: { 'x-team': `${secret}\n.` } },
      `\`defaultHeaders\`: the value of "x-team" ${character}`,
    ],
    [
      { baseURL: `http://user:${secret}@localhost/v1` },
      '`baseURL` must not hold a user name or password; send them in `defaultHeaders`',
    ],
    [
      { baseURL: `http://${secret}@localhost/v1` },
      '`baseURL` must not hold a user name or password; send them in `defaultHeaders`',
    ],
  ])('refuses %j without repeating it', (options, words) => {
    expect(() => new Client({ apiKey: 'k', ...options })).toThrow(
      new TypeError(`${name}: ${words}`),
    )
  })

  test.each([
    `/${secret}`,
    `localhost:80/${secret}`,
    `ftp://host/${secret}`,
    `http://host:99999/${secret}`,
  ])('refuses the address %j without repeating it', (baseURL) => {
    expect(() => new Client({ apiKey: 'k', baseURL })).toThrow(
      new TypeError(`${name}: \`baseURL\` must be an address that begins with http:// or https://`),
    )
  })

  test('refuses a key of the environment that no header can carry', () => {
    vi.stubEnv('OPENAI_API_KEY', `${secret}\nx`)

    expect(() => new Client()).toThrow(new TypeError(`${name}: the API key ${character}`))
  })

  test('a client of one’s own excludes what would make another', () => {
    const client = new OpenAI({ apiKey: 'k' })

    expect(() => new Client({ client, apiKey: 'other' })).toThrow(
      /`apiKey` belongs to the `client`/,
    )
    expect(new Client({ client }).provider).toBe('openai')
  })

  test('without a model nothing is sent', async () => {
    const failure = await failureOf(new Client({ apiKey: 'k' }).respond(clientRequest()))

    expect(failure).toMatchObject({
      kind: 'invalid_request',
      message: 'openai: no model; pass `model` to the client or the call',
    })
  })
})

test('the environment names key, address, organization and project', async () => {
  vi.stubEnv('OPENAI_API_KEY', 'from-environment')
  vi.stubEnv('OPENAI_BASE_URL', 'http://proxy.invalid/v1')
  vi.stubEnv('OPENAI_ORG_ID', 'org')
  vi.stubEnv('OPENAI_PROJECT_ID', 'project')

  const { url, headers } = await requestOf({})

  expect(url).toBe('http://proxy.invalid/v1/responses')
  expect(headers.get('authorization')).toBe('Bearer from-environment')
  expect(headers.get('openai-organization')).toBe('org')
  expect(headers.get('openai-project')).toBe('project')
})

test('options come before the environment', async () => {
  vi.stubEnv('OPENAI_API_KEY', 'from-environment')
  vi.stubEnv('OPENAI_BASE_URL', 'http://proxy.invalid/v1')

  const { url, headers } = await requestOf({
    apiKey: async () => 'from-function',
    baseURL: 'http://other.invalid/v1',
    organization: 'o',
    project: 'p',
    defaultHeaders: { 'x-team': 'a' },
  })

  expect(url).toBe('http://other.invalid/v1/responses')
  expect(headers.get('authorization')).toBe('Bearer from-function')
  expect(headers.get('openai-organization')).toBe('o')
  expect(headers.get('openai-project')).toBe('p')
  expect(headers.get('x-team')).toBe('a')
})

test('white space around a key is no part of it', async () => {
  for (const apiKey of [' from-a-file\n', async () => ' from-a-file\n']) {
    const { headers } = await requestOf({ apiKey })

    expect(headers.get('authorization')).toBe('Bearer from-a-file')
  }
})

test('another server needs no key', async () => {
  const { headers } = await requestOf({ baseURL: 'http://localhost:11434/v1' })

  expect(headers.get('authorization')).toBe('Bearer none')
})

test('limits that no timer can count are no limits', async () => {
  const limits = { firstUpdateTimeoutMs: 2 ** 40, idleTimeoutMs: 2 ** 40, timeoutMs: Infinity }

  await expect(requestOf({ apiKey: 'k', ...limits })).resolves.toBeDefined()
})

test('`timeoutMs` is the time of an attempt until its headers', async () => {
  const server = await RawServer.start(() => {})
  const client = new OpenAIChatClient({
    apiKey: 'k',
    baseURL: server.baseURL,
    model: 'm',
    timeoutMs: 20,
  })

  expect(await failureOf(client.respond(clientRequest()))).toMatchObject({ kind: 'timeout' })
  await server.stop()
})

test('a subclass adds to the body and reads what its server says besides', async () => {
  class Filtered extends OpenAIChatClient {
    protected override requestBody(
      ...args: Parameters<OpenAIChatClient['requestBody']>
    ): Record<string, unknown> {
      return { ...super.requestBody(...args), data_sources: [1] }
    }
    protected override metadataOf({
      filter,
    }: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
      return filter === undefined ? undefined : { filter }
    }
  }
  const server = await RawServer.start(answer(responsesRecording([], { filter: 'passed' }).whole))
  const client = new Filtered({ apiKey: 'k', baseURL: server.baseURL, model: 'm' })

  const response = await client.respond(clientRequest())

  expect(server.last.body).toMatchObject({ data_sources: [1] })
  expect(response.metadata).toMatchObject({ filter: 'passed' })
  await server.stop()
})

test('clients of other APIs and servers have other fingerprints, without a secret', () => {
  const options = { apiKey: 'sk-secret', baseURL: 'http://localhost:1/v1?token=hush' }

  const fingerprints = [
    new OpenAIChatClient(options).fingerprint,
    new OpenAIChatCompletionsClient(options).fingerprint,
    new OpenAIChatClient({ apiKey: 'sk-secret' }).fingerprint,
  ]

  expect(fingerprints).toEqual([
    'responses http://localhost:1/v1',
    'chat http://localhost:1/v1',
    'responses https://api.openai.com/v1',
  ])
})
