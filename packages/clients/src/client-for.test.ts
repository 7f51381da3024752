import type { ChatClient } from '@lamella/core'
import { LamellaError } from '@lamella/core'
import { chatDialects } from '@lamella/openai'
import { scriptedClient } from '@lamella/testing'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { clientFor, namedClients } from './client-for.ts'
import { compatibleServers } from './compatible-servers.ts'

// Loaded here, so that no test waits until they are transformed.
await Promise.all([
  import('@ai-sdk/amazon-bedrock'),
  import('@ai-sdk/mistral'),
  import('@ai-sdk/openai-compatible'),
  import('@lamella/ai-sdk'),
  import('@lamella/anthropic/fetch'),
  import('@lamella/azure-openai/fetch'),
  import('@lamella/google'),
  import('@lamella/openai/fetch'),
])

const variables = /_API_KEY$|_BASE_URL$|^AZURE_|^GOOGLE_|^LAMELLA_/

beforeEach(() => {
  for (const name of Object.keys(process.env)) if (variables.test(name)) vi.stubEnv(name, undefined)
})
afterEach(() => void vi.unstubAllEnvs())

interface Sent {
  readonly url: string
  readonly headers: string
  readonly body: string
}

/** Returns the request that the client of this name sends. */
async function sentBy(name: string, settings: object = {}, ask = clientFor): Promise<Sent> {
  let sent: Sent | undefined
  const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const headers = JSON.stringify([...new Headers(init?.headers)])
    sent = { url: new Request(url).url, headers, body: init?.body as string }
    return Response.json({ error: { message: 'no' } }, { status: 400 })
  }
  const client = await ask(name, { fetch, ...settings })
  await client.getResponse('Hi').catch(() => undefined)
  return sent!
}

test.each([
  ['openai/gpt-5-mini', 'OPENAI_API_KEY', 'https://api.openai.com/v1/responses'],
  ['openai-chat/gpt-5-mini', 'OPENAI_API_KEY', 'https://api.openai.com/v1/chat/completions'],
  ['anthropic/claude-sonnet-5-5', 'ANTHROPIC_API_KEY', 'https://api.anthropic.com/v1/messages'],
  ['groq/openai/gpt-oss-120b', 'GROQ_API_KEY', 'https://api.groq.com/openai/v1/chat/completions'],
  ['ollama/qwen3:4b', 'OLLAMA_API_KEY', 'http://localhost:11434/v1/chat/completions'],
])('%s has the key of %s, and is asked at %s', async (name, variable, address) => {
  vi.stubEnv(variable, 'key-of-the-environment')

  const { url, headers, body } = await sentBy(name)

  expect(url).toBe(address)
  expect(headers).toContain('key-of-the-environment')
  expect(JSON.parse(body).model).toBe(name.slice(name.indexOf('/') + 1))
})

test('the model of Google and the deployment of Azure are in the address', async () => {
  vi.stubEnv('GEMINI_API_KEY', 'key')
  const azure = { endpoint: 'https://x.openai.azure.com', apiKey: 'key' }

  expect((await sentBy('google/gemini-3.8-flash')).url).toContain('/models/gemini-3.8-flash:')
  expect((await sentBy('azure-openai/my-deployment', azure)).url).toContain(
    'https://x.openai.azure.com/openai/deployments/my-deployment/',
  )
})

test("Vertex AI takes project and region from Google's variables, and tokens from its library", async () => {
  vi.stubEnv('GOOGLE_CLOUD_PROJECT', 'my-project')
  vi.stubEnv('GOOGLE_CLOUD_LOCATION', 'europe-west4')
  class GoogleAuth {
    getAccessToken = async () => 'token-of-the-library'
  }
  const ask = namedClients({
    load: async (specifier) =>
      specifier === 'google-auth-library' ? { GoogleAuth } : import(specifier),
  })

  const { url, headers } = await sentBy('google-vertex/gemini-3.8-flash', {}, ask)

  expect(url).toContain(
    'https://europe-west4-aiplatform.googleapis.com/v1beta1/projects/my-project/',
  )
  expect(headers).toContain('Bearer token-of-the-library')
})

describe('a compatible server', () => {
  test('of every dialect has a prefix', () => {
    const others = ['openai', 'compatible', 'azure', 'gemini', 'anthropic']
    const dialects = Object.keys(chatDialects).filter((name) => !others.includes(name))

    expect(Object.keys(compatibleServers).toSorted()).toEqual(dialects.toSorted())
  })

  test.each(Object.keys(compatibleServers))(
    '%s gets its own key and never that of OpenAI',
    async (name) => {
      vi.stubEnv('OPENAI_API_KEY', 'key-of-openai')
      vi.stubEnv(`${name.toUpperCase()}_API_KEY`, 'key-of-its-own')

      const { headers } = await sentBy(`${name}/m`)

      expect(headers).toContain('key-of-its-own')
      expect(headers).not.toContain('key-of-openai')
    },
  )

  test('without a key is refused if it needs one', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'key-of-openai')

    await expect(clientFor('groq/m')).rejects.toThrow(/set the variable GROQ_API_KEY/)
    expect((await sentBy('vllm/m')).headers).not.toContain('key-of-openai')
  })

  test('on another machine has its address in a variable', async () => {
    vi.stubEnv('OLLAMA_BASE_URL', 'http://gpu:11434/v1')

    expect((await sentBy('ollama/m')).url).toBe('http://gpu:11434/v1/chat/completions')
  })
})

