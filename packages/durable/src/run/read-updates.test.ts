import type { AgentResponse } from '@lamella/core'
import { Agent, memoryStore, tool } from '@lamella/core'
import { toSSE } from '@lamella/serve'
import { callFunction, scriptedClient } from '@lamella/testing'
import { expect, test, vi } from 'vitest'
import { FakeWorkflow } from '../testing/fake-workflow.test-helper.ts'
import { storedUpdates } from '../updates/stored-updates.ts'
import { runDurably } from './run-durably.ts'

test('a page that reloads during a deployment reads the answer to its end', async () => {
  const shared = memoryStore()
  const look = tool({ name: 'look', description: 'Looks.', execute: () => 'sun' })
  const client = scriptedClient([callFunction('look'), 'It is sunny.'])
  const agent = new Agent({ client, tools: [look] })
  const workflow = new FakeWorkflow()
  const pass = (killAt?: number): Promise<AgentResponse | 'killed'> => {
    // Each process has an object of its own.
    const updates = storedUpdates(shared, { flushMs: 0 })
    return workflow.pass((engine) => runDurably(agent, 'Go.', { ...engine, updates }), { killAt })
  }
  const page = (): Promise<string> =>
    new Response(toSSE(storedUpdates(shared).read('workflow-1'))).text()

  const opened = page()
  await pass(8)
  const reloaded = page()
  await pass()

  for (const events of [await opened, await reloaded, await page()]) {
    expect(events).toContain('event: restart')
    expect(events.split('event: restart').at(-1)).toContain('sunny.')
    expect(events).toMatch(/event: done\ndata: .*"completed"/)
  }
})

test('a pass that takes over a long answer finds its end in few steps', async () => {
  const store = memoryStore()
  const words = Array.from({ length: 300 }, (_, at) => `${at} `)
  const client = scriptedClient(() => ({ updates: words, delayMs: 1 }))
  const workflow = new FakeWorkflow()
  const pass = (): Promise<AgentResponse | 'killed'> => {
    const updates = storedUpdates(store, { flushMs: 0 })
    return workflow.pass((engine) =>
      runDurably(new Agent({ client }), 'Go.', { ...engine, updates }),
    )
  }
  await pass()
  const [get, set] = [vi.spyOn(store, 'get'), vi.spyOn(store, 'compareAndSet')]

  await pass()

  const steps = get.mock.calls.length + set.mock.calls.length
  const { text } = await storedUpdates(store).read('workflow-1').finalResponse()
  expect(text).toBe(words.join(''))
  expect(steps).toBeLessThan(40)
})

test('a run belongs to its user, and a reader gets no checkpoint', async () => {
  const updates = storedUpdates(memoryStore())
  const pay = tool({ name: 'pay', description: 'Pays.', approval: 'always', execute: () => 1 })
  const agent = new Agent({ client: scriptedClient([callFunction('pay')]), tools: [pay] })

  await new FakeWorkflow().pass((engine) =>
    runDurably(agent, 'Go.', { ...engine, updates }, { principal: 'ada' }),
  )

  const response = await updates.read('workflow-1', { principal: 'ada' }).finalResponse()
  expect(response).toMatchObject({ status: 'paused', pending: [{ kind: 'approval' }] })
  expect(response.checkpoint).toBeUndefined()
  const signal = AbortSignal.timeout(20)
  const other = updates.read('workflow-1', { principal: 'bob', signal }).finalResponse()
  await expect(other).rejects.toMatchObject({ name: 'TimeoutError' })
})

test('a run that fails ends its readers with the code, and no word of the error', async () => {
  const updates = storedUpdates(memoryStore())
  const agent = new Agent({ client: scriptedClient([new Error('the secret')]) })

  const run = new FakeWorkflow().pass((engine) => runDurably(agent, 'Go.', { ...engine, updates }))

  await expect(run).rejects.toThrow('the secret')
  await expect(updates.read('workflow-1').finalResponse()).rejects.toMatchObject({
    code: 'run_failed',
    message: 'The run has failed.',
  })
  const later = new Agent({ client: scriptedClient(['It worked.']) })
  await new FakeWorkflow().pass((engine) => runDurably(later, 'Go.', { ...engine, updates }))
  expect((await updates.read('workflow-1').finalResponse()).text).toBe('It worked.')
})

test('a store that fails for a moment delays readers, and does not fail the run', async () => {
  const memory = memoryStore()
  const errors: unknown[] = []
  let failures = 2
  const compareAndSet: typeof memory.compareAndSet = async (...args) => {
    if (failures-- > 0) throw new Error('away')
    return memory.compareAndSet(...args)
  }
  const updates = storedUpdates(
    { ...memory, compareAndSet },
    { flushMs: 0, onError: (error) => errors.push(error) },
  )
  const look = tool({ name: 'look', description: 'Looks.', execute: () => 'sun' })
  const client = scriptedClient([callFunction('look'), 'It is sunny.'])
  const agent = new Agent({ client, tools: [look] })

  await new FakeWorkflow().pass((engine) => runDurably(agent, 'Go.', { ...engine, updates }))

  expect((await updates.read('workflow-1').finalResponse()).text).toBe('It is sunny.')
  expect(errors).toHaveLength(2)
})

test('updates need the id of the workflow', async () => {
  const agent = new Agent({ client: scriptedClient(['Hi.']) })
  const updates = storedUpdates(memoryStore())

  const run = runDurably(agent, 'Go.', { step: (_, work) => work(), updates })

  await expect(run).rejects.toThrow('`id`')
})
