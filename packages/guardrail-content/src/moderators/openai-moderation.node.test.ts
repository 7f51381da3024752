import type { GuardrailEvent } from '@lamella/guardrail'
import { Agent, createSession, message, text } from '@lamella/core'
import { scriptedClient, testClock } from '@lamella/testing'
import { expect, test } from 'vitest'
import { contentFilter } from '../filter/content-filter.ts'
import type { ContentFilterOptions } from '../filter/content-filter-options.ts'
import type { ModerationAnswer, ModerationRequest } from './moderation-server.test-helper.ts'
import { openaiResult, startModerationServer } from './moderation-server.test-helper.ts'
import { openaiModeration } from './openai-moderation.ts'

const signal = new AbortController().signal

function answering({ body }: ModerationRequest): ModerationAnswer {
  const results = (body['input'] as unknown[]).map((input) => openaiResult(JSON.stringify(input)))
  return { body: { id: 'modr-1', model: 'omni-moderation-latest', results } }
}

function agentWith(baseURL: string, options: ContentFilterOptions = {}, answer = 'Fine.'): Agent {
  const moderation = openaiModeration({ baseURL, apiKey: 'sk-test' })
  return new Agent({
    client: scriptedClient(() => answer),
    middleware: contentFilter({ moderation, ...options }),
  })
}

test('what it flags is blocked, and the request is as the endpoint wants it', async () => {
  await using server = await startModerationServer(answering)
  const session = createSession()

  const response = await agentWith(server.url).run('I will kill him', { session })

  expect(response).toMatchObject({
    status: 'blocked',
    block: { guardrail: 'content-moderation', stage: 'input', category: 'violence' },
  })
  expect(server.requests).toMatchObject([
    {
      url: '/moderations',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body: { model: 'omni-moderation-latest', input: ['I will kill him'] },
    },
  ])
  expect(JSON.stringify([response, session])).not.toContain('kill')
})

test('what it does not flag passes', async () => {
  await using server = await startModerationServer(answering)

  const response = await agentWith(server.url).run('I will meet him')

  expect(response.text).toBe('Fine.')
  expect(server.requests.map(({ body }) => body['input'])).toEqual([['I will meet him'], ['Fine.']])
})

test('a threshold of ours counts more than its own word, also for a part of a category', async () => {
  await using server = await startModerationServer(answering)
  const lenient = agentWith(server.url, { thresholds: { violence: 0.95 } })
  const strict = agentWith(server.url, { thresholds: { self_harm: 0.15 } })

  expect((await lenient.run('kill')).status).toBe('completed')
  expect((await strict.run('hello')).block?.category).toBe('self_harm/intent')
})

test('an image is judged where files are named', async () => {
  await using server = await startModerationServer(answering)
  const agent = agentWith(server.url, { applyTo: ['input', 'file'] })
  const image = { type: 'data', mediaType: 'image/png', data: new Uint8Array([1, 2, 3]) } as const

  const seen = await agent.run(message('user', [text('Look'), image]))
  const unread = await agent.run(message('user', [{ ...image, mediaType: 'application/zip' }]))

  expect(seen.status).toBe('completed')
  expect(server.requests[1]?.body['input']).toEqual([
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } },
  ])
  expect(unread.block).toMatchObject({ category: 'unsupported' })
})

test('a long text is judged in pieces that overlap', async () => {
  await using server = await startModerationServer(answering)
  const moderator = openaiModeration({ baseURL: server.url, apiKey: 'k', maxChars: 1000 })

  const long = `${'a '.repeat(1200)}kill${' b'.repeat(200)}`
  const scores = await moderator.moderate({ type: 'text', text: long }, signal)

  expect(scores['violence']).toEqual({ flagged: true, score: 0.93 })
  expect(server.requests.map(({ body }) => String(body['input']).length)).toEqual([
    1000, 1000, 1000, 404,
  ])
})

