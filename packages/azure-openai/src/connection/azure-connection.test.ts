import { AzureOpenAI } from 'openai'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { completion, response } from '../../fixtures/azure-recordings.ts'
import { clientRequest, failureOf } from '@lamella/testing'
import type { Received } from '@lamella/testing/raw-server'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { AzureOpenAIChatClient } from '../azure-openai-chat-client.ts'
import type { AzureOpenAIClientOptions } from '../sdk-sender.ts'

const key = 'azure-key-0123456789abcdef'
let server: RawServer

beforeAll(async () => {
  server = await RawServer.start()
})
beforeEach(() => {
  server.received.length = 0
  server.handler = (reply, request) =>
    answer(
      request.path.includes('/responses')
        ? response('Hi.').whole
        : completion({ message: { role: 'assistant', content: 'Hi.' } }),
    )(reply, request)
})
afterEach(() => {
  vi.unstubAllEnvs()
})
afterAll(() => server.stop())

async function arrived(
  options: AzureOpenAIClientOptions,
  call: Parameters<typeof clientRequest>[1] = {},
): Promise<Received> {
  const own = { endpoint: server.url, deployment: 'chat-prod', apiKey: key }
  const { endpoint, deployment, apiKey } = { ...own, ...options }
  const isKeyless = options.credential ?? options.azureADTokenProvider
  const client = new AzureOpenAIChatClient({
    ...options,
    endpoint,
    deployment,
    ...(isKeyless === undefined && { apiKey }),
  })
  await client.respond(clientRequest('Hi', call))
  return server.last
}

describe('where a request goes', () => {
  test('Chat Completions: the deployment is in the path, the version in the query, the key in a header', async () => {
    const { path, headers, body } = await arrived({})

    expect(path).toBe(
      '/openai/deployments/chat-prod/chat/completions?api-version=2025-04-01-preview',
    )
    expect(headers).toMatchObject({ 'api-key': key })
    expect(headers.authorization).toBeUndefined()
    const messages = [{ role: 'user', content: 'Hi' }]
    expect(body).toEqual({ stream: false, model: 'chat-prod', messages })
  })

  test('Responses: the deployment is in the body only', async () => {
    const { path, body } = await arrived({ api: 'responses', apiVersion: '2025-03-01-preview' })

    expect(path).toBe('/openai/responses?api-version=2025-03-01-preview')
    expect(body).toMatchObject({ model: 'chat-prod', store: false })
  })

  test.for([
    ['v1', '/openai/v1/chat/completions'],
    ['preview', '/openai/v1/chat/completions?api-version=preview'],
    ['2024-10-21', '/openai/deployments/chat-prod/chat/completions?api-version=2024-10-21'],
  ])('version %s goes to %s', async ([apiVersion, expected]) => {
    const { path, headers, body } = await arrived({ apiVersion })

    expect(path).toBe(expected)
    expect(headers['api-key']).toBe(key)
    expect(headers.authorization).toBeUndefined()
    expect(body.model).toBe('chat-prod')
  })

  test.for([
    ['/', '/openai/deployments/chat-prod/'],
    ['/openai/', '/openai/deployments/chat-prod/'],
    ['/openai/v1/', '/openai/v1/'],
    ['/gateway/team-a', '/gateway/team-a/openai/deployments/chat-prod/'],
  ])('an endpoint that ends in %s leads to %s', async ([end, expected]) => {
    const { path } = await arrived({ endpoint: `${server.url}${end}` })

    expect(path.startsWith(`${expected}chat/completions`)).toBe(true)
  })

  test('a call may name another deployment; the model of the client means its own', async () => {
    const options = { model: 'gpt-5-mini', deployment: 'chat-prod' }
    const paths = []
    for (const model of [undefined, 'gpt-5-mini', 'chat-test']) {
      paths.push((await arrived(options, { model })).path.split('/')[3])
    }
    expect(paths).toEqual(['chat-prod', 'chat-prod', 'chat-test'])
    expect(server.received.map(({ body }) => body.model)).toEqual(paths)

    const bodies = []
    for (const model of ['gpt-5-mini', 'chat-test']) {
      bodies.push((await arrived({ ...options, api: 'responses' }, { model })).body)
    }
    expect(bodies.map(({ model }) => model)).toEqual(['chat-prod', 'chat-test'])
    expect(bodies[0].include).toEqual(['reasoning.encrypted_content'])
  })

  test('without any deployment, a call is refused before it is sent', async () => {
    const client = new AzureOpenAIChatClient({ endpoint: server.url, apiKey: key })

    expect(await failureOf(client.respond(clientRequest()))).toMatchObject({
      kind: 'invalid_request',
      provider: 'azure-openai',
    })
    expect(server.received).toEqual([])
  })

  test('limits are sent in the new field, whatever the deployment is called', async () => {
    const { body } = await arrived({}, { maxOutputTokens: 99 })

    expect(body).toMatchObject({ max_completion_tokens: 99 })
    expect(body).not.toHaveProperty('max_tokens')
  })

  test('headers of the client are used', async () => {
    const { headers } = await arrived({ defaultHeaders: { 'x-team': 'a' } })
    expect(headers['x-team']).toBe('a')
  })

  test.for(['2025-04-01-preview', 'v1'])(
    'a redirect never takes the key along (%s)',
    async (apiVersion) => {
      let stolen = 0
      const elsewhere = await RawServer.start((reply) => {
        stolen++
        reply.end('{}')
      })
      server.handler = (reply) => {
        reply.writeHead(307, { location: `${elsewhere.url}/x` })
        reply.end()
      }

      const failure = await failureOf(arrived({ apiVersion }))
      await elsewhere.stop()

      expect(failure).toMatchObject({ name: 'ProviderError', status: 307 })
      expect(stolen).toBe(0)
    },
  )
})

