import { agentTool, jsonSchema } from '../index.ts'
import { callFunction, scriptedClient } from '@lamella/testing'
import { expect, test, vi } from 'vitest'
import { perStore } from '@lamella/store'
import type { Middleware } from '../contract/agent.ts'
import { agentMiddleware, chatMiddleware } from '../contract/middleware.ts'
import { tool } from '../contract/tool.ts'
import type { KeyValueStore } from '../store/store.ts'
import { memoryStore } from '../store/store.ts'
import { withMiddleware } from '../pipeline/with-middleware.ts'
import { Agent } from './agent.ts'

/** Notes the store of each run. */
function noting(seen: unknown[]): Middleware {
  return agentMiddleware('noting', async ({ run }, callNext) => {
    seen.push(run.store)
    await callNext()
  })
}

const plain = (): KeyValueStore => {
  const names = ['get', 'set', 'delete', 'compareAndSet']
  const entries = Object.entries(memoryStore()).filter(([name]) => names.includes(name))
  return Object.fromEntries(entries) as unknown as KeyValueStore
}

const limiting: Middleware = {
  ...chatMiddleware('limiting', async (_, callNext) => callNext()),
  storeNeeds: ['increment', 'limits'],
}

test('a run has the store of its agent, and without one none', async () => {
  const seen: unknown[] = []
  const store = memoryStore()
  const client = scriptedClient(() => 'Hi.')

  await new Agent({ client, store, middleware: noting(seen) }).run('Hello')
  await new Agent({ client, middleware: noting(seen) }).run('Hello')

  expect(seen).toEqual([store, undefined])
})

test('an agent that a tool runs has the store of its caller, unless it has its own', async () => {
  const seen: unknown[] = []
  const [store, own] = [memoryStore(), memoryStore()]
  const ask = { client: scriptedClient(() => 'Done.'), middleware: noting(seen) }
  const tools = [
    agentTool(new Agent({ ...ask, name: 'with', store: own })),
    agentTool(new Agent({ ...ask, name: 'without' })),
  ]
  const calls = tools.map(({ name }) => callFunction(name, { task: 'Help.' }))
  const client = scriptedClient([calls, 'Thanks.'])

  await new Agent({ client, tools, store }).run('Hello')

  expect(seen).toEqual([own, store])
})

test.each([
  ['the agent', { middleware: [[limiting]] }],
  ['the client', { client: withMiddleware(scriptedClient([]), limiting) }],
])('a store without what a middleware of %s needs makes no agent', (_, options) => {
  const store = { ...plain(), increment: async () => 1 }

  expect(() => new Agent({ client: scriptedClient([]), store, ...options })).toThrow(
    'agent: middleware "limiting": `store` needs `limits`, which this store lacks',
  )
  expect(
    () => new Agent({ client: scriptedClient([]), store: memoryStore(), ...options }),
  ).not.toThrow()
})

test('nor does such a middleware of a run begin the run', () => {
  const client = scriptedClient(() => 'Hi.')
  const agent = new Agent({ client, store: plain() })

  expect(() => agent.run('Hello', { middleware: [limiting] })).toThrow('`store` needs `increment`')
  expect(client.requests).toEqual([])
})

test('an agent that a tool runs needs a store with what its middleware needs, whoever calls it', async () => {
  const helper = agentTool(
    new Agent({
      name: 'helper',
      client: scriptedClient(() => 'Done.'),
      middleware: limiting,
    }),
  )
  const runWith = async (store: KeyValueStore) => {
    const client = scriptedClient([callFunction('helper', { task: 'Help.' }), 'Thanks.'])
    const { messages } = await new Agent({ client, store, tools: [helper] }).run('Hello')
    const results = messages.flatMap(({ contents }) => contents)
    return results.find(({ type }) => type === 'function-result')
  }

  expect(await runWith(memoryStore())).not.toHaveProperty('error')
  expect(await runWith(plain())).toHaveProperty('error')
  expect(await runWith(memoryStore())).not.toHaveProperty('error')
})

test('something that is no store makes no agent', () => {
  const make = (store: unknown) => () =>
    new Agent({ client: scriptedClient([]), store: store as KeyValueStore })

  expect(make('redis://localhost')).toThrow('agent: `store` must be a store')
  expect(make({ get() {}, set() {}, delete() {}, opts: {} })).toThrow('wrap a Keyv')
})

test('a middleware keeps its data in its own store, else the agent’s, else this process', () => {
  const made: unknown[] = []
  const make = (store: unknown) => ({ at: made.push(store) })
  const [own, store] = [memoryStore(), memoryStore()]

  const mine = perStore(own, make)
  const found = perStore(undefined, make)

  expect([mine({ store }), mine({ store: undefined })]).toEqual([{ at: 1 }, { at: 1 }])
  expect([found({ store }), found({ store: undefined }), found({ store })]).toEqual([
    { at: 2 },
    { at: 3 },
    { at: 2 },
  ])
  expect(made).toEqual([own, store, undefined])
})

test('state of a tenant does not wait for a store that hangs', async () => {
  const { defineState } = await import('../run/state.ts')
  const cell = defineState({
    name: 'n',
    initial: () => 0,
    scope: 'tenant',
    schema: jsonSchema<number>({ type: 'number' }),
  })
  const store = { ...plain(), get: () => new Promise<never>(() => {}) }
  const middleware = agentMiddleware('reading', async ({ run }, callNext) => {
    await run.state.load(cell)
    await callNext()
  })
  const agent = new Agent({ client: scriptedClient([]), store, storeTimeoutMs: 1, middleware })

  const running = agent.run('Hello', { tenant: 'acme' })

  await expect(running).rejects.toMatchObject({ code: 'store_timeout' })
})

test.each([1000, undefined])(
  'the claim of an answer waits for the store as long as the agent says: %s',
  async (storeTimeoutMs) => {
    const refund = tool({ name: 'refund', description: '', approval: 'always', execute: () => '' })
    const store = { ...plain(), compareAndSet: () => new Promise<never>(() => {}) }
    const client = scriptedClient([callFunction('refund')])
    const agent = new Agent({ client, tools: [refund], store, storeTimeoutMs })
    const { checkpoint, pending } = await agent.run('Refund it.')
    vi.useFakeTimers()

    const running = agent
      .resume(checkpoint!, { [pending[0]!.id]: true })
      .catch((error: unknown) => error)
    await vi.waitUntil(() => vi.getTimerCount() > 0, { interval: 1 })
    await vi.advanceTimersByTimeAsync(storeTimeoutMs ?? 5000)

    expect(String(await running)).toContain(`within ${storeTimeoutMs ?? 5000} ms`)
    vi.useRealTimers()
  },
)
