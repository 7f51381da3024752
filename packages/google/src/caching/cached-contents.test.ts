import type { ChatOptions, Message } from '@lamella/core'
import { message, tool } from '@lamella/core'
import { clientRequest } from '@lamella/testing'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { googleRecording } from '../../fixtures/google-recording.ts'
import { GoogleChatClient } from '../google-chat-client.ts'
import { cachedContents } from './cached-contents.ts'

type Body = Readonly<Record<string, any>> // oxlint-disable-line typescript/no-explicit-any -- read by the tests

const hourMs = 3_600_000
const weather = tool({ name: 'get_weather', description: '' })
const vertex = { project: 'p', token: async () => 'token' }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

interface Refusals {
  readonly creation?: number
  readonly use?: number
}

/** A client and the requests that it sends. */
function play({ creation, use }: Refusals = {}, more = {}) {
  const sent: { path: string; body: Body }[] = []
  const refusal = (status: number) => Response.json({ error: { message: 'no' } }, { status })
  const client = new GoogleChatClient({
    ...('vertex' in more ? {} : { apiKey: 'k' }),
    model: 'gemini-3-flash',
    caching: cachedContents(),
    fetch: async (url, init) => {
      const { pathname } = new URL(new Request(url).url)
      const body: Body = JSON.parse(init?.body as string)
      const number = sent.push({ path: pathname, body })
      if (!pathname.endsWith('cachedContents')) {
        if (use !== undefined && body['cachedContent'] !== undefined) return refusal(use)
        const { whole } = googleRecording([{ text: 'Hi.' }])
        return pathname.endsWith('streamGenerateContent')
          ? new Response(`data: ${JSON.stringify(whole)}\n\n`, {
              headers: { 'content-type': 'text/event-stream' },
            })
          : Response.json(whole)
      }
      if (creation !== undefined) return refusal(creation)
      return Response.json({ name: `cachedContents/${number}` })
    },
    ...more,
  })
  const request = (input: readonly Message[], cachedContent = {}, options: ChatOptions = {}) => ({
    ...clientRequest(input, {
      tools: [weather],
      transportRetries: 0,
      ...options,
      providerOptions: { google: { cachedContent } },
    }),
    instructions: 'Be brief.',
  })
  const ask = async (...given: Parameters<typeof request>) => client.respond(request(...given))
  const stream = async (...given: Parameters<typeof request>) => {
    for await (const _ of client.stream(request(...given))) continue
  }
  return { sent, ask, stream, bodies: () => sent.map(({ body }) => body) }
}

const words = (text: string) => ({ role: 'user', parts: [{ text }] })
const user = (text: string) => message('user', text)

describe('a cached content that the client makes', () => {
  test('has instructions, tools and the first messages, and is made once', async () => {
    const { sent, ask } = play()
    const book = user('A long book.')

    await ask([book, user('Who?')], { messages: 1 })
    await ask([book, user('Why?')], { messages: 1 })

    expect(sent[0]).toEqual({
      path: '/v1beta/cachedContents',
      body: {
        model: 'models/gemini-3-flash',
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        tools: [{ functionDeclarations: [{ name: 'get_weather' }] }],
        contents: [words('A long book.')],
        ttl: '3600s',
      },
    })
    const rest = { cachedContent: 'cachedContents/1' }
    expect(sent.slice(1).map(({ body }) => body)).toEqual([
      { ...rest, contents: [words('Who?')] },
      { ...rest, contents: [words('Why?')] },
    ])
  })

  test('is made once for calls at the same time', async () => {
    const { sent, ask } = play()

    await Promise.all([ask([user('Who?')]), ask([user('Why?')])])

    expect(sent.filter(({ path }) => path.endsWith('cachedContents'))).toHaveLength(1)
  })

  test('is made anew when it ends, and of other tools', async () => {
    const { bodies, ask } = play()

    await ask([user('Who?')], { ttlMs: hourMs })
    await vi.advanceTimersByTimeAsync(hourMs)
    await ask([user('Who?')], { ttlMs: hourMs })
    await ask([user('Who?')], { ttlMs: hourMs }, { tools: [] })

    expect(bodies().map(({ cachedContent }) => cachedContent)).toEqual([
      undefined,
      'cachedContents/1',
      undefined,
      'cachedContents/3',
      undefined,
      'cachedContents/5',
    ])
  })

  test('is one of the project on Vertex AI', async () => {
    const { sent, ask } = play({}, { vertex })

    await ask([user('Who?')])

    expect(sent[0]).toMatchObject({
      path: '/v1beta1/projects/p/locations/global/cachedContents',
      body: { model: 'projects/p/locations/global/publishers/google/models/gemini-3-flash' },
    })
  })

  test('is the same for streamed and plain answers', async () => {
    const { sent, ask, stream } = play()

    await ask([user('Who?')])
    await stream([user('Why?')])

    expect(sent.map(({ path }) => path.replace(/^.*[/:]/, ''))).toEqual([
      'cachedContents',
      'generateContent',
      'streamGenerateContent',
    ])
    expect(sent[2]!.body['cachedContent']).toBe('cachedContents/1')
  })

  test('is not that of another client that shares the option', async () => {
    const caching = cachedContents()
    const [one, other] = [play({}, { caching }), play({}, { caching, apiKey: 'other' })]

    await one.ask([user('Who?')])
    await other.ask([user('Who?')])

    expect(other.sent[0]!.path).toBe('/v1beta/cachedContents')
  })

  test('is left out where nothing would remain of the request', async () => {
    const { bodies, ask } = play()

    await ask([user('Who?')], { messages: 9 })

    expect(bodies()).toMatchObject([{ contents: [words('Who?')], tools: [{}] }])
  })
})

test.each([
  [400, 1],
  [429, 2],
  [500, 2],
])('a request is sent whole where a content is not cached (%i)', async (creation, tries) => {
  const { sent, ask } = play({ creation })

  await ask([user('Who?')])
  await ask([user('Why?')])

  const [made, asked] = [
    sent.filter(({ path }) => path.endsWith('s')),
    sent.filter(({ path }) => path.endsWith('t')),
  ]
  expect(made).toHaveLength(tries)
  expect(asked).toMatchObject([
    { body: { contents: [words('Who?')], systemInstruction: {}, tools: [{}] } },
    { body: { contents: [words('Why?')], systemInstruction: {}, tools: [{}] } },
  ])
})

test('a content that somebody has deleted is forgotten', async () => {
  const { bodies, ask } = play({ use: 403 })

  await ask([user('Who?')])

  expect(bodies()).toMatchObject([
    { ttl: '3600s' },
    { cachedContent: 'cachedContents/1' },
    { contents: [words('Who?')], tools: [{}] },
  ])
})

test('options of a cached content need the option of the client', async () => {
  const { ask } = play({}, { caching: undefined })

  await expect(ask([user('Hi')], {})).rejects.toThrow(/need the option `caching` of the client/)
})

test.each([
  [{ ttl: 1 }, /cachedContent: unknown option `ttl`; did you mean `ttlMs`/],
  [{ ttlMs: 0 }, /`ttlMs` must be a number of milliseconds above 0, got 0/],
  [{ ttlMs: Infinity }, /`ttlMs` must be a number of milliseconds above 0/],
  [{ messages: 1.5 }, /`messages` must be a whole number from 0 up, got 1.5/],
])('a wrong option throws: %j', async (cachedContent, problem) => {
  const { ask } = play()

  await expect(ask([user('Hi')], cachedContent)).rejects.toThrow(problem)
})