describe('the environment', () => {
  test('gives endpoint, key, deployment and version', async () => {
    vi.stubEnv('AZURE_OPENAI_ENDPOINT', `${server.url}/`)
    vi.stubEnv('AZURE_OPENAI_API_KEY', ` ${key} `)
    vi.stubEnv('AZURE_OPENAI_DEPLOYMENT', 'from-env')
    vi.stubEnv('OPENAI_API_VERSION', '2024-10-21')

    await new AzureOpenAIChatClient().respond(clientRequest())

    expect(server.last.path).toBe(
      '/openai/deployments/from-env/chat/completions?api-version=2024-10-21',
    )
    expect(server.last.headers['api-key']).toBe(key)
  })

  test('options come before it', async () => {
    vi.stubEnv('AZURE_OPENAI_ENDPOINT', 'http://wrong.invalid')
    vi.stubEnv('AZURE_OPENAI_API_KEY', 'wrong')
    vi.stubEnv('AZURE_OPENAI_DEPLOYMENT', 'wrong')
    vi.stubEnv('OPENAI_API_VERSION', '2024-02-01')

    const { path, headers } = await arrived({ apiVersion: '2024-10-21', model: 'gpt-5' })
    const keyless = await arrived({ azureADTokenProvider: async () => 'token' })

    expect(path).toContain('/chat-prod/chat/completions?api-version=2024-10-21')
    expect(headers['api-key']).toBe(key)
    expect(keyless.headers).toMatchObject({ authorization: 'Bearer token' })
    expect(keyless.headers['api-key']).toBeUndefined()
  })

  test.for(['2025-04-01-preview', 'v1'])(
    'what is meant for OpenAI has no say (%s)',
    async (apiVersion) => {
      vi.stubEnv('OPENAI_BASE_URL', 'http://wrong.invalid/v1')
      vi.stubEnv('OPENAI_API_KEY', 'sk-of-openai')
      vi.stubEnv('OPENAI_ADMIN_KEY', 'sk-admin')
      vi.stubEnv('OPENAI_ORG_ID', 'org-1')
      vi.stubEnv('OPENAI_PROJECT_ID', 'proj-1')

      const { headers } = await arrived({ apiVersion })

      expect(headers['api-key']).toBe(key)
      expect(JSON.stringify(headers)).not.toMatch(/sk-|org-1|proj-1/)
    },
  )
})