test('a streamed answer is judged by sentences, and nothing of what is flagged gets out', async () => {
  await using server = await startModerationServer(answering)
  const sentence = 'All is well here today. '
  const answer = `${sentence.repeat(20)}Now I will kill him. ${sentence.repeat(20)}`
  const stream = agentWith(server.url, {}, answer).run('Continue', { stream: true })

  let seen = ''
  for await (const { contents } of stream)
    for (const part of contents) if (part.type === 'text') seen += part.text

  expect((await stream.finalResponse()).status).toBe('blocked')
  expect(seen).toContain(sentence)
  expect(seen).not.toContain('kill')
  // The question, and the answer in windows of some 400 characters up to the one that is flagged.
  expect(server.requests.length).toBeLessThanOrEqual(3)
})

test.each<[string, ModerationAnswer | undefined]>([
  ['an error status', { status: 429, body: { error: { message: 'my secret' } } }],
  ['no JSON', { body: '<html>my secret' }],
  ['no results', { body: { results: [] } }],
  ['a result without a verdict', { body: { results: [{}] } }],
  ['nobody there', undefined],
])('%s follows `onError`, and neither error nor event has a word of it', async (_, answer) => {
  await using server = await startModerationServer(() => answer ?? 'hang')
  const url = answer === undefined ? 'http://127.0.0.1:1' : server.url
  const events: GuardrailEvent[] = []
  const onEvent = (event: GuardrailEvent) => events.push(event)

  const closed = await agentWith(url, { onEvent }).run('my secret')
  const open = await agentWith(url, { onError: 'open' }).run('my secret')

  expect(closed.block?.category).toBe('guardrail_error')
  expect(open.text).toBe('Fine.')
  const [event] = events.filter(({ status }) => status === 'error')
  expect(event?.error).toMatchObject({ code: 'moderation_failed' })
  expect(String(event?.error)).not.toMatch(/secret|html/)
})

test('an abort ends the request', async () => {
  await using server = await startModerationServer(() => 'hang')
  const controller = new AbortController()
  const run = agentWith(server.url).run('hello', { signal: controller.signal })
  while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve))

  controller.abort(new Error('enough'))

  await expect(run).rejects.toThrow('enough')
  while (server.left() === 0) await new Promise((resolve) => setImmediate(resolve))
  expect(server.left()).toBe(1)
})

test('texts of several runs go into one request, and one run may leave it', async () => {
  let hangs = false
  await using server = await startModerationServer((request) =>
    hangs ? 'hang' : answering(request),
  )
  const clock = testClock()
  const moderator = openaiModeration({
    baseURL: server.url,
    apiKey: async () => 'fresh',
    batch: { maxItems: 3, maxWaitMs: 10 },
    clock,
  })
  const ask = (what: string, with_ = signal) =>
    moderator.moderate({ type: 'text', text: what }, with_)

  const full = Promise.all([ask('a'), ask('kill'), ask('c')])
  expect((await full).map((scores) => scores['violence']?.flagged)).toEqual([false, true, false])

  const leaving = new AbortController()
  const left = ask('e', leaving.signal)
  const few = ask('d')
  leaving.abort(new Error('gone'))
  await expect(left).rejects.toThrow('gone')
  await clock.advance(10)
  expect((await few)['violence']?.flagged).toBe(false)
  expect(server.requests.map(({ body }) => body['input'])).toEqual([['a', 'kill', 'c'], ['d']])
  expect(server.requests[0]?.headers.authorization).toBe('Bearer fresh')

  hangs = true
  const both = [new AbortController(), new AbortController()]
  const hanging = both.map((each) => ask('x', each.signal))
  await clock.advance(10)
  while (server.requests.length < 3) await new Promise((resolve) => setImmediate(resolve))
  for (const each of both) each.abort(new Error('gone'))
  for (const each of hanging) await expect(each).rejects.toThrow('gone')
  while (server.left() === 0) await new Promise((resolve) => setImmediate(resolve))
  expect(clock.sleeping).toBe(0)
})

test('wrong options are named', () => {
  expect(() => openaiModeration({ apiKey: '' })).toThrow(/openaiModeration: `apiKey`/)
  expect(() => openaiModeration({ apiKey: 'k', maxChars: 0 })).toThrow(/`maxChars`.*got 0/)
  expect(() => openaiModeration({ apiKey: 'k', batch: { maxItems: 0 } })).toThrow(
    /`batch.maxItems`/,
  )
})
