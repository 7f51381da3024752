import type { RunEvent } from '@lamella/core'
import { LamellaError } from '@lamella/core'
import { testClock } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { failure, limitedAgent, settled } from './limited-agent.test-helper.ts'
import type { RateLimitOptions } from './index.ts'
import { RateLimitError, rateLimit } from './index.ts'

const perSecond = (limit: number) => [{ unit: 'requests', limit, windowMs: 1000 } as const]

describe.each([false, true])('with stream: %s', (stream) => {
  const run = async (
    { agent }: ReturnType<typeof limitedAgent>,
    input = 'Hi',
    signal?: AbortSignal,
  ) => {
    const options = signal === undefined ? {} : { signal }
    return stream
      ? agent.run(input, { ...options, stream }).finalResponse()
      : agent.run(input, options)
  }

  it('a call that is over the limit waits until the window has passed', async () => {
    const clock = testClock()
    const subject = limitedAgent(rateLimit({ limits: perSecond(2), clock }))

    const third = Promise.all(['a', 'b', 'c'].map((input) => run(subject, input)))
    await clock.advance(999)
    expect(subject.started).toEqual(['a', 'b'])

    await clock.advance(1)
    await third
    expect(subject.started).toEqual(['a', 'b', 'c'])
  })

  it('a call that is over the limit is rejected with what an HTTP 429 needs', async () => {
    const clock = testClock()
    const middleware = rateLimit({ limits: perSecond(1), onLimit: 'reject', clock })
    const subject = limitedAgent(middleware)
    await run(subject)
    await clock.advance(300)

    const error = await failure(run(subject))

    expect(error).toBeInstanceOf(RateLimitError)
    expect(LamellaError.is(error, 'rate_limited')).toBe(true)
    expect(error).toMatchObject({ unit: 'requests', limit: 1, remaining: 0, retryAfterMs: 700 })
    expect((error as RateLimitError).headers()).toEqual({
      'x-ratelimit-limit': '1',
      'x-ratelimit-remaining': '0',
      'retry-after': '1',
    })
    expect(subject.started).toHaveLength(1)
  })

  it('an abort ends the wait, and the next in line moves up', async () => {
    const clock = testClock()
    const subject = limitedAgent(rateLimit({ limits: perSecond(1), clock }))
    const abort = new AbortController()
    await run(subject, 'a')
    const second = run(subject, 'b', abort.signal)
    const third = run(subject, 'c')
    await settled()

    abort.abort(new Error('enough'))

    expect(await failure(second)).toMatchObject({ message: 'enough' })
    await clock.advance(1000)
    await third
    expect(subject.started).toEqual(['a', 'c'])
    expect(clock.sleeping).toBe(0)
  })

  it('at most so many calls are open at once, also when they fail or are aborted', async () => {
    const clock = testClock()
    const subject = limitedAgent(rateLimit({ limits: [{ unit: 'concurrency', limit: 2 }], clock }))
    subject.hold()
    const abort = new AbortController()

    const first = run(subject, 'a', abort.signal)
    const others = ['b', 'c', 'd'].map((input) => run(subject, input))
    await settled()
    expect(subject.started).toEqual(['a', 'b'])
    abort.abort(new Error('enough'))
    await failure(first)
    await settled()
    expect(subject.started).toEqual(['a', 'b', 'c'])
    for (const _ of others) await subject.finish()
    await Promise.all(others)

    expect(subject.started).toEqual(['a', 'b', 'c', 'd'])
    expect(subject.mostAtOnce).toBe(2)
  })
})

