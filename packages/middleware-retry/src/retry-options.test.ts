import { Agent } from '@lamella/core'
import { scriptedClient, testClock, testRandom } from '@lamella/testing'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exponential } from './backoff.ts'
import type { Jitter, RetryOptions } from './index.ts'
import { retry, retryBudget } from './index.ts'
import { failure, withTime } from './failing-run.test-helper.ts'

it.each<[string, object]>([
  ['`maxRetries` must be a whole number from 0 up, got -1', { maxRetries: -1 }],
  ['`maxRetries` must be a whole number from 0 up, got 1.5', { maxRetries: 1.5 }],
  ['`maxRetriesByKind.server` must be', { maxRetriesByKind: { server: -2 } }],
  [
    'unknown option `maxRetriesByKind.ratelimit`; did you mean `maxRetriesByKind.rate_limit`?',
    { maxRetriesByKind: { ratelimit: 3 } },
  ],
  ['`initialDelayMs` must be 0 or more milliseconds, got -1', { initialDelayMs: -1 }],
  ['`maxDelayMs` must be 0 or more milliseconds, got NaN', { maxDelayMs: Number.NaN }],
  ['`maxRetryAfterMs` must be 0 or more', { maxRetryAfterMs: -1 }],
  ['`maxElapsedMs` must be more than 0 milliseconds, got 0', { maxElapsedMs: 0 }],
  ['`factor` must be a number from 1 up, got 0.5', { factor: 0.5 }],
  ['`jitter` must be one of full, equal, decorrelated, none, got "some"', { jitter: 'some' }],
  ['`stream` must be one of', { stream: 'always' }],
  ['`replay` must be one of', { replay: 'all' }],
  ['`mode` must be one of enforce, shadow, off', { mode: 'on' }],
  ['`retryOn` must be a function', { retryOn: ['server'] }],
  ['`rejectReply` must be a function', { rejectReply: true }],
  ['`onExhausted` must be a function', { onExhausted: 'error' }],
  ['`when` must be a function', { when: true }],
  ['`name` must be a string', { name: 7 }],
  ['`retryBudget.takeRetry` must be a function', { retryBudget: {} }],
  ['`tools.maxRetries` must be', { tools: { maxRetries: -1 } }],
  ['`tools.idempotencyKey` must be a function', { tools: { idempotencyKey: 'id' } }],
])('retry: %s', (words, options) => {
  expect(() => retry(options as RetryOptions)).toThrow(`retry: ${words}`)
})

it.each<[string, object]>([
  ['`ratio` must be a number from 0 up, got -1', { ratio: -1 }],
  ['`reserve` must be a whole number from 0 up, got -1', { reserve: -1 }],
  ['`windowMs` must be a whole number from 1 up, got 0', { windowMs: 0 }],
])('retryBudget: %s', (words, options) => {
  expect(() => retryBudget(options)).toThrow(words)
})

describe('the wait before a retry', () => {
  it.each<[Jitter, readonly number[]]>([
    ['none', [100, 200, 400, 500, 500]],
    ['full', [50, 100, 200, 250, 250]],
    ['equal', [75, 150, 300, 375, 375]],
  ])('grows to its limit, with jitter %s', (jitter, waits) => {
    const backoff = exponential({ initialDelayMs: 100, maxDelayMs: 500, jitter }, () => 0.5)

    expect([1, 2, 3, 4, 60].map((attempt) => backoff(attempt, undefined))).toEqual(waits)
  })

  it('is never longer than the longest, nor negative, whatever chance brings', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<Jitter>('full', 'equal', 'decorrelated', 'none'),
        fc.integer({ min: 0, max: 10_000 }),
        fc.double({ min: 1, max: 10, noNaN: true }),
        fc.integer({ min: 0, max: 100_000 }),
        fc.integer(),
        (jitter, initialDelayMs, factor, maxDelayMs, seed) => {
          const options = { initialDelayMs, factor, maxDelayMs, jitter }
          const backoff = exponential(options, testRandom(seed))
          let last: number | undefined
          for (let attempt = 1; attempt < 2000; attempt += 97) {
            last = backoff(attempt, last)
            expect(last).toBeGreaterThanOrEqual(0)
            expect(last).toBeLessThanOrEqual(maxDelayMs)
          }
        },
      ),
    )
  })

  it('spreads, decorrelated, between the first wait and three times the last one', () => {
    const backoff = exponential({ initialDelayMs: 100, jitter: 'decorrelated' }, () => 1)

    expect([backoff(1, undefined), backoff(2, 300), backoff(3, 20_000)]).toEqual([300, 900, 30_000])
  })
})

describe('a budget of retries', () => {
  it('lets so many retries through as calls allow, in a window', () => {
    const clock = testClock()
    const budget = retryBudget({ ratio: 0.5, reserve: 2, windowMs: 1000, clock })
    const take = (times: number) =>
      Array.from({ length: times }, () => budget.takeRetry()).filter(Boolean).length

    expect(take(9)).toBe(2)
    for (let call = 0; call < 10; call++) budget.countCall()
    expect(take(9)).toBe(5)
  })

  it('forgets a window that is over', async () => {
    const clock = testClock()
    const budget = retryBudget({ reserve: 1, windowMs: 1000, clock })
    expect([budget.takeRetry(), budget.takeRetry()]).toEqual([true, false])

    await clock.advance(1000)

    expect([budget.takeRetry(), budget.takeRetry()]).toEqual([true, false])
  })

  it('keeps a storm of failing calls, shared by middlewares, to its ratio', async () => {
    const clock = testClock()
    const budget = retryBudget({ clock })
    const client = scriptedClient(() => failure('overloaded'))
    const agents = ['one', 'two'].map((name) => {
      const middleware = retry({ name, clock, retryBudget: budget, maxRetries: 5 })
      return new Agent({ client, middleware: middleware })
    })

    const runs = Array.from({ length: 250 }, () => agents.map((agent) => agent.run('x'))).flat()
    const settled = await withTime(clock, Promise.allSettled(runs))

    expect(settled.every(({ status }) => status === 'rejected')).toBe(true)
    expect(client.requests.length).toBe(500 + 10 + 0.2 * 500)
  })
})
