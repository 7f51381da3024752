import OpenAI, {
  APIConnectionError,
  type APIError,
  APIUserAbortError,
  AuthenticationError,
} from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import type { ModelServer, ModelServerFailure, ModelServerOptions } from '../model-server.ts'
import { startModelServer } from '../model-server.ts'

const servers: ModelServer[] = []

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

async function start(
  options: ModelServerOptions = {},
  maxRetries = 0,
): Promise<{ server: ModelServer; client: OpenAI }> {
  const server = await startModelServer(options)
  servers.push(server)
  return { server, client: new OpenAI({ baseURL: server.baseURL, apiKey: 'any', maxRetries }) }
}

const body = { model: 'lamella-stand-in', input: 'Who are you?' }

/** The event types that arrived, and what the stream failed with. */
async function streamed(
  client: OpenAI,
  options: OpenAI.RequestOptions = {},
): Promise<{ types: string[]; error: unknown }> {
  const types: string[] = []
  try {
    for await (const { type } of await client.responses.create(
      { ...body, stream: true },
      options,
    )) {
      types.push(type)
    }
    return { types, error: undefined }
  } catch (error) {
    return { types, error }
  }
}

describe('a failure', () => {
  it('has the status, the headers and the usual error of the API', async () => {
    const { client } = await start({
      failures: [{ status: 429, headers: { 'retry-after': '7' } }, undefined],
    })

    const failed = client.responses.create(body)

    await expect(failed).rejects.toMatchObject({
      status: 429,
      code: 'rate_limit_exceeded',
      type: 'requests',
    })
    await expect(failed).rejects.toSatisfy(
      (error: APIError) => error.headers?.get('retry-after') === '7',
    )
    await expect(client.responses.create(body)).resolves.toMatchObject({ status: 'completed' })
  })

  it('can have a body of its own, also one that is no JSON', async () => {
    const { client } = await start({
      failures: [{ status: 502, body: '<html>Bad Gateway</html>' }],
    })

    await expect(client.responses.create(body)).rejects.toThrow('502 <html>Bad Gateway</html>')
  })

  it('counts the attempts of the SDK as requests', async () => {
    const { server, client } = await start(
      { failures: [{ status: 500, headers: { 'retry-after-ms': '1' } }] },
      1,
    )

    await client.responses.create(body)

    expect(server.requests.map(({ status }) => status)).toEqual([500, 200])
    expect(server.requests[1]?.headers['x-stainless-retry-count']).toBe('1')
  })

  it('can be decided by the request', async () => {
    const { client } = await start({
      failures: ({ path }) => (path.endsWith('/responses') ? { status: 503 } : undefined),
    })

    await expect(client.responses.create(body)).rejects.toMatchObject({ code: 'engine_overloaded' })
    await expect(client.models.list()).resolves.toMatchObject({
      data: [{ id: 'lamella-stand-in' }],
    })
  })

  it.for<[string, ModelServerFailure]>([
    ['closes the connection', { disconnect: true }],
    ['cuts a plain answer', { cutAfterEvents: 0 }],
    ['ends a plain answer early', { endAfterEvents: 0 }],
  ])('that %s is an error for the client', async ([, failure]) => {
    const { client } = await start({ failures: [failure] })

    await expect(client.responses.create(body)).rejects.toThrow(Error)
  })

  it('cuts the connection after so many events', async () => {
    const { server, client } = await start({ failures: [{ cutAfterEvents: 5 }] })

    const { types, error } = await streamed(client)

    expect(types.slice(0, 2)).toEqual(['response.created', 'response.in_progress'])
    expect(types.length).toBeLessThanOrEqual(5)
    expect(error).toMatchObject({ message: 'terminated' })
    expect(server.requests[0]?.outcome).toBe('cut')
  })

  it('ends a stream as if all were well', async () => {
    const { client } = await start({ failures: [{ endAfterEvents: 5 }] })

    const { types, error } = await streamed(client)

    expect(types).toHaveLength(5)
    expect(error).toBeUndefined()
  })

  it('sends an error inside a stream', async () => {
    const { client } = await start({ failures: [{ errorAfterEvents: 5 }, { errorAfterEvents: 2 }] })

    const { types, error } = await streamed(client)
    const chat = client.chat.completions
      .stream({ model: 'x', messages: [{ role: 'user', content: 'x' }] })
      .finalContent()

    expect(types).toHaveLength(5)
    expect(error).toMatchObject({ code: 'server_error' })
    await expect(chat).rejects.toMatchObject({ code: 'server_error' })
  })

  it('stalls until the client leaves, and notes that it left', async () => {
    const { server, client } = await start({ failures: [{ stallAfterEvents: 3 }] })
    const types: string[] = []

    for await (const { type } of await client.responses.create({ ...body, stream: true })) {
      types.push(type)
      if (types.length === 3) break
    }

    await expect.poll(() => server.requests[0]?.outcome).toBe('left')
  })
})

