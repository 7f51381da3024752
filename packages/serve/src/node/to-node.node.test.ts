import type { Server } from 'node:http'
import { Agent as Pool, createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { afterEach, expect, test } from 'vitest'
import { served } from '../sse/served.test-helper.ts'
import type { Handler } from '../chats/guarded-handler.ts'
import { toNode } from './to-node.ts'

const closing: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const listen = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/chat`
}

const mounts: Record<string, (handler: Handler) => Promise<string>> = {
  'plain Node': (handler) => listen(createServer(toNode(handler))),
  Express: async (handler) => {
    const app = express()
    app.use('/chat', express.json(), toNode(handler))
    return listen(createServer(app))
  },
  Fastify: async (handler) => {
    const app = fastify()
    app.all('/chat', toNode(handler) as never)
    closing.push(() => app.close())
    return `${await app.listen({ host: '127.0.0.1', port: 0 })}/chat`
  },
  Hono: async (handler) => {
    const app = new Hono().all('/chat', (context) => handler(context.req.raw))
    return listen(createServer(toNode(async (raw) => app.fetch(raw))))
  },
  // Next calls the export of the method with a request of its own class and the parameters of the route.
  'a route of Next': (handler) => {
    class NextRequest extends Request {
      readonly nextUrl = new URL(this.url)
    }
    type Route = (request: NextRequest, context: { params: Promise<object> }) => Promise<Response>
    const route: Readonly<Record<string, Route>> = { GET: handler, POST: handler, DELETE: handler }
    const call: Handler = (raw) =>
      route[raw.method]!(new NextRequest(raw), { params: Promise.resolve({}) })
    return listen(createServer(toNode(call)))
  },
}

const post = (url: string, body: unknown, signal?: AbortSignal) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-user': 'ann' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  })

test.each(Object.entries(mounts))('%s serves a chat', async (_, mount) => {
  const { handler } = served(['Hello, Ann.', { updates: ['Half'], hang: true }])
  const url = await mount(handler)

  const answer = await (await post(url, { chat: 'c1', input: 'I am Ann.' })).text()
  const refused = await post(url, { chat: 'c1' })
  const history = await fetch(`${url}?chat=c1`, { headers: { 'x-user': 'ann' } })

  expect(answer).toContain('event: done')
  expect(refused.status).toBe(400)
  expect(await history.json()).toMatchObject({
    messages: [{ role: 'user' }, { role: 'assistant' }],
  })
})

test.each(Object.entries(mounts))('%s: a connection that closes ends the run', async (_, mount) => {
  const { handler, client } = served([{ updates: ['Half'], hang: true }])
  const url = await mount(handler)
  const leave = new AbortController()
  const response = await post(url, { chat: 'c1', input: 'Hi' }, leave.signal)
  await response.body!.getReader().read()

  leave.abort()

  await expect.poll(() => client.requests[0]!.signal.aborted).toBe(true)
})

test('a reader whose connection takes nothing is dropped, with its socket', async () => {
  const big = 'x'.repeat(400_000)
  const { handler, client } = served(
    [{ updates: Array.from({ length: 100 }, () => big), hang: true }],
    { readerTimeoutMs: 100 },
  )
  const server = createServer(toNode(handler))
  const url = await listen(server)
  const body = JSON.stringify({ chat: 'c1', input: 'Hi' })
  const headers = { 'content-type': 'application/json', 'x-user': 'ann' }
  const asked = httpRequest(url, { method: 'POST', headers })
  asked.on('error', () => {})
  asked.end(body)
  // Its body is never read.
  await new Promise((resolve) => asked.on('response', resolve))

  await expect.poll(() => client.requests[0]!.signal.aborted).toBe(true)
  const open = () =>
    new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))
  await expect.poll(open).toBe(0)
})

test('a handler that throws is a 500 without words, and cookies stay apart', async () => {
  const failing = await mounts['plain Node']!(() => Promise.reject(new Error('secret')))
  const headers = new Headers([
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2'],
  ])
  const cookies = await mounts['plain Node']!(
    async () => new Response(null, { status: 204, headers }),
  )

  const response = await fetch(failing)

  expect([response.status, await response.text()]).toEqual([500, ''])
  expect((await fetch(cookies)).headers.getSetCookie()).toEqual(['a=1', 'b=2'])
})

const json = { 'content-type': 'application/json' }
const ann = { ...json, 'x-user': 'ann' }
const large = 'x'.repeat(300_000)
const refusals: Record<string, { status: number; body: string; headers: Record<string, string> }> =
  {
    'an unknown sender': { status: 401, body: large, headers: json },
    'another site': {
      status: 403,
      body: large,
      headers: { ...ann, 'sec-fetch-site': 'cross-site' },
    },
    'another type': { status: 415, body: large, headers: { ...ann, 'content-type': 'text/plain' } },
    'a long body': { status: 413, body: large.repeat(7), headers: ann },
    'a long body of unknown length': {
      status: 413,
      body: large.repeat(7),
      headers: { ...ann, 'transfer-encoding': 'chunked' },
    },
    'no JSON': { status: 400, body: large, headers: ann },
  }

function statusOf(url: string, pool: Pool, headers: Record<string, string>, body: string) {
  return new Promise<number | undefined>((resolve, reject) => {
    const asked = httpRequest(url, { method: 'POST', agent: pool, headers }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode))
    })
    asked.once('error', reject)
    asked.end(body)
  })
}

test.each(Object.entries(refusals))(
  'a request that is refused leaves its connection to the next one: %s',
  async (_, { status, body, headers }) => {
    const { handler } = served(['Hello.'])
    const server = createServer(toNode(handler))
    let connections = 0
    server.on('connection', () => connections++)
    const url = await listen(server)
    const pool = new Pool({ keepAlive: true, maxSockets: 1 })
    closing.push(() => pool.destroy())

    const refused = await statusOf(url, pool, headers, body)
    const next = await statusOf(url, pool, ann, JSON.stringify({ chat: 'c1', input: 'Hi' }))

    expect([refused, next, connections]).toEqual([status, 200, 1])
  },
)

test('a request with an invalid host is a mistake of its client', async () => {
  const url = await mounts['plain Node']!(() => Promise.resolve(new Response('never')))

  const status = await statusOf(url, new Pool(), { host: 'a b' }, '')

  expect(status).toBe(400)
})