describe('a provider of the AI SDK', () => {
  test('is the one that its package exports, or one that is created with settings', async () => {
    const settings = { name: 'mine', baseURL: 'https://example.com/v1' }

    const known = await clientFor('ai-sdk/amazon-bedrock/anthropic.claude-sonnet-5-5')
    const made = await clientFor('ai-sdk/openai-compatible/a/b', { provider: settings })

    expect([known.provider, known.model]).toEqual(['amazon-bedrock', 'anthropic.claude-sonnet-5-5'])
    expect([made.provider, made.model]).toEqual(['mine.chat', 'a/b'])
  })

  test('takes the options of the adapter beside', async () => {
    const client = await clientFor('ai-sdk/mistral/mistral-large-latest', { name: 'east' })

    expect(client.name).toBe('east')
  })

  test.each(['ai-sdk/mistral', 'ai-sdk/../x/m', 'ai-sdk/@evil/x', 'ai-sdk/a%2Fb/m'])(
    '%s is no name of one',
    async (name) => {
      const load = vi.fn()
      await expect(namedClients({ load })(name)).rejects.toThrow(/must name a provider and a model/)
      expect(load).not.toHaveBeenCalled()
    },
  )

  test('without a provider is refused', async () => {
    const load = async (specifier: string) =>
      specifier === '@ai-sdk/odd' ? { createOdd: () => ({}) } : import(specifier)
    await expect(namedClients({ load })('ai-sdk/odd/m')).rejects.toThrow(
      '@ai-sdk/odd exports no provider of language models',
    )
  })
})

describe('a package that is not installed', () => {
  test('is named in the error, with the command', async () => {
    const failure = await clientFor('ai-sdk/not-there/m').catch((error: unknown) => error)

    expect(LamellaError.is(failure, 'client_not_installed')).toBe(true)
    expect((failure as Error).message).toContain('run: npm install @ai-sdk/not-there')
  })

  test('is told from one that is broken', async () => {
    const broken = Object.assign(new Error("Cannot find package 'openai' imported from x"), {
      code: 'ERR_MODULE_NOT_FOUND',
    })
    const ask = namedClients({ load: () => Promise.reject(broken) })

    await expect(ask('openai/m')).rejects.toBe(broken)
  })
})

describe('prefixes of your own', () => {
  const nobody = (name: string): ChatClient => scriptedClient([name])
  const text = async (client: ChatClient): Promise<string> => (await client.getResponse('Hi')).text

  test('are functions, or names in other words', async () => {
    const ask = namedClients({
      prefixes: {
        test: (model, settings) => nobody(`${model} ${JSON.stringify(settings)}`),
        fast: 'test/small',
        eu: 'test',
      },
    })

    expect(await text(await ask('test/a/b', { x: 1 }))).toBe('a/b {"x":1}')
    expect(await text(await ask('fast'))).toBe('small {}')
    expect(await text(await ask('eu/large'))).toBe('large {}')
  })

  test('may override one of the package, and use it', async () => {
    vi.stubEnv('GROQ_API_KEY', 'key')
    const ask = namedClients({ prefixes: { openai: 'groq', groq: 'groq' } })

    expect((await sentBy('openai/m', {}, ask)).url).toContain('api.groq.com')
  })

  test.each([
    [{ 'a/b': 'openai' }, /a prefix must be a word/],
    [{ a: '' }, /`prefixes.a` must be a function or a name/],
    [{ a: 1 }, /`prefixes.a` must be a function or a name, got number/],
  ])('are checked: %j', (prefixes, problem) => {
    expect(() => namedClients({ prefixes: prefixes as never })).toThrow(problem)
  })
})

test('a call without a name takes that of the environment', async () => {
  vi.stubEnv('MY_MODEL', ' test/from-there ')
  const ask = namedClients({
    variable: 'MY_MODEL',
    prefixes: { test: (model) => scriptedClient([model]) },
  })

  expect((await (await ask()).getResponse('Hi')).text).toBe('from-there')
  await expect(clientFor()).rejects.toThrow(/set the variable LAMELLA_MODEL/)
})

test.each([
  ['gpt-5-mini', /"gpt-5-mini" has no known prefix; it must be one of ai-sdk, anthropic, /],
  ['__proto__/m', /no known prefix/],
  ['constructor/m', /no known prefix/],
  ['cohere/command', /or "ai-sdk\/cohere\/…" for a provider of the AI SDK/],
  ['openai', /"openai" names no model/],
])('the name %s is refused', async (name, problem) => {
  await expect(clientFor(name)).rejects.toThrow(problem)
})
