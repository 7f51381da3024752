import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import type { KeyValueStore } from '../index.ts'
import type { RunState } from '../contract/state.ts'
import {
  Agent,
  agentMiddleware,
  agentTool,
  createSession,
  defineState,
  forkSession,
  functionMiddleware,
  LamellaError,
  memoryStore,
  tool,
} from '../index.ts'
import { StateCells } from './state.ts'

const number = z.number()
const visits = defineState({ name: 'visits', initial: () => 0, schema: number, scope: 'session' })
const spent = defineState({ name: 'spent', initial: () => 0, schema: number, scope: 'tenant' })

/** An agent whose middleware does something with the state. */
const agentThat = (work: (state: RunState) => unknown, options = {}) =>
  new Agent({
    client: scriptedClient(() => 'Hi.'),
    middleware: agentMiddleware('state', async ({ run }, callNext) => {
      await work(run.state)
      await callNext()
    }),
    ...options,
  })

describe('state of a session', () => {
  it('goes from run to run, is seen at once by others, and lies in the session as JSON', async () => {
    const seen: number[] = []
    const agent = agentThat((state) => seen.push(state.update(visits, (n) => n + 1)))
    const session = createSession()

    await Promise.all([agent.run('Hi', { session }), agent.run('Hi', { session })])
    const copy = createSession(JSON.parse(JSON.stringify(session)) as object)
    await agent.run('Hi', { session: copy })
    await agent.run('Hi', { session: createSession() })

    expect(seen).toEqual([1, 2, 3, 1])
    expect(copy.state).toEqual({ visits: 3 })
  })

  it('may be changed and removed by the application', async () => {
    const seen: number[] = []
    const agent = agentThat((state) => seen.push(state.update(visits, (n) => n + 1)))
    const session = createSession()

    await agent.run('Hi', { session })
    session.state['visits'] = 10
    await agent.run('Hi', { session })
    delete session.state['visits']
    await agent.run('Hi', { session })

    expect(seen).toEqual([1, 11, 1])
  })

  it('of a run without a session lives as long as the run', async () => {
    const seen: number[] = []
    const agent = agentThat((state) => seen.push(state.update(visits, (n) => n + 1)))

    await agent.run('Hi')
    await agent.run('Hi')

    expect(seen).toEqual([1, 1])
  })

  it('may be called like a property of all objects', async () => {
    const odd = defineState({
      name: '__proto__',
      initial: () => 1,
      schema: number,
      scope: 'session',
    })
    const session = createSession()
    const agent = agentThat((state) => state.update(odd, (n) => n + 1))

    await agent.run('Hi', { session })

    expect(Object.entries(session.state)).toEqual([['__proto__', 2]])
    expect(Object.getPrototypeOf(session.state)).toBe(Object.prototype)
  })

  it('goes along with a fork, and then its own way', async () => {
    const agent = agentThat((state) => state.update(visits, (n) => n + 1))
    const session = agent.createSession()
    await agent.run('One', { session })
    const [, answer] = session.messages
    await agent.run('Two', { session })

    const fork = forkSession(session, { until: answer!.id })
    await agent.run('Three', { session: fork })

    expect(fork.id).not.toBe(session.id)
    expect([session.state, fork.state]).toEqual([{ visits: 2 }, { visits: 3 }])
    expect(session.messages).toHaveLength(4)
    expect(fork.messages).toHaveLength(4)
    expect(fork.pending).toEqual([])
  })

  it('goes along with a fork of all messages, or of the first one', async () => {
    const agent = agentThat((state) => state.update(visits, (n) => n + 1))
    const session = agent.createSession()
    await agent.run('One', { session })

    const fork = forkSession(session)

    expect([fork.messages, fork.state]).toEqual([session.messages, { visits: 1 }])
    const [first] = session.messages
    expect(forkSession(session, { until: first!.id }).messages).toEqual([first])
  })

  it('cannot be forked at a message that is not there', () => {
    expect(() => forkSession(createSession(), { until: 'm9' })).toThrow('`until`')
  })
})

