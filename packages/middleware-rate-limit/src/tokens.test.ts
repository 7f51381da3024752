import { ProviderError } from '@lamella/core'
import { runAgentMiddleware, runChatMiddleware, testClock } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { failure, limitedAgent, settled } from './limited-agent.test-helper.ts'
import type { RateLimitOptions } from './index.ts'
import { rateLimit } from './index.ts'

const tokens = ({ limit = 100, ...options }: Partial<RateLimitOptions> & { limit?: number } = {}) =>
  rateLimit({
    limits: [{ unit: 'totalTokens', limit, windowMs: 60_000 }],
    estimate: () => ({ inputTokens: 30, outputTokens: 30 }),
    onLimit: 'reject',
    clock: testClock(),
    ...options,
  })

/** Remaining amount, as the next call sees it. */
async function left(middleware: ReturnType<typeof rateLimit>): Promise<unknown> {
  let seen: unknown
  await runChatMiddleware([
    middleware,
    {
      level: 'chat',
      name: 'look',
      process: (context) => {
        seen = (context.metadata['rateLimit'] as { remaining: number }[])[0]!.remaining + 60
        context.result = { messages: 'Seen.', usage: { totalTokens: 0 } }
      },
    },
  ])
  return seen
}

describe.each([false, true])('tokens, with stream: %s', (stream) => {
  it('are reserved while a call runs, and settled when it is over', async () => {
    const middleware = tokens()
    const usage = { inputTokens: 12, outputTokens: 8, totalTokens: 20 }
    const subject = limitedAgent(middleware, usage)
    subject.hold()
    const run = async () =>
      stream ? subject.agent.run('a', { stream }).finalResponse() : subject.agent.run('a')

    const first = run()
    await settled()
    const second = await failure(subject.agent.run('b'))
    await subject.finish()
    await first

    expect(second).toMatchObject({ unit: 'totalTokens', remaining: 40 })
    const third = run()
    await settled()
    expect(subject.started).toEqual(['a', 'a'])
    await subject.finish()
    await third
  })

  it('are given back when a call fails, but for what it has used', async () => {
    const middleware = tokens()
    const partial = { messages: 'Hal', usage: { inputTokens: 10, totalTokens: 10 } }
    const error = new ProviderError('broke off', {
      kind: 'truncated_stream',
      provider: 'scripted',
      partial: { ...partial, messages: [], text: '', functionCalls: [], metadata: {} },
    })
    await runChatMiddleware(middleware, { replies: [error], stream })

    expect(await left(middleware)).toBe(90)
  })

  it('are given back when a call is aborted', async () => {
    const middleware = tokens()
    const subject = limitedAgent(middleware)
    subject.hold()
    const abort = new AbortController()
    const { signal } = abort
    const run = stream
      ? subject.agent.run('a', { signal, stream }).finalResponse()
      : subject.agent.run('a', { signal })
    const failed = failure(run)
    await settled()
    abort.abort(new Error('enough'))
    await failed
    await settled()

    expect(await left(middleware)).toBe(100)
  })

  it('stay as they were estimated when nobody says what a call has used', async () => {
    const middleware = tokens()
    await runChatMiddleware(middleware, { replies: [{ messages: 'Hm.', usage: {} }], stream })

    expect((await runChatMiddleware(middleware)).error).toMatchObject({ remaining: 40 })
  })

  it('that a cache saved are not counted', async () => {
    const middleware = tokens()
    await runChatMiddleware(
      [
        middleware,
        {
          level: 'chat',
          name: 'cache',
          process: (context) => {
            context.result = { messages: 'Known.', usage: { inputTokens: 0, totalTokens: 0 } }
          },
        },
      ],
      { stream },
    )

    expect(await left(middleware)).toBe(100)
  })
})

describe('an estimate', () => {
  it('counts the input and a part of what the answer may be', async () => {
    const middleware = tokens({ limit: 1000, estimate: undefined })
    const { agent } = limitedAgent(middleware)

    await agent.run('one two three four', { options: { maxOutputTokens: 1900 } })
    const error = await failure(agent.run('a', { options: { maxOutputTokens: 2000 } }))

    expect(error).toMatchObject({ remaining: 985 })
  })

  it('larger than the limit waits for all of it and no more', async () => {
    const middleware = tokens({ limit: 10 })
    const { agent } = limitedAgent(middleware, { totalTokens: 4 })

    expect((await agent.run('a')).status).toBe('completed')
    expect(await failure(agent.run('b'))).toMatchObject({ remaining: 6 })
  })
})

it('input, output and cost are counted apart', async () => {
  const middleware = rateLimit({
    limits: [
      { unit: 'inputTokens', limit: 100, windowMs: 1000 },
      { unit: 'outputTokens', limit: 100, windowMs: 1000 },
      { unit: 'cost', limit: 1, windowMs: 1000 },
    ],
    estimate: () => ({ inputTokens: 1 }),
    price: ({ inputTokens = 0, outputTokens = 0 }) => inputTokens * 0.001 + outputTokens * 0.01,
  })
  const usage = { inputTokens: 50, outputTokens: 20, totalTokens: 70 }

  await runChatMiddleware(middleware, { replies: [{ messages: 'Hi.', usage }] })
  const { metadata } = await look(middleware)

  const remaining = (metadata['rateLimit'] as { remaining: number }[]).map((of) => of.remaining)
  expect(remaining[0]).toBe(49)
  expect(remaining[1]).toBe(79)
  expect(remaining[2]).toBeCloseTo(0.749)
})

it.each([-5, Number.NaN, Infinity])('a price of %d leaves what was reserved', async (wrong) => {
  const middleware = rateLimit({
    limits: [{ unit: 'cost', limit: 1, windowMs: 60_000 }],
    estimate: () => ({ inputTokens: 1 }),
    price: ({ outputTokens }) => (outputTokens === undefined ? 0.25 : wrong),
  })

  await runChatMiddleware(middleware, {
    replies: [{ messages: 'Hi.', usage: { outputTokens: 9 } }],
  })
  const { metadata } = await look(middleware)

  expect(metadata['rateLimit']).toMatchObject([{ remaining: 0.5 }])
})

it.each([-1, Number.NaN, 1e308])(
  'a reported count of %d leaves what was reserved',
  async (count) => {
    const middleware = tokens({ limit: 200 })
    const usage = { inputTokens: count, outputTokens: count, totalTokens: count }

    await runChatMiddleware(middleware, { replies: [{ messages: 'Hi.', usage }] })

    expect(await left(middleware)).toBe(140)
  },
)

async function look(middleware: ReturnType<typeof rateLimit>) {
  let metadata: Record<string, unknown> = {}
  await runChatMiddleware([
    middleware,
    {
      level: 'chat',
      name: 'look',
      process: async (context, callNext) => {
        metadata = context.metadata
        await callNext()
      },
    },
  ])
  return { metadata }
}

it('at agent level, a run is settled with all that its model calls have used', async () => {
  const middleware = rateLimit({
    level: 'agent',
    limits: [{ unit: 'totalTokens', limit: 100, windowMs: 60_000 }],
    onLimit: 'reject',
  })
  const usage = { inputTokens: 60, outputTokens: 20, totalTokens: 80 }

  await runAgentMiddleware(middleware, { replies: [{ messages: 'Hi.', usage }] })
  const { error } = await runAgentMiddleware(middleware, { input: 'x'.repeat(200) })

  expect(error).toMatchObject({ code: 'rate_limited', remaining: 20 })
})
