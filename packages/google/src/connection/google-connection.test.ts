import { clientRequest, collect, failureOf } from '@lamella/testing'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { googleRecording } from '../../fixtures/google-recording.ts'
import { GoogleChatClient } from '../google-chat-client.ts'
import type { GoogleChatClientOptions } from './client-options.ts'

interface Sent {
  readonly url: string
  readonly headers: Headers
}

/** Returns the request of one call. */
async function sent(
  options: GoogleChatClientOptions,
  model = 'gemini-3-flash',
  isStreamed = false,
): Promise<Sent> {
  const requests: Sent[] = []
  const { whole, sse } = googleRecording([{ text: 'Hi.' }])
  const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    requests.push({ url: new Request(url).url, headers: new Headers(init?.headers) })
    return isStreamed ? new Response(sse) : Response.json(whole)
  }
  const client = new GoogleChatClient({ ...options, model, fetch })
  if (isStreamed) await collect(client.stream(clientRequest()))
  else await client.respond(clientRequest())
  return requests[0]!
}

beforeEach(() => {
  for (const name of ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GEMINI_BASE_URL'])
    vi.stubEnv(name, '')
})
afterEach(() => {
  vi.unstubAllEnvs()
})

const token = async (): Promise<string> => 'ya29.token'

describe('addresses', () => {
  const gemini = 'https://generativelanguage.googleapis.com'
  const place = (region: string): string => `projects/p/locations/${region}`

  test.each<[string, GoogleChatClientOptions, string, string]>([
    [
      'the Gemini API',
      { apiKey: 'k' },
      'gemini-3-flash',
      `${gemini}/v1beta/models/gemini-3-flash:generateContent`,
    ],
    [
      'a tuned model',
      { apiKey: 'k' },
      'tunedModels/mine',
      `${gemini}/v1beta/tunedModels/mine:generateContent`,
    ],
    [
      'another version',
      { apiKey: 'k', apiVersion: 'v1' },
      'm',
      `${gemini}/v1/models/m:generateContent`,
    ],
    [
      'a gateway',
      { apiKey: 'k', baseURL: 'https://a.example/google/' },
      'm',
      'https://a.example/google/v1beta/models/m:generateContent',
    ],
    [
      'Vertex AI',
      { vertex: { project: 'p', token } },
      'm',
      `https://aiplatform.googleapis.com/v1beta1/${place('global')}/publishers/google/models/m:generateContent`,
    ],
    [
      'a region',
      { vertex: { project: 'p', location: 'europe-west4', token } },
      'm',
      `https://europe-west4-aiplatform.googleapis.com/v1beta1/${place('europe-west4')}/publishers/google/models/m:generateContent`,
    ],
    [
      'a continent',
      { vertex: { project: 'p', location: 'eu', token } },
      'm',
      `https://aiplatform.eu.rep.googleapis.com/v1beta1/${place('eu')}/publishers/google/models/m:generateContent`,
    ],
    [
      'an endpoint',
      { vertex: { project: 'p', token } },
      'projects/p/locations/global/endpoints/1',
      `https://aiplatform.googleapis.com/v1beta1/${place('global')}/endpoints/1:generateContent`,
    ],
  ])('%s', async (_name, options, model, url) => {
    expect((await sent(options, model)).url).toBe(url)
  })

  test('a stream is asked for as events', async () => {
    const { url } = await sent({ apiKey: 'k' }, 'm', true)

    expect(url).toBe(`${gemini}/v1beta/models/m:streamGenerateContent?alt=sse`)
  })

  test.each(['../../secrets', 'a?key=b', 'models/../x', ''])(
    '%j is no name of a model',
    async (model) => {
      const client = new GoogleChatClient({ apiKey: 'k', model })

      const error = await failureOf(client.respond(clientRequest()))

      expect(error).toMatchObject({ kind: 'invalid_request' })
      expect((error as Error).message).not.toContain('secrets')
    },
  )
})

describe('credentials', () => {
  test('a key has a header of its own, a token the usual one', async () => {
    const withKey = await sent({ apiKey: 'k' })
    const withToken = await sent({ vertex: { project: 'p', token } })

    expect(withKey.headers.get('x-goog-api-key')).toBe('k')
    expect(withKey.headers.get('authorization')).toBeNull()
    expect(withToken.headers.get('authorization')).toBe('Bearer ya29.token')
    expect(withToken.headers.get('x-goog-api-key')).toBeNull()
  })

  test('the key of the environment is that of Gemini, else that of Google', async () => {
    vi.stubEnv('GOOGLE_API_KEY', 'of-google')
    const ofGoogle = await sent({})
    vi.stubEnv('GEMINI_API_KEY', 'of-gemini')
    const ofGemini = await sent({})

    expect(ofGoogle.headers.get('x-goog-api-key')).toBe('of-google')
    expect(ofGemini.headers.get('x-goog-api-key')).toBe('of-gemini')
  })

  test('a function for a key or a token is asked before each request', async () => {
    const tokens = ['first', 'second']
    const vertex = { project: 'p', token: async () => tokens.shift()! }
    const seen: (string | null)[] = []
    const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
      seen.push(new Headers(init?.headers).get('authorization'))
      return Response.json(googleRecording([{ text: 'Hi.' }]).whole)
    }
    const client = new GoogleChatClient({ vertex, model: 'm', fetch })

    await client.respond(clientRequest())
    await client.respond(clientRequest())

    expect(seen).toEqual(['Bearer first', 'Bearer second'])
  })

  test.each([
    ['fails', () => Promise.reject(new Error('secret-of-vault'))],
    ['returns nothing', async () => ''],
  ])('a token function that %s is a failure that shows nothing of it', async (_name, failing) => {
    const client = new GoogleChatClient({ vertex: { project: 'p', token: failing }, model: 'm' })

    const error = await failureOf(client.respond(clientRequest()))

    expect(error).toMatchObject({ kind: 'auth', provider: 'google-vertex' })
    expect(JSON.stringify([String(error), String((error as Error).cause)])).not.toContain('vault')
  })
})