describe('state of a tenant', () => {
  it('is changed in one step, by however many runs, of however many agents', async () => {
    const store = memoryStore()
    const add = (state: RunState): Promise<number> => state.change(spent, (n) => n + 1)
    const agents = [agentThat(add, { store }), agentThat(add, { store })]

    await Promise.all(
      Array.from({ length: 1000 }, (_, at) =>
        agents[at % 2]!.run('Hi', { tenant: at % 4 === 0 ? 'b' : 'a' }),
      ),
    )

    const seen: number[] = []
    const reader = agentThat(async (state) => seen.push(await state.load(spent)), { store })
    for (const tenant of ['a', 'b', 'c']) await reader.run('Hi', { tenant })
    expect(seen).toEqual([750, 250, 0])
  })

  it('is not written after its time is up', async () => {
    vi.useFakeTimers()
    let writes = 0
    const store: KeyValueStore = {
      ...memoryStore(),
      compareAndSet: () => {
        writes++
        return new Promise((resolve) => void setTimeout(resolve, 10, false))
      },
    }
    const agent = agentThat((state) => state.change(spent, (n) => n + 1), {
      store,
      storeTimeoutMs: 25,
    })
    const failing = agent.run('Hi', { tenant: 'a' }).catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(25)
    expect(await failing).toMatchObject({ code: 'store_timeout' })
    const before = writes
    await vi.advanceTimersByTimeAsync(1000)

    expect([before, writes]).toEqual([3, 3])
    vi.useRealTimers()
  })

  it('is that of the caller in a run that a tool starts', async () => {
    const store = memoryStore()
    const inner = agentThat((state) => state.change(spent, (n) => n + 1), { store })
    const outer = new Agent({
      client: scriptedClient([callFunction('inner', { task: 'x' }), 'Done.']),
      tools: [agentTool(inner, { name: 'inner' })],
      store,
    })

    await outer.run('Hi', { tenant: 'a' })

    expect(await store.get('state:["a",null,"spent"]')).toBe(1)
  })

  it.each([
    ['without a tenant', { store: memoryStore() }, {}, '`tenant`'],
    ['without a store', {}, { tenant: 'a' }, '`store`'],
  ])('%s it says what is missing', async (_, options, run, problem) => {
    const error = await agentThat((state) => state.load(spent), options)
      .run('Hi', run)
      .catch((reason: unknown) => reason)

    expect(LamellaError.is(error, 'state_scope')).toBe(true)
    expect(String(error)).toContain(problem)
  })

  it('cannot be read without waiting', async () => {
    const running = agentThat((state) => state.get(spent)).run('Hi')

    await expect(running).rejects.toMatchObject({ code: 'state_scope' })
  })

  it('the waiting forms work for cells of every scope', async () => {
    const own = defineState({ name: 'own', initial: () => 1 })
    const seen: unknown[] = []

    await agentThat(async (state) => {
      seen.push(await state.change(own, (n) => n + 1), await state.load(own), state.get(own))
    }).run('Hi')

    expect(seen).toEqual([2, 2, 2])
  })
})

