import { testClock } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { failure, limitedAgent } from './limited-agent.test-helper.ts'
import type { StoreLimits } from '@lamella/core/authoring'
import { memoryStore } from '@lamella/core'
import { rateLimit } from './index.ts'

const limits = [{ unit: 'requests', limit: 1, windowMs: 1000 } as const]

/** A store that answers as the test says. */
function shaky(clock: { now(): number }) {
  const real = memoryStore({ clock }).limits
  const state: { fault?: 'fails' | 'hangs' | undefined; settled: string[] } = { settled: [] }
  let go = () => {}
  const fault = async () => {
    if (state.fault === 'fails') throw new Error('connection refused: redis://secret@host')
    if (state.fault === 'hangs') await new Promise<void>((resolve) => (go = resolve))
  }
  const failing: StoreLimits = {
    ...real,
    take: async (id, claims) => {
      await fault()
      return real.take(id, claims)
    },
    settle: async (id, settlements) => {
      if (state.fault === 'fails') throw new Error('connection refused')
      state.settled.push(id)
      await real.settle(id, settlements)
    },
  }
  return { store: { ...memoryStore({ clock }), limits: failing }, state, answer: () => go() }
}

describe('a store that fails', () => {
  it('is replaced by counting in this process, until it is back', async () => {
    const clock = testClock()
    const { store, state } = shaky(clock)
    const told: unknown[] = []
    const onEvent = (event: unknown) => told.push(event)
    const { agent } = limitedAgent(rateLimit({ limits, store, onLimit: 'reject', onEvent, clock }))

    state.fault = 'fails'
    await agent.run('a')
    expect(await failure(agent.run('b'))).toMatchObject({ code: 'rate_limited' })
    state.fault = undefined
    await agent.run('c')

    expect(told).toContainEqual({ limiter: 'rate-limit', status: 'store_error' })
    expect(JSON.stringify(told)).not.toContain('secret')
    expect(await failure(agent.run('d'))).toMatchObject({ code: 'rate_limited' })
  })

  it('fails the call where that is wished', async () => {
    const clock = testClock()
    const { store, state } = shaky(clock)
    const { agent, started } = limitedAgent(
      rateLimit({ limits, store, onStoreError: 'fail', clock }),
    )
    state.fault = 'fails'

    const error = await failure(agent.run('a'))

    expect(error).toMatchObject({ code: 'store_failed', message: 'rate-limit: the store failed' })
    expect(started).toEqual([])
  })

  it('is not waited for without end, and what it grants too late is given back', async () => {
    const clock = testClock()
    const { store, state, answer } = shaky(clock)
    const { agent, started } = limitedAgent(rateLimit({ limits, store, clock }))
    state.fault = 'hangs'

    const run = agent.run('a')
    await clock.advance(2000)
    await run
    expect(started).toEqual(['a'])
    state.fault = undefined
    answer()
    await clock.advance(0)

    expect(state.settled).toHaveLength(1)
    expect(clock.sleeping).toBe(0)
  })
})

it('what a slow store grants to a call that was aborted is given back', async () => {
  const clock = testClock()
  const { store, state, answer } = shaky(clock)
  const { agent, started } = limitedAgent(rateLimit({ limits, store, clock }))
  state.fault = 'hangs'
  const aborted = new AbortController()

  const run = failure(agent.run('a', { signal: aborted.signal }))
  await clock.advance(1)
  aborted.abort(new Error('left'))
  expect(await run).toBe(aborted.signal.reason)
  state.fault = undefined
  answer()
  await clock.advance(0)
  await agent.run('b')

  expect(started).toEqual(['b'])
  expect(clock.sleeping).toBe(0)
})

it('a call that takes long renews the lease of its place, and only until it is over', async () => {
  const clock = testClock()
  const renewed: string[] = []
  const memory = memoryStore({ clock })
  const renew: StoreLimits['renew'] = (_, claims) =>
    void renewed.push(...claims.map(({ kind }) => kind))
  const store = { ...memory, limits: { ...memory.limits, leaseMs: 300, renew } }
  const places = { unit: 'concurrency', limit: 1 } as const
  const limited = limitedAgent(rateLimit({ limits: [...limits, places], store, clock }))
  limited.hold()

  const run = limited.agent.run('a')
  await clock.advance(1000)
  await limited.finish()
  await run
  await clock.advance(1000)

  expect(renewed).toEqual(Array.from({ length: 10 }, () => 'concurrency'))
})

it('a store without sliding windows is rejected when the limiter is made, by what it lacks', () => {
  const { limits: _, ...plain } = memoryStore()

  expect(() => rateLimit({ limits, store: plain })).toThrow(
    'rateLimit: `store` needs `limits`, which this store lacks',
  )
  const keyv = { get() {}, set() {}, delete() {}, opts: {} }
  expect(() => rateLimit({ limits, store: keyv as never })).toThrow('wrap a Keyv in `keyvStore()`')
})