describe('the server', () => {
  it('keeps a journal of what arrived, and tells of it before it answers', async () => {
    const told: [number, number | undefined][] = []
    const { server, client } = await start({
      onRequest: ({ index, status }) => told.push([index, status]),
    })

    await client.responses.create(body, { query: { a: 'b' } })
    await client.models.retrieve('lamella-stand-in')

    expect(told).toEqual([
      [0, undefined],
      [1, undefined],
    ])
    expect(server.requests).toMatchObject([
      { method: 'POST', path: '/v1/responses?a=b', body, status: 200 },
      { method: 'GET', path: '/v1/models/lamella-stand-in', body: undefined, status: 200 },
    ])
    await expect
      .poll(() => server.requests.map(({ outcome }) => outcome))
      .toEqual(['answered', 'answered'])
  })

  it('wants the key that it was given, as bearer or as Azure sends it', async () => {
    const { server, client } = await start({ apiKey: 'right' })
    const right = client.withOptions({ apiKey: 'right' })
    const azure = client.withOptions({ defaultHeaders: { 'api-key': 'right' } })

    await expect(client.responses.create(body)).rejects.toThrow(AuthenticationError)
    await expect(right.responses.create(body)).resolves.toMatchObject({ status: 'completed' })
    await expect(azure.responses.create(body)).resolves.toMatchObject({ status: 'completed' })
    expect(server.requests.map(({ status }) => status)).toEqual([401, 200, 200])
  })

  it('answers other paths with 404, and other models with itself', async () => {
    const { client } = await start()

    await expect(client.embeddings.create({ model: 'x', input: 'x' })).rejects.toThrow(
      '404 Invalid URL (POST /v1/embeddings)',
    )
    await expect(client.responses.create({ ...body, model: 'gpt-5-mini' })).resolves.toMatchObject({
      model: 'lamella-stand-in',
    })
  })

  it('refuses a body that is no JSON', async () => {
    const { server } = await start()

    const response = await fetch(`${server.baseURL}/responses`, { method: 'POST', body: '{' })

    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } })
  })

  it.for([1, 2, 7, 1000])('can be read when every write is %i bytes', async (writeBytes) => {
    const { client } = await start({ writeBytes, answer: () => ({ text: 'Grüße 😀' }) })

    const stream = client.responses.stream(body)

    expect((await stream.finalResponse()).output_text).toBe('Grüße 😀')
  })

  it('waits before it answers, and stops waiting when the client leaves', async () => {
    const { server, client } = await start({ latencyMs: 60_000, chunkDelayMs: 60_000 })
    const controller = new AbortController()

    const waiting = streamed(client, { signal: controller.signal })
    await expect.poll(() => server.requests).toHaveLength(1)
    controller.abort()

    expect((await waiting).error).toBeInstanceOf(APIUserAbortError)
    await expect.poll(() => server.requests[0]?.outcome).toBe('left')
  })

  it('closes at once, with requests that wait, and more than once', async () => {
    const { server, client } = await start({ latencyMs: 60_000 })
    const waiting = client.responses.create(body)
    await expect.poll(() => server.requests).toHaveLength(1)

    await Promise.all([server.close(), server.close()])

    await expect(waiting).rejects.toThrow(APIConnectionError)
    await expect(fetch(server.url)).rejects.toThrow('fetch failed')
  })

  it('says when its port is taken', async () => {
    const { server } = await start()

    await expect(startModelServer({ port: Number(new URL(server.url).port) })).rejects.toThrow(
      'EADDRINUSE',
    )
  })

  it('fails with status 500 when the answer of a test throws', async () => {
    const { client } = await start({
      answer: () => {
        throw new Error('oops')
      },
    })

    await expect(client.responses.create(body)).rejects.toThrow(
      '500 The stand-in failed: Error: oops',
    )
  })
})