describe('several cells at once', () => {
  const a = defineState({ name: 'a', initial: () => 0 })
  const b = defineState({ name: 'b', initial: () => 0, schema: number })

  it('change together', () => {
    const state = new StateCells()

    const sum = state.batch(() => state.update(a, (n) => n + 1) + state.update(b, (n) => n + 2))

    expect([sum, state.get(a), state.get(b)]).toEqual([3, 1, 2])
  })

  it('stay as they were if one of them cannot, also those that were new', () => {
    const state = new StateCells()
    state.update(a, () => 5)

    expect(() =>
      state.batch(() => {
        state.update(a, () => 6)
        state.update(b, () => 'no number' as never)
      }),
    ).toThrow('"b"')

    expect([state.get(a), state.get(b)]).toEqual([5, 0])
  })

  it('are undone for an async function, which other code could come in between of', async () => {
    const state = new StateCells()
    state.update(a, () => 5)

    expect(() =>
      state.batch(async () => {
        state.update(a, () => 6)
        await Promise.reject(new Error('later'))
      }),
    ).toThrow(/^run\.state\.batch: `work` is async$/)

    expect(state.get(a)).toBe(5)
  })

  it('are undone in the session, too', () => {
    const session = createSession()
    const state = new StateCells({ session, tenant: undefined, store: undefined })
    state.update(visits, () => 1)

    expect(() =>
      state.batch(() => {
        state.update(visits, () => 2)
        throw new Error('no')
      }),
    ).toThrow('no')

    expect(session.state).toEqual({ visits: 1 })
  })

  it('parallel tools lose no update', async () => {
    const client = scriptedClient([
      Array.from({ length: 50 }, (_, at) => callFunction('count', {}, `c${at}`)),
      'Done.',
    ])
    let last = 0
    const count = tool({ name: 'count', description: '', execute: async () => {} })
    const middleware = functionMiddleware('count', async ({ run: { state } }, callNext) => {
      await callNext()
      state.batch(() => {
        state.update(a, (n) => n + 1)
        last = state.update(b, (n) => n + 1)
      })
    })

    await new Agent({ client, tools: [count], middleware: middleware }).run('Go')

    expect(last).toBe(50)
  })
})

describe('versions of state', () => {
  const first = defineState({ name: 'plan', initial: () => 'none', schema: z.string() })
  const plan = z.object({ steps: z.array(z.string()) })
  const second = defineState({
    name: 'plan',
    initial: () => ({ steps: [] as string[] }),
    schema: plan,
    version: 2,
    migrate: (old, version) => ({ steps: [`${String(old)} of version ${version}`] }),
  })

  it('a value of an earlier version is migrated, and written as the new one', () => {
    const before = new StateCells()
    before.update(first, () => 'walk')
    const after = new StateCells()
    after.restore(JSON.parse(JSON.stringify(before.snapshot())) as Record<string, unknown>)

    expect(after.get(second)).toEqual({ steps: ['walk of version 1'] })

    const later = new StateCells()
    later.restore(JSON.parse(JSON.stringify(after.snapshot())) as Record<string, unknown>)
    expect(later.get(second)).toEqual({ steps: ['walk of version 1'] })
  })

  it('one of a later version is refused, and one without a migration starts anew', () => {
    const after = new StateCells()
    after.update(second, () => ({ steps: ['run'] }))
    const snapshot = after.snapshot()

    const old = new StateCells()
    old.restore(snapshot)
    expect(() => old.get(first)).toThrow('version 2, this program knows 1')

    const { migrate: _, ...options } = second
    const third = defineState({ ...options, version: 3 })
    const fresh = new StateCells()
    fresh.restore(snapshot)
    expect(fresh.get(third)).toEqual({ steps: [] })
  })

  it('holds in the session as well', () => {
    const session = createSession({ state: { visits: 'many' } })
    const counted = defineState({
      name: 'visits',
      initial: () => 0,
      schema: number,
      scope: 'session',
      version: 2,
      migrate: () => 100,
    })
    const state = new StateCells({ session, tenant: undefined, store: undefined })

    expect(state.update(counted, (n) => n + 1)).toBe(101)
    expect(session.state).toEqual({ visits: { '~version': 2, value: 101 } })
  })

  it.each([
    [{ scope: 'planet', schema: number }, '`scope`'],
    [{ scope: 'session' }, '`schema`'],
    [{ version: 0 }, '`version`'],
  ])('names what is wrong: %o', (options, problem) => {
    expect(() => defineState({ name: 'x', initial: () => 0, ...(options as object) })).toThrow(
      problem,
    )
  })
})