describe('Entra tokens', () => {
  test.for(['2025-04-01-preview', 'v1'])(
    'are asked for before each request (%s)',
    async (apiVersion) => {
      let count = 0
      const azureADTokenProvider = async (): Promise<string> => `token-${++count}`
      const client = new AzureOpenAIChatClient({
        endpoint: server.url,
        deployment: 'd',
        apiVersion,
        azureADTokenProvider,
      })

      await client.respond(clientRequest())
      await client.respond(clientRequest())

      expect(server.received.map(({ headers }) => headers.authorization)).toEqual([
        'Bearer token-1',
        'Bearer token-2',
      ])
      expect(server.last.headers['api-key']).toBeUndefined()
    },
  )

  test('a credential is asked for the scope of Azure OpenAI, or another', async () => {
    const scopes: unknown[] = []
    const credential = {
      getToken: async (scope: string | string[]) => {
        scopes.push(scope)
        return { token: 'from-credential', expiresOnTimestamp: 0 }
      },
    }

    const { headers } = await arrived({ credential })
    await arrived({ credential, credentialScope: 'https://cognitiveservices.azure.us/.default' })

    expect(headers.authorization).toBe('Bearer from-credential')
    expect(scopes).toEqual([
      'https://cognitiveservices.azure.com/.default',
      'https://cognitiveservices.azure.us/.default',
    ])
  })

  class CredentialUnavailableError extends Error {
    override name = 'CredentialUnavailableError'
  }
  const failures: readonly [string, AzureOpenAIClientOptions, string][] = [
    [
      'rejects',
      {
        azureADTokenProvider: async () => {
          throw new CredentialUnavailableError('secret-123 was refused')
        },
      },
      'azure-openai: the Entra token could not be had (CredentialUnavailableError)',
    ],
    [
      'throws',
      {
        azureADTokenProvider: () => {
          throw new Error('secret-123')
        },
      },
      'azure-openai: the Entra token could not be had (Error)',
    ],
    [
      'gives an empty token',
      { azureADTokenProvider: async () => ' ' },
      'azure-openai: the Entra token is missing',
    ],
    [
      'gives none',
      { credential: { getToken: async () => null } },
      'azure-openai: the Entra token is missing',
    ],
    [
      'gives one with a line break',
      { azureADTokenProvider: async () => 'secret-123\nx' },
      'azure-openai: the Entra token holds a character that no header can carry, such as a line break',
    ],
  ]
  for (const apiVersion of ['2025-04-01-preview', 'v1']) {
    test.for(failures)(
      `a provider that %s is an error of kind auth (${apiVersion})`,
      async ([, options, message]) => {
        const client = new AzureOpenAIChatClient({
          endpoint: server.url,
          deployment: 'd',
          apiVersion,
          ...options,
        })

        for (const work of [client.respond(clientRequest()), client.stream(clientRequest())]) {
          const failure = (await failureOf(work)) as Error & { retry: unknown }

          expect(failure).toMatchObject({ kind: 'auth', provider: 'azure-openai', message })
          expect(failure.retry).toMatchObject({ retryable: false })
          expect(`${failure.stack} ${String(failure.cause)}`).not.toContain('secret-123')
        }
        expect(server.received).toEqual([])
      },
    )
  }
})