describe('a line', () => {
  it('is served first come, first served, and higher priorities first', async () => {
    const clock = testClock()
    const priority: RateLimitOptions['priority'] = ({ run }) => Number(run.data ?? 0)
    const { agent, started } = limitedAgent(rateLimit({ limits: perSecond(1), priority, clock }))

    const runs = ['a', 'b', 'c', 'd'].map((input) => agent.run(input))
    await settled()
    runs.push(agent.run('urgent', { data: 5 }))
    await clock.advance(5000)
    await Promise.all(runs)

    expect(started).toEqual(['a', 'urgent', 'b', 'c', 'd'])
  })

  it('a large call is not overtaken by small ones behind it', async () => {
    const clock = testClock()
    const middleware = rateLimit({
      limits: [{ unit: 'totalTokens', limit: 100, windowMs: 1000 }],
      estimate: ({ run }) => ({ totalTokens: Number(run.data) }),
      clock,
    })
    const { agent, started } = limitedAgent(middleware, {})

    const runs = [60, 90, 10].map((data) => agent.run(`${data}`, { data }))
    await clock.advance(3000)
    await Promise.all(runs)

    expect(started).toEqual(['60', '90', '10'])
  })

  it('rejects who would wait for longer than allowed, at once where that is known', async () => {
    const clock = testClock()
    const { agent } = limitedAgent(rateLimit({ limits: perSecond(1), maxWaitMs: 500, clock }))
    await agent.run('a')

    const known = await failure(agent.run('b'))
    await clock.advance(600)
    const passes = agent.run('c')
    await clock.advance(400)

    expect(known).toMatchObject({ code: 'rate_limited', reason: 'wait', retryAfterMs: 1000 })
    expect((await passes).text).toBe('Hello!')
  })

  it('rejects who has waited for as long as allowed', async () => {
    const clock = testClock()
    const limits = [{ unit: 'concurrency', limit: 1 } as const]
    const subject = limitedAgent(rateLimit({ limits, maxWaitMs: 500, clock }))
    subject.hold()
    const first = subject.agent.run('a')
    const second = failure(subject.agent.run('b'))

    await clock.advance(500)

    expect(await second).toMatchObject({ code: 'rate_limited', reason: 'wait' })
    await subject.finish()
    await first
    expect(clock.sleeping).toBe(0)
  })

  it('takes so many and no more', async () => {
    const clock = testClock()
    const { agent } = limitedAgent(rateLimit({ limits: perSecond(1), maxQueue: 2, clock }))
    await agent.run('a')
    const waiting = [agent.run('b'), agent.run('c')]

    const error = await failure(agent.run('d'))

    expect(error).toMatchObject({ code: 'rate_limited', reason: 'queue' })
    await clock.advance(2000)
    await Promise.all(waiting)
  })

  it('lets a function decide who waits', async () => {
    const clock = testClock()
    const onLimit: RateLimitOptions['onLimit'] = ({ retryAfterMs = 0 }) =>
      retryAfterMs > 500 ? 'reject' : 'wait'
    const { agent } = limitedAgent(rateLimit({ limits: perSecond(1), onLimit, clock }))
    await agent.run('a')

    const soon = await failure(agent.run('b'))
    await clock.advance(500)
    const later = agent.run('c')
    await clock.advance(500)

    expect(soon).toMatchObject({ reason: 'limit' })
    expect((await later).status).toBe('completed')
  })
})

describe('limits', () => {
  it('several hold together: what one denies is not taken from the other', async () => {
    const clock = testClock()
    const middleware = rateLimit({
      limits: [
        { unit: 'requests', limit: 3, windowMs: 1000 },
        { unit: 'concurrency', limit: 1 },
      ],
      onLimit: 'reject',
      clock,
    })
    const subject = limitedAgent(middleware)
    subject.hold()
    const first = subject.agent.run('a')
    await settled()

    await failure(subject.agent.run('b'))
    await failure(subject.agent.run('c'))
    await subject.finish()
    await first
    for (const input of ['d', 'e']) {
      const run = subject.agent.run(input)
      await settled()
      await subject.finish()
      await run
    }

    expect(await failure(subject.agent.run('f'))).toMatchObject({ unit: 'requests' })
  })

  it('are kept for each key, and each limit may have a key of its own', async () => {
    const clock = testClock()
    const of = (part: number) => (context: { run: { data: unknown } }) =>
      String(context.run.data).split('/')[part]!
    const middleware = rateLimit({
      limits: [
        { unit: 'requests', limit: 3, windowMs: 1000, key: of(0) },
        { unit: 'requests', limit: 2, windowMs: 1000, key: of(1) },
      ],
      onLimit: 'reject',
      clock,
    })
    const { agent } = limitedAgent(middleware)
    const passes = async (data: string) => {
      const result = await agent.run('Hi', { data }).catch((error: unknown) => error)
      return result instanceof RateLimitError ? result.limit : 0
    }

    const limitsHit = []
    for (const data of ['acme/ann', 'acme/ann', 'acme/ann', 'acme/bob', 'acme/bob', 'other/cleo']) {
      limitsHit.push(await passes(data))
    }

    expect(limitsHit).toEqual([0, 0, 2, 0, 3, 0])
  })

  it('those of model calls are kept for each provider and model', async () => {
    const clock = testClock()
    const { agent } = limitedAgent(rateLimit({ limits: perSecond(1), onLimit: 'reject', clock }))
    await agent.run('a')

    const other = await agent.run('b', { options: { model: 'large' } })

    expect(other.status).toBe('completed')
    expect(await failure(agent.run('c', { options: { model: 'small' } }))).toMatchObject({
      limit: 1,
    })
  })

  it('a token bucket gives back bit by bit', async () => {
    const clock = testClock()
    const middleware = rateLimit({ limits: perSecond(4), algorithm: 'token-bucket', clock })
    const { agent, started } = limitedAgent(middleware)

    const runs = Array.from({ length: 8 }, (_, index) => agent.run(`${index}`))
    const passed = []
    for (let turn = 0; turn < 5; turn++) {
      await clock.advance(turn === 0 ? 0 : 250)
      passed.push(started.length)
    }
    await Promise.all(runs)

    expect(passed).toEqual([4, 5, 6, 7, 8])
  })
})

