import type { AgentOptions, AgentResponse, Checkpoint, KeyValueStore, Session } from '@lamella/core'
import { Agent, createSession, functionMiddleware, memoryStore } from '@lamella/core'
import { callFunction, testClock } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import { lastResults, policyAgent } from '../policy-agent.test-helper.ts'
import { toolPolicy } from '../tool-policy.ts'
import type { ApprovalOptions } from '../policy/tool-policy-options.ts'

const pay = callFunction('pay', { to: 'Ada', amount: 5 })
const old = { id: '2026-10', key: 'an old key of some length' }
const current = { id: '2026-11', key: new TextEncoder().encode('a new key of some length') }

const make = (approval: ApprovalOptions = {}, clock = testClock()) =>
  policyAgent({ ask: ['pay'], approval, clock }, [pay, 'Done.', 'Done again.'])

/** A session that somebody has had in his hands. */
function changed(session: Session, from: string, to: string): Session {
  const json = JSON.stringify(session)
  expect(json).toContain(from)
  return createSession(JSON.parse(json.replaceAll(from, to)) as Session)
}

const answer = ({ pending }: AgentResponse, given: unknown = true) => ({ [pending[0]!.id]: given })

describe('an approval', () => {
  test('runs the call once, as it was asked for', async () => {
    const { agent, done } = make()

    const paused = await agent.run('Pay')
    const response = await agent.resume(paused.checkpoint!, answer(paused))

    expect(response.text).toBe('Done.')
    expect(done).toEqual(['pay {"to":"Ada","amount":5}'])
    await expect(agent.resume(paused.checkpoint!, answer(paused))).rejects.toMatchObject({
      code: 'approval_used',
    })
  })

  test('is used once by all processes that share a store', async () => {
    const store = memoryStore()
    const [first, second] = [make({ store }), make({ store })]

    const paused = await first.agent.run('Pay')
    const both = [first, second].map(({ agent }) =>
      agent.resume(paused.checkpoint!, answer(paused)),
    )
    await Promise.all(both)

    expect(first.done.length + second.done.length).toBe(1)
    const denied = first.done.length === 0 ? first : second
    expect(lastResults(denied.client)).toContain('The approval was used before')
  })

  test('expires', async () => {
    const clock = testClock()
    const { agent, client, done, events } = make({ ttlMs: 60_000 }, clock)

    const paused = await agent.run('Pay')
    await clock.advance(60_000)
    const response = await agent.resume(paused.checkpoint!, answer(paused))

    expect([response.text, done]).toEqual(['Done.', []])
    expect(lastResults(client)).toContain('The approval has expired')
    expect(events.map(({ category }) => category)).toEqual(['approval_expired'])
  })

  test('may not bring other arguments along where editing is off', async () => {
    const { agent, done } = make({ edit: false })

    const paused = await agent.run('Pay')
    await agent.resume(
      paused.checkpoint!,
      answer(paused, { approved: true, arguments: { amount: 1 } }),
    )

    expect(done).toEqual([])
  })

  test('of a call that pauses once more inside is still good when the run continues', async () => {
    const store: KeyValueStore = memoryStore()
    const asks = functionMiddleware('asks', async (context, callNext) => {
      await context.run.interrupt('really?')
      await callNext()
    })
    const { client, agent: plain, done } = make({ store })
    const policy = toolPolicy({ ask: ['pay'], approval: { store } })
    const agent = new Agent({ client, tools: plain.tools, middleware: [policy, asks] })

    const first = await agent.run('Pay')
    const second = await agent.resume(first.checkpoint!, answer(first))
    expect([second.status, second.pending[0]?.kind]).toEqual(['paused', 'interrupt'])
    const third = await agent.resume(second.checkpoint!, answer(second))

    expect([third.text, done.length]).toEqual(['Done.', 1])
  })

  test('in a conversation is the next input', async () => {
    const { agent, done } = make({ sign: [current] })
    const session = agent.createSession()

    const paused = await agent.run('Pay', { session })
    const { id } = paused.pending[0]!
    const response = await agent.run([], { session, answers: { [id]: true } })

    expect([response.text, done.length]).toEqual(['Done.', 1])
  })

  test('is asked for by a tool itself, and bound in the same way', async () => {
    const clock = testClock()
    const { agent: plain, client } = make()
    const tools = plain.tools.map((tool) => ({ ...tool, approval: 'always' as const }))
    const middleware = toolPolicy({ allow: ['*'], clock, approval: { ttlMs: 1000 } })
    const agent = new Agent({ client, tools, middleware })

    const paused = await agent.run('Pay')
    await clock.advance(1000)
    await agent.resume(paused.checkpoint!, answer(paused))

    expect(lastResults(client)).toContain('has expired')
  })
})

