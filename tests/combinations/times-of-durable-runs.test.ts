import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { AgentResponse } from '../../packages/core/src/index.ts'
import { Agent, memoryStore, tool } from '../../packages/core/src/index.ts'
import { runDurably } from '../../packages/durable/src/index.ts'
import { FakeWorkflow } from '../../packages/durable/src/testing/fake-workflow.test-helper.ts'
import { budget } from '../../packages/middleware-budget/src/index.ts'
import { toolPolicy } from '../../packages/guardrail-tools/src/index.ts'
import { timeout } from '../../packages/middleware-retry/src/index.ts'
import { callFunction, scriptedClient } from '../../packages/testing/src/index.ts'

const begin = 1_700_000_000_000
const ttlMs = 60_000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: begin })
})
afterEach(() => {
  vi.useRealTimers()
})

test.each([
  ['in time', 1_000, true],
  ['too late', 2 * ttlMs, false],
])('an approval that is answered %s is so in every pass', async (_, afterMs, isPaid) => {
  let paid = 0
  const pay = tool({ name: 'pay', description: 'Pays.', execute: () => ++paid })
  const store = memoryStore()
  const client = scriptedClient(({ messages }) =>
    messages.length === 1 ? callFunction('pay', {}, 'call_1') : 'Done.',
  )
  const workflow = new FakeWorkflow()
  const pass = (killAt?: number): Promise<AgentResponse | 'killed'> => {
    const middleware = toolPolicy({ ask: ['pay'], approval: { store, ttlMs } })
    const agent = new Agent({ client, tools: [pay], middleware })
    return workflow.pass((engine) => runDurably(agent, 'Go.', engine), {
      killAt,
      answer: (requests) => {
        vi.setSystemTime(begin + afterMs)
        return Object.fromEntries(requests.map(({ id }) => [id, true]))
      },
    })
  }

  const first = await pass()
  // Another process takes it over when the approval would have expired.
  vi.setSystemTime(begin + 10 * ttlMs)
  const second = await pass()

  expect(first).toMatchObject({ status: 'completed', text: 'Done.' })
  expect(JSON.stringify(first).includes('has expired')).toBe(!isPaid)
  expect(paid).toBe(isPaid ? 1 : 0)
  expect(JSON.stringify(second)).toBe(JSON.stringify(first))
})

test('the time of a budget counts on in another process', async () => {
  const wait = tool({
    name: 'wait',
    description: 'Takes a while.',
    execute: () => void vi.setSystemTime(Date.now() + 40_000),
  })
  const client = scriptedClient(({ messages }) => callFunction('wait', {}, `${messages.length}`))
  const workflow = new FakeWorkflow()
  const pass = (killAt?: number): Promise<AgentResponse | 'killed'> => {
    const middleware = budget({ limits: { wallMs: 60_000 } })
    const agent = new Agent({ client, tools: [wait], middleware })
    return workflow.pass((engine) => runDurably(agent, 'Go.', engine), { killAt })
  }

  const before = await pass(10)
  const first = await pass()
  const second = await pass()

  expect(before).toBe('killed')
  expect(first).toMatchObject({ status: 'budget_exhausted' })
  expect(workflow.steps.filter((step) => step?.name.startsWith('tool'))).toHaveLength(2)
  expect(JSON.stringify(second)).toBe(JSON.stringify(first))
})

test('a time limit around the steps makes no timer of the engine', async () => {
  const sleeps: number[] = []
  const sleep = async (ms: number): Promise<void> => void sleeps.push(ms)
  const client = scriptedClient([
    { updates: [], hang: true },
    { updates: [], hang: true },
  ])
  const limitOf = (level: object) => timeout({ firstUpdateMs: false, idleMs: false, ...level })
  const pass = (middleware: ReturnType<typeof limitOf>) => {
    const agent = new Agent({ client, middleware })
    return new FakeWorkflow().pass((engine) => runDurably(agent, 'Go.', { ...engine, sleep }))
  }

  const ofRun = pass(limitOf({ attemptMs: false, totalMs: 20 }))
  const ofCall = pass(limitOf({ attemptMs: 20 }))

  await expect(ofRun).rejects.toMatchObject({ phase: 'total' })
  await expect(ofCall).rejects.toMatchObject({ phase: 'attempt' })
  expect(sleeps).toEqual([])
})