describe('what it tells', () => {
  it('are events without keys or texts', async () => {
    const clock = testClock()
    const seen: RunEvent[] = []
    const told: unknown[] = []
    const middleware = rateLimit({
      limits: perSecond(1),
      key: () => 'secret-tenant',
      maxWaitMs: 1500,
      onEvent: (event) => told.push(event),
      clock,
    })
    const { agent } = limitedAgent(middleware)
    await agent.run('a')
    await clock.advance(200)

    const waits = agent.run('b', { onEvent: (event) => seen.push(event) })
    const rejected = failure(agent.run('c', { onEvent: (event) => seen.push(event) }))
    await clock.advance(2000)
    await Promise.all([waits, rejected])

    const denial = { limiter: 'rate-limit', unit: 'requests', limit: 1, remaining: 0 }
    expect(told).toMatchObject([
      { ...denial, status: 'waiting', retryAfterMs: 800 },
      { ...denial, status: 'waiting' },
      { ...denial, status: 'rejected' },
      { status: 'passed', waitedMs: 800 },
    ])
    expect(seen.map(({ type, data }) => [type, data])).toEqual(
      told.map((event) => ['rate_limit', event]),
    )
    expect(JSON.stringify([told, await rejected])).not.toContain('secret')
  })

  it('in shadow mode, is what it would do', async () => {
    const clock = testClock()
    const told: unknown[] = []
    const onEvent = (event: unknown) => told.push(event)
    const middleware = rateLimit({ limits: perSecond(1), mode: 'shadow', onEvent, clock })
    const { agent, started } = limitedAgent(middleware)

    await agent.run('a')
    await agent.run('b')

    expect(started).toEqual(['a', 'b'])
    expect(told).toMatchObject([{ status: 'shadow', unit: 'requests' }])
  })

  it('is what remains, in the metadata of the call', async () => {
    const seen: unknown[] = []
    const { agent } = limitedAgent([
      rateLimit({ limits: perSecond(3) }),
      {
        level: 'chat',
        name: 'look',
        process: async ({ metadata }, callNext) => {
          seen.push(metadata['rateLimit'])
          await callNext()
        },
      },
    ])

    await agent.run('a')

    expect(seen).toEqual([[{ unit: 'requests', limit: 3, remaining: 2 }]])
  })
})

it('1,000 runs at once hold the limit, in order, and none is lost', async () => {
  const clock = testClock()
  const middleware = rateLimit({
    limits: [...perSecond(100), { unit: 'concurrency', limit: 50 }],
    clock,
  })
  const subject = limitedAgent(middleware)
  const inputs = Array.from({ length: 1000 }, (_, index) => `${index}`)

  const runs = Promise.all(inputs.map((input) => subject.agent.run(input)))
  const passed = []
  for (let second = 0; second < 10; second++) {
    await clock.advance(second === 0 ? 999 : 1000)
    passed.push(subject.started.length)
  }
  await runs

  expect(passed).toEqual([100, 200, 300, 400, 500, 600, 700, 800, 900, 1000])
  expect(subject.started).toEqual(inputs)
  expect(subject.mostAtOnce).toBeLessThanOrEqual(50)
})

it.each<[string, object, string]>([
  ['no limits', { limits: [] }, 'limits'],
  ['an unknown unit', { limits: [{ unit: 'words', limit: 1, windowMs: 1 }] }, 'limits.0.unit'],
  ['a limit of 0', { limits: [{ unit: 'requests', limit: 0, windowMs: 1 }] }, 'limits.0.limit'],
  ['no window', { limits: [{ unit: 'requests', limit: 1 }] }, 'limits.0.windowMs'],
  [
    'a window of concurrency',
    { limits: [{ unit: 'concurrency', limit: 1, windowMs: 9 }] },
    'limits.0.windowMs',
  ],
  ['cost without a price', { limits: [{ unit: 'cost', limit: 1, windowMs: 9 }] }, 'price'],
  [
    'tokens of tools',
    { level: 'function', limits: [{ unit: 'totalTokens', limit: 1, windowMs: 9 }] },
    'level',
  ],
  ['an unknown level', { limits: perSecond(1), level: 'run' }, 'level'],
  ['an unknown algorithm', { limits: perSecond(1), algorithm: 'leaky' }, 'algorithm'],
  ['a broken wait', { limits: perSecond(1), maxWaitMs: -1 }, 'maxWaitMs'],
  ['a key that is no function', { limits: perSecond(1), key: 'tenant' }, 'key'],
  ['an unknown choice', { limits: perSecond(1), onLimit: 'queue' }, 'onLimit'],
  [
    'a key of a limit that is no function',
    { limits: [{ unit: 'concurrency', limit: 1, key: 'user' }] },
    'limits.0.key',
  ],
])('refuses %s', (_, options, name) => {
  expect(() => rateLimit(options as never)).toThrow(`rateLimit: \`${name}\``)
})

it('refuses an unknown field of a limit', () => {
  const limits = [...perSecond(1), { unit: 'concurrency', limit: 1, keys: () => 'user' }]

  expect(() => rateLimit({ limits } as never)).toThrow(
    new TypeError('rateLimit: unknown option `limits.1.keys`; did you mean `limits.1.key`?'),
  )
})