describe('a signed approval', () => {
  const signed = (more: ApprovalOptions = {}) => make({ sign: [current, old], ...more })

  test('holds for what was asked', async () => {
    const { agent, done } = signed()

    const paused = await agent.run('Pay')
    const elsewhere = signed()
    const checkpoint = JSON.parse(JSON.stringify(paused.checkpoint)) as Checkpoint
    await elsewhere.agent.resume(checkpoint, answer(paused))

    expect(JSON.stringify(paused.pending)).toMatch(/"seal":"2026-11\.[0-9a-f]{64}"/)
    expect([done.length, elsewhere.done.length]).toEqual([0, 1])
  })

  test.each([
    ['the arguments', 'Ada', 'Eve'],
    ['the amount', '\\"amount\\":5', '\\"amount\\":5000'],
    ['the tool', '"name":"pay"', '"name":"write_file"'],
    ['the time', '"expiresAt":900000', '"expiresAt":9000000000'],
    ['the seal', '"seal":"2026-11.', '"seal":"2026-11.0'],
    ['the key', '"seal":"2026-11.', '"seal":"2026-12.'],
  ])('does not hold where %s was changed on the way', async (_, from, to) => {
    const { agent } = signed()
    const session = createSession()
    const paused = await agent.run('Pay', { session })
    const elsewhere = signed()

    const options = { session: changed(session, from, to), answers: answer(paused) }
    await elsewhere.agent.run([], options)

    expect(elsewhere.done).toEqual([])
    expect(lastResults(elsewhere.client)).toContain('"code":"denied"')
  })

  test('does not hold where the call that was asked for only stands beside another one', async () => {
    const { agent } = signed()
    const session = createSession()
    const paused = await agent.run('Pay', { session })
    const elsewhere = signed()
    const snapshot = session.toJSON()
    const messages = snapshot.messages.flatMap((genuine) => {
      if (genuine.role !== 'assistant') return genuine
      const other = JSON.parse(JSON.stringify(genuine).replaceAll('Ada', 'Eve')) as typeof genuine
      return [other, { ...genuine, role: 'user' as const, id: 'm2' }]
    })

    const options = { session: createSession({ ...snapshot, messages }), answers: answer(paused) }
    await elsewhere.agent.run([], options).catch(() => {})

    expect(elsewhere.done.join()).not.toContain('Eve')
  })

  test('does not hold in another session', async () => {
    const { agent } = signed()
    const session = createSession({ id: 'session-1' })
    const paused = await agent.run('Pay', { session })
    const elsewhere = signed()
    const moved = changed(session, '"id":"session-1"', '"id":"session-2"')

    await elsewhere.agent.run([], { session: moved, answers: answer(paused) })

    expect(elsewhere.done).toEqual([])
  })

  test('does not hold for another user', async () => {
    const { agent } = signed({ subject: () => 'ada' })
    const paused = await agent.run('Pay')
    const other = signed({ subject: () => 'eve' })
    const same = signed({ subject: () => 'ada' })

    await other.agent.resume(paused.checkpoint!, answer(paused))
    await same.agent.resume(paused.checkpoint!, answer(paused))

    expect([other.done.length, same.done.length]).toEqual([0, 1])
  })

  test.each<[string, AgentOptions['name'], string]>([
    ['tenant', 'clerk', 'globex'],
    ['agent', 'boss', 'acme'],
  ])('does not hold for another %s, whoever the subject is', async (_, name, tenant) => {
    const approval = { sign: [current], subject: () => 'ada' }
    const start = (own: AgentOptions['name']) =>
      policyAgent({ ask: ['pay'], approval }, [pay, 'Done.'], { name: own })
    const session = createSession()
    const { agent } = start('clerk')
    const paused = await agent.run('Pay', { session, tenant: 'acme' })
    const copies = [0, 1].map(() => createSession(session.toJSON()))
    const [other, same] = [start(name), start('clerk')]

    const answers = answer(paused)
    await other.agent.run([], { session: copies[0], answers, tenant })
    await same.agent.run([], { session: copies[1], answers, tenant: 'acme' })

    expect([other.done.length, same.done.length]).toEqual([0, 1])
  })

  test('holds while its key is among those that verify, and not later', async () => {
    const before = make({ sign: [old] })
    const paused = await before.agent.run('Pay')
    const rotated = make({ sign: [current, old] })
    const later = make({ sign: [current] })

    await rotated.agent.resume(paused.checkpoint!, answer(paused))
    await later.agent.resume(paused.checkpoint!, answer(paused))

    expect([rotated.done.length, later.done.length]).toEqual([1, 0])
  })

  test('that is none is not taken where signing was turned on', async () => {
    const paused = await make().agent.run('Pay')
    const strict = signed()

    await strict.agent.resume(paused.checkpoint!, answer(paused))

    expect(strict.done).toEqual([])
  })
})