describe('wrong options throw where the client is made', () => {
  test.each<[GoogleChatClientOptions, RegExp]>([
    [{}, /no API key; pass `apiKey` or set the variable GEMINI_API_KEY/],
    [{ apiKey: 'k\n' }, /`apiKey` holds a character that no header can carry/],
    [{ apiKey: 'k', vertex: { project: 'p', token } }, /pass `apiKey` or `vertex`, not both/],
    [{ vertex: 'my-project' as never }, /`vertex` must be an object/],
    [{ vertex: { project: '', token } }, /`vertex.project` must be a string/],
    [
      { vertex: { project: 'p', location: 'a.example/', token } },
      /`vertex.location` must be the name of a region/,
    ],
    [{ vertex: { project: 'p' } as never }, /`vertex.token` must be a function/],
    [
      { apiKey: 'k', baseURL: 'ftp://a.example' },
      /`baseURL` must be an address that begins with http/,
    ],
    [
      { apiKey: 'k', baseURL: 'https://a:b@a.example' },
      /`baseURL` must not hold a user name or password/,
    ],
    [{ apiKey: 'k', idleTimeoutMs: 0 }, /idleTimeoutMs/],
    [{ apiKey: 'k', safetySettings: {} as never }, /`safetySettings` must be a list/],
    [{ apiKey: 'k', apikey: 'k' } as never, /unknown option `apikey`/],
  ])('%j', (options, words) => {
    expect(() => new GoogleChatClient(options)).toThrow(words)
  })

  test('an option that belongs to the client that was given', () => {
    const client = { baseURL: 'https://a.example', keys: [], send: async () => new Response() }

    expect(() => new GoogleChatClient({ client, apiKey: 'k' })).toThrow(
      'GoogleChatClient: `apiKey` belongs to the `client` that was given',
    )
  })
})

test('two places are two servers', () => {
  const places = ['global', 'europe-west4'].map(
    (location) => new GoogleChatClient({ vertex: { project: 'p', location, token } }).fingerprint,
  )

  expect(new Set(places).size).toBe(2)
  expect(places[0]).toContain('aiplatform.googleapis.com')
})
