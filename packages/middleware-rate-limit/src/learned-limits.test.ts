import type { RunEvent } from '@lamella/core'
import { Agent, ProviderError } from '@lamella/core'
import type { RateLimitInfo } from '@lamella/core/authoring'
import type { ScriptedStep } from '@lamella/testing'
import { scriptedClient, testClock } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { failure, settled } from './limited-agent.test-helper.ts'
import type { RateLimitOptions } from './index.ts'
import { rateLimit } from './index.ts'

function make(steps: readonly ScriptedStep[], options: Partial<RateLimitOptions> = {}) {
  const clock = testClock()
  const limits = [{ unit: 'requests', limit: 10, windowMs: 10_000 } as const]
  const client = scriptedClient(steps, { model: 'small' })
  const agent = new Agent({ client, middleware: rateLimit({ limits, clock, ...options }) })
  return { agent, client, clock }
}

const tooMany = (afterMs?: number) =>
  new ProviderError('slow down', {
    kind: 'rate_limit',
    provider: 'scripted',
    status: 429,
    retry: afterMs === undefined ? {} : { afterMs },
  })

const answer = (told: RateLimitInfo) => ({
  updates: [
    { contents: [], metadata: { rateLimit: told }, usage: { totalTokens: 0 } },
    { contents: [{ type: 'text', text: 'Hi.' } as const], finishReason: 'stop' },
  ],
})

describe('after a 429', () => {
  it.each([
    ['as long as it says', 4000, 4000],
    ['for a second where it does not', undefined, 1000],
  ])('nothing is sent, %s', async (_, afterMs, waitMs) => {
    const { agent, client, clock } = make([tooMany(afterMs), 'Hi.', 'Hi.'])
    const events: RunEvent[] = []
    await failure(agent.run('a', { onEvent: (event) => events.push(event) }))

    const others = [agent.run('b'), agent.run('c')]
    await clock.advance(waitMs - 1)
    expect(client.requests).toHaveLength(1)
    await clock.advance(1)
    await Promise.all(others)

    expect(events.map(({ data }) => data)).toMatchObject([{ status: 'paused', pauseMs: waitMs }])
  })

  it('other models are not held up', async () => {
    const { agent, client } = make([tooMany(4000), 'Hi.'])
    await failure(agent.run('a'))

    await agent.run('b', { options: { model: 'large' } })

    expect(client.requests).toHaveLength(2)
  })

  it('that a larger wait would not help, nobody waits', async () => {
    const never = new ProviderError('too large', {
      kind: 'rate_limit',
      provider: 'scripted',
      retry: { retryable: false },
    })
    const { agent } = make([never, 'Hi.'])
    await failure(agent.run('a'))

    expect((await agent.run('b')).text).toBe('Hi.')
  })

  it('limits with a key of their own do not change, nor with `adaptive: false`', async () => {
    for (const options of [{ key: () => 'tenant' }, { adaptive: false }]) {
      const { agent } = make([tooMany(4000), 'Hi.'], options)
      await failure(agent.run('a'))

      expect((await agent.run('b')).text).toBe('Hi.')
    }
  })
})

describe.each([false, true])('what the provider says is left, with stream: %s', (stream) => {
  const run = async ({ agent }: ReturnType<typeof make>) =>
    stream ? agent.run('a', { stream }).finalResponse() : agent.run('a')

  it('counts if it is less', async () => {
    const info = { requests: { limit: 10, remaining: 2, resetAt: 3000 } }
    const made = make([answer(info), 'Hi.', 'Hi.', 'Hi.'])
    await run(made)

    const others = [run(made), run(made), run(made)]
    await settled()
    expect(made.client.requests).toHaveLength(3)
    await made.clock.advance(3000)
    await Promise.all(others)

    expect(made.client.requests).toHaveLength(4)
  })

  it('does not raise a limit, and what is out of date does not count', async () => {
    const more = { requests: { limit: 10_000, remaining: 9000, resetAt: 3000 } }
    const old = { requests: { limit: 10, remaining: 0, resetAt: -1 } }
    const made = make(Array.from({ length: 10 }, (_, at) => answer(at % 2 === 0 ? more : old)))
    for (let turn = 0; turn < 10; turn++) await run(made)

    const over = failure(run(made))
    await settled()
    expect(made.client.requests).toHaveLength(10)
    await made.clock.advance(10_000)

    expect(await over).toMatchObject({ code: 'script_mismatch' })
  })
})

it('tokens are learned by their kinds', async () => {
  const info = {
    tokens: { remaining: 50, resetAt: 5000 },
    inputTokens: { remaining: 30, resetAt: 5000 },
    outputTokens: { remaining: 20, resetAt: 5000 },
  }
  for (const [unit, remaining] of [
    ['totalTokens', 50],
    ['inputTokens', 30],
    ['outputTokens', 20],
  ] as const) {
    const { agent } = make([answer(info)], {
      limits: [{ unit, limit: 100, windowMs: 10_000 }],
      estimate: () => ({ inputTokens: 60, outputTokens: 60 }),
      onLimit: 'reject',
    })
    await agent.run('a')

    expect(await failure(agent.run('b'))).toMatchObject({ unit, remaining })
  }
})
