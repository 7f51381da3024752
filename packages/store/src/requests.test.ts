import { Agent, memoryStore, tool } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import { callFunction, scriptedClient } from '@lamella/testing'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RequestChange } from './index.ts'
import { requests } from './index.ts'

const pay = tool({ name: 'pay', description: '', approval: 'always', execute: () => 'paid' })

async function paused(call = 'c1') {
  const client = scriptedClient([callFunction('pay', {}, call), 'Done.'])
  const agent = new Agent({ client, tools: [pay] })
  const response = await agent.run('Pay')
  return { agent, ...response, id: response.pending[0]!.id }
}

/** A clock that stands until it is set. */
function stoppedClock(): Clock & { time: number } {
  const clock = { time: 1000, now: () => clock.time, sleep: () => Promise.resolve() }
  return clock
}

describe('open requests', () => {
  it('are listed by tenant, principal, tool and age, the latest first', async () => {
    const clock = stoppedClock()
    const open = requests(memoryStore(), { clock })
    const [one, two, other] = [await paused(), await paused(), await paused()]

    await open.open(one.pending, { tenant: 'acme', principal: 'ann', place: 'chat-1' })
    clock.time = 2000
    await open.open(two.pending, { tenant: 'acme', principal: 'bob' })
    await open.open(other.pending, { tenant: 'globex', principal: 'ann' })
    const ids = async (filter: object): Promise<string[]> =>
      (await open.list({ tenant: 'acme', ...filter })).requests.map(({ id }) => id)

    expect(await ids({})).toEqual([two.id, one.id])
    expect(await ids({ principal: 'ann' })).toEqual([one.id])
    expect(await ids({ olderThanMs: 500 })).toEqual([one.id])
    expect(await ids({ tool: 'else' })).toEqual([])
    const first = await open.list({ tenant: 'acme', limit: 1 })
    expect(await ids({ after: first.next })).toEqual([one.id])
    expect(await open.get(one.id, 'acme')).toEqual({
      id: one.id,
      kind: 'approval',
      tool: 'pay',
      arguments: '{}',
      tenant: 'acme',
      principal: 'ann',
      place: 'chat-1',
      openedAt: 1000,
    })
    expect(await open.get(one.id)).toBeUndefined()
  })

  it('are claimed by one person for a time', async () => {
    const clock = stoppedClock()
    const open = requests(memoryStore(), { clock })
    const { id, pending } = await paused()
    await open.open(pending)
    const claim = (by: string): Promise<boolean> => open.claim(id, { by, forMs: 100 })

    expect([await claim('max'), await claim('eva'), await claim('max')]).toEqual([
      true,
      false,
      true,
    ])
    await expect(open.answer(id, true, { by: 'eva' })).rejects.toMatchObject({
      code: 'approval_used',
    })
    clock.time += 101
    expect((await open.answer(id, true, { by: 'eva' })).claim).toMatchObject({ by: 'max' })
    expect(await claim('max')).toBe(false)
  })

  it('expire as a refusal, which the run continues with', async () => {
    const clock = stoppedClock()
    const open = requests(memoryStore(), { clock })
    const { agent, id, pending, checkpoint } = await paused()
    await open.open(pending, { expiresAfterMs: 100 })

    expect(await open.expire()).toEqual([])
    clock.time += 100
    const [expired, again] = [await open.expire(), await open.expire()]

    expect(expired).toMatchObject([{ request: { id }, answer: { approved: false } }])
    expect(again).toEqual([])
    const { messages } = await agent.resume(checkpoint!, { [id]: expired[0]!.answer })
    expect(JSON.stringify(messages)).toContain('nobody answered in time')
  })

  it.each(['with notes', 'by polling'])('tell those who wait, %s', async (how) => {
    const { signals, ...bare } = memoryStore()
    const store = how === 'by polling' ? bare : { ...bare, signals }
    const [here, there] = [requests(store, { pollMs: 5 }), requests(store, { pollMs: 5 })]
    const { id, pending } = await paused()
    const stop = new AbortController()
    const seen: RequestChange[] = []
    const watched = (async () => {
      for await (const change of here.changes({ signal: stop.signal })) {
        seen.push(change)
        if (change.type === 'opened') void there.answer(id, true, { by: 'max' })
        else stop.abort()
      }
    })()

    await there.open(pending)
    const end = await here.ended(id)
    await watched

    expect(end).toMatchObject({ end: 'answered', answer: true, by: 'max' })
    expect(seen).toMatchObject([
      { type: 'opened', request: { id } },
      { type: 'closed', request: { id }, end: 'answered', by: 'max' },
    ])
  })

  it('have one end, whoever answers, withdraws and expires at once', async () => {
    const { pending, id } = await paused()
    const act = fc.constantFrom('answer', 'withdraw', 'expire', 'claim')
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 8 }), async (acts) => {
        const clock = stoppedClock()
        const store = memoryStore()
        const handles = acts.map(() => requests(store, { clock }))
        await handles[0]!.open(pending, { expiresAfterMs: 1 })
        clock.time += 10

        const ends = await Promise.all(
          acts.map(async (name, at): Promise<string | undefined> => {
            const open = handles[at]!
            if (name === 'answer') {
              return open.answer(id, at).then(
                () => 'answered',
                () => undefined,
              )
            }
            if (name === 'expire') return (await open.expire()).length === 1 ? 'expired' : undefined
            if (name === 'claim') await open.claim(id, { by: 'max', forMs: 1 })
            else await open.withdraw([id])
            return undefined
          }),
        )

        const closers = acts.filter((name) => name !== 'claim')
        const told = ends.filter((end) => end !== undefined)
        expect(told.length).toBeLessThanOrEqual(1)
        const isOpen = (await handles[0]!.get(id)) !== undefined
        const end = isOpen ? undefined : (await handles[0]!.ended(id)).end
        expect(end).toBe(isOpen ? undefined : (told[0] ?? 'withdrawn'))
        const mustClose = closers.includes('withdraw') || closers.includes('expire')
        expect(isOpen && mustClose).toBe(false)
        expect((await handles[0]!.list()).requests).toHaveLength(isOpen ? 1 : 0)
      }),
      { numRuns: 100 },
    )
  })
})
