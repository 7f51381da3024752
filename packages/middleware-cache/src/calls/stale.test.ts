import { Agent } from '@lamella/core'
import { runIn, runModes, scriptedClient, testClock } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import { cache } from './cache.ts'
import type { CacheEvent } from './cache-event.ts'
import type { CacheOptions } from './cache-options.ts'

function setUp(options: CacheOptions, replies?: Parameters<typeof scriptedClient>[0]) {
  const clock = testClock(1_000_000)
  const events: CacheEvent[] = []
  const work: Promise<unknown>[] = []
  const client = scriptedClient(replies ?? (({ index }) => `Answer ${index}.`))
  const middleware = cache({
    clock,
    ttlMs: 1000,
    waitUntil: (promise) => work.push(promise),
    onEvent: (event) => events.push(event),
    ...options,
  })
  const settled = async (): Promise<void> => void (await Promise.all(work))
  return { clock, events, client, settled, agent: new Agent({ client, middleware: middleware }) }
}

describe('staleWhileRevalidateMs', () => {
  test.each(runModes)('an old entry answers at once, and is made anew once, %s', async (mode) => {
    const { agent, client, clock, settled } = setUp({ staleWhileRevalidateMs: 5000 })
    await runIn(mode, agent)
    await clock.advance(2000)

    const stale = await Promise.all([runIn(mode, agent), runIn(mode, agent)])
    await settled()
    const fresh = await runIn(mode, agent)

    expect(stale.map(({ text }) => text)).toEqual(['Answer 0.', 'Answer 0.'])
    expect(stale[0]?.metadata['cache']).toMatchObject({ hit: true, stale: true, ageMs: 2000 })
    expect(fresh.text).toBe('Answer 1.')
    expect(fresh.metadata['cache']).not.toHaveProperty('stale')
    expect(client.requests).toHaveLength(2)
  })

  test('an entry beyond it does not answer, nor one that is older than the call allows', async () => {
    const { agent, clock } = setUp({ staleWhileRevalidateMs: 5000 })
    await agent.run('Hello')
    await clock.advance(2000)

    const young = await agent.run('Hello', { options: { cache: { maxAgeMs: 1500 } } })
    await clock.advance(6000)
    const beyond = await agent.run('Hello')

    expect([young.text, beyond.text]).toEqual(['Answer 1.', 'Answer 2.'])
  })

  test('making it anew outlives the run, and its failure leaves the entry', async () => {
    const replies = ['Old.', new Error('down'), 'New.']
    const { agent, clock, settled, events } = setUp({ staleWhileRevalidateMs: 5000 }, replies)
    await agent.run('Hello')
    await clock.advance(2000)
    const aborted = new AbortController()
    const first = await agent.run('Hello', { signal: aborted.signal })
    aborted.abort()
    await settled()

    const second = await agent.run('Hello')
    await settled()
    const third = await agent.run('Hello')

    expect([first.text, second.text, third.text]).toEqual(['Old.', 'Old.', 'New.'])
    expect(events.find(({ outcome }) => outcome === 'error')).toMatchObject({
      reason: 'revalidate',
      error: expect.any(Error),
    })
  })
})

describe('staleIfErrorMs', () => {
  test.each(runModes)('an old entry answers a call that fails, %s', async (mode) => {
    const replies = ['Old.', new Error('down'), new Error('down')]
    const { agent, clock } = setUp({ staleIfErrorMs: 5000 }, replies)
    await runIn(mode, agent)
    await clock.advance(2000)

    const saved = await runIn(mode, agent)
    await clock.advance(5000)

    expect(saved.text).toBe('Old.')
    expect(saved.metadata['cache']).toMatchObject({ hit: true, stale: true })
    await expect(runIn(mode, agent)).rejects.toThrow('down')
  })

  test('it answers all who waited for the call that failed', async () => {
    const down = () => {
      throw new Error('down')
    }
    const { agent, client, clock } = setUp({ staleIfErrorMs: 5000 }, (call) =>
      call.index === 0 ? 'Old.' : down(),
    )
    await agent.run('Hello')
    await clock.advance(2000)

    const saved = await Promise.all(Array.from({ length: 10 }, () => agent.run('Hello')))

    expect(saved.map(({ text }) => text)).toEqual(Array.from({ length: 10 }, () => 'Old.'))
    expect(client.requests).toHaveLength(11)
  })

  test('in shadow it does not stand in', async () => {
    const options = { staleIfErrorMs: 5000, mode: 'shadow' } as const
    const { agent, clock } = setUp(options, ['Old.', new Error('down')])
    await agent.run('Hello')
    await clock.advance(2000)

    await expect(agent.run('Hello')).rejects.toThrow('down')
  })

  test('it does not answer an abort, or after the reader has seen content', async () => {
    const replies = ['Old.', { updates: ['New '], error: new Error('cut') }]
    const { agent, clock } = setUp({ staleIfErrorMs: 5000 }, replies)
    await agent.run('Hello')
    await clock.advance(2000)
    const aborted = new AbortController()
    aborted.abort(new Error('left'))

    const ends = [
      await agent.run('Hello', { signal: aborted.signal }).catch(String),
      await runIn('streamed', agent).catch(String),
    ]

    expect(ends).toEqual(['Error: left', 'Error: cut'])
  })
})
