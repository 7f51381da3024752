import { afterEach, expect, test } from 'vitest'
import { clientRequest, collect, failureOf } from './scripted/client-request.ts'
import { answer, begin, RawServer } from './raw-server.ts'

const servers: RawServer[] = []
async function serve(...handlers: Parameters<typeof RawServer.start>): Promise<RawServer> {
  const server = await RawServer.start(...handlers)
  servers.push(server)
  return server
}
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())))

const words = 'data: Grüße 🌍\n\n'

test.each([0, 1, 3])('a text arrives as it was, in pieces of %i bytes', async (size) => {
  const server = await serve(answer(words, { size }))

  const response = await fetch(server.url)

  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(await response.text()).toBe(words)
})

test('an object is JSON, with the status and the headers it is given', async () => {
  const server = await serve(answer({ a: 1 }, { status: 418, headers: { 'x-id': '7' } }))

  const response = await fetch(server.baseURL)

  expect([response.status, response.headers.get('x-id')]).toEqual([418, '7'])
  expect(await response.json()).toEqual({ a: 1 })
})

test('a request is kept with its body, and there is none before', async () => {
  const server = await serve(answer(''))
  expect(() => server.last).toThrow('no request has arrived')

  await fetch(`${server.baseURL}/chat`, { method: 'POST', body: '{"model":"m"}' })

  expect(server.received).toHaveLength(1)
  expect(server.last).toMatchObject({ method: 'POST', path: '/v1/chat', body: { model: 'm' } })
})

test('an answer that has begun continues as it is told', async () => {
  const headers = { 'content-type': 'text/plain' }
  const server = await serve(begin(200, headers, 'half', (response) => response.end(' more')))

  const ended = await (await fetch(server.url)).text()
  server.handler = begin(200, headers, 'half', (response) => response.destroy())
  const cut = await failureOf(fetch(server.url).then((response) => response.text()))

  expect(ended).toBe('half more')
  expect(cut).toBeInstanceOf(TypeError)
})

test('a request for a client is one as the pipeline makes it', () => {
  expect(clientRequest('Hi.', { temperature: 0 }, { instructions: 'Be kind.' })).toMatchObject({
    messages: [{ role: 'user', contents: [{ type: 'text', text: 'Hi.' }] }],
    instructions: 'Be kind.',
    options: { transportRetries: 0, temperature: 0 },
    signal: { aborted: false },
  })
})

test('what a stream gives, and what it or a promise rejects with, is had by one call', async () => {
  async function* updates(error?: Error) {
    yield { contents: [] }
    if (error) throw error
  }
  const error = new Error('no')

  expect(await collect(updates())).toEqual([{ contents: [] }])
  expect([await failureOf(updates(error)), await failureOf(Promise.reject(error))]).toEqual([
    error,
    error,
  ])
  await expect(failureOf(updates())).rejects.toThrow('it did not fail')
})