describe('construction fails in one sentence, without secrets', () => {
  const good = { endpoint: 'https://name.openai.azure.com', apiKey: key, deployment: 'd' }
  const rows: readonly [string, object, RegExp][] = [
    [
      'no endpoint',
      { ...good, endpoint: undefined },
      /no endpoint; pass `endpoint` or set .*AZURE_OPENAI_ENDPOINT$/,
    ],
    [
      'no credential',
      { ...good, apiKey: undefined },
      /no credential; pass `apiKey`, .*AZURE_OPENAI_API_KEY$/,
    ],
    ['an empty key', { ...good, apiKey: ' ' }, /`apiKey` must be a text, got an empty one$/],
    ['a key that is no text', { ...good, apiKey: 7 }, /`apiKey` must be a text, got number$/],
    ['a key with a line break', { ...good, apiKey: `${key}\nx` }, /the API key holds a character/],
    [
      'a header with a line break',
      { ...good, defaultHeaders: { a: 'hidden\n' } },
      /the value of "a" holds/,
    ],
    ['no address', { ...good, endpoint: 'name-of-resource' }, /must be an address/],
    ['another protocol', { ...good, endpoint: 'ftp://name' }, /must be an address/],
    [
      'a password in the address',
      { ...good, endpoint: 'https://me:hidden@name' },
      /must not hold a user/,
    ],
    [
      'the address of a deployment',
      { ...good, endpoint: `${good.endpoint}/openai/deployments/d/chat/completions` },
      /the address of the resource/,
    ],
    [
      'a version in the address',
      { ...good, endpoint: `${good.endpoint}?api-version=2024-10-21` },
      /the address of the resource/,
    ],
    [
      'a version that is none',
      { ...good, apiVersion: 'newest' },
      /`apiVersion` must be a date .*"newest"$/,
    ],
    [
      'two credentials',
      { ...good, azureADTokenProvider: async () => 'hidden' },
      /only one of `apiKey`, `azureADTokenProvider`/,
    ],
    [
      'a provider that is no function',
      { ...good, apiKey: undefined, azureADTokenProvider: 'hidden' },
      /must be a function$/,
    ],
    [
      'a credential without getToken',
      { ...good, apiKey: undefined, credential: {} },
      /must have a method `getToken`$/,
    ],
    [
      'an unknown api',
      { ...good, api: 'assistants' },
      /`api` must be 'chat' or 'responses', got "assistants"$/,
    ],
    [
      'data sources for Responses',
      { ...good, api: 'responses', dataSources: [] },
      /`dataSources` needs `api: 'chat'`$/,
    ],
    [
      'data sources that are none',
      { ...good, dataSources: [{ type: 'azure_search' }] },
      /must be a list of objects/,
    ],
    [
      'a timeout of 0',
      { ...good, idleTimeoutMs: 0 },
      /`idleTimeoutMs` must be more than 0 milliseconds, got 0$/,
    ],
    [
      'a client and an endpoint',
      { client: new AzureOpenAI({ ...good, apiVersion: '2024-10-21' }), endpoint: 'https://x' },
      /`endpoint` belongs to the `client`/,
    ],
  ]

  test.for(rows)('%s', ([, options, message]) => {
    const make = (): unknown => new AzureOpenAIChatClient(options)

    expect(make).toThrow(message)
    expect(make).toThrow(/^AzureOpenAIChatClient: /)
    expect(make).not.toThrow(/azure-key|hidden/)
  })
})

test('clients of other deployments and data sources have other fingerprints, without a secret', () => {
  const common = {
    endpoint: 'https://r.openai.azure.com',
    apiKey: 'secret',
    apiVersion: '2025-01-01',
  }
  const source = {
    type: 'azure_search',
    parameters: {
      endpoint: 'https://s',
      index_name: 'i',
      authentication: { type: 'api_key', key: 'hush' },
    },
  } as const

  const fingerprints = [
    new AzureOpenAIChatClient({ ...common, deployment: 'a' }),
    new AzureOpenAIChatClient({ ...common, deployment: 'b' }),
    new AzureOpenAIChatClient({ ...common, deployment: 'a', dataSources: [source] }),
  ].map(({ fingerprint }) => fingerprint)

  expect(new Set(fingerprints).size).toBe(3)
  expect(fingerprints.join()).not.toMatch(/secret|hush/)
})
