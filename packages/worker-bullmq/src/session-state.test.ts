import { Agent, agentMiddleware, createId, memoryStore, sessionStore, tool } from '@lamella/core'
import type { Middleware } from '@lamella/core'
import type { ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import { afterEach, expect, it } from 'vitest'
import { AgentQueue, AgentWorker } from './index.ts'
import { describeWithRedis, redisUrl } from '../../../scripts/test-support/real-redis.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

/** Writes its text into the state of the session. */
const note = tool({
  name: 'note',
  description: '',
  parameters: { type: 'object', properties: { text: { type: 'string' } } },
  execute: ({ text }, { session }) => {
    const notes = session!.state['notes'] as string[] | undefined
    session!.state['notes'] = [...(notes ?? []), text]
  },
})
const pay = tool({ name: 'pay', description: '', approval: 'always', execute: () => 'paid' })
const noteDown = (text: string) => callFunction('note', { text })

function setUp() {
  const sessions = sessionStore(memoryStore())
  const shared = { name: createId('test'), connection: redisUrl }
  const queue = new AgentQueue({ ...shared, backoffMs: 1 })
  open.push(queue)
  const startWorker = (steps: readonly ScriptedStep[], middleware: readonly Middleware[] = []) => {
    const agent = new Agent({ client: scriptedClient(steps), tools: [note, pay], middleware })
    const worker = new AgentWorker({ ...shared, agents: { a: agent }, sessions })
    open.push(worker)
    return worker
  }
  const add = async () => (await queue.add({ agent: 'a', input: 'Go', sessionId: 's' })).runId
  const state = async () => (await sessions.load('s'))?.state
  return { queue, startWorker, add, state }
}

describeWithRedis('the state of a session', () => {
  it('is what it was at the step that a run continues from when it is tried again', async () => {
    const { queue, startWorker, add, state } = setUp()
    startWorker([noteDown('one'), new Error('down'), noteDown('two'), 'Done.'])

    expect(await queue.result(await add())).toMatchObject({ status: 'completed' })

    await expect.poll(state).toEqual({ notes: ['one', 'two'] })
  })

  it('goes along when a worker that closes hands a run over', async () => {
    const { queue, startWorker, add, state } = setUp()
    const legs = agentMiddleware('legs', async ({ session }, callNext) => {
      await callNext()
      session!.state['legs'] = Number(session!.state['legs'] ?? 0) + 1
    })
    let closing: Promise<void> | undefined
    const answer = () => {
      closing = first.close()
      return noteDown('one')
    }
    const first = startWorker([answer], [legs])
    const runId = await add()
    await expect.poll(() => closing !== undefined).toBe(true)
    await closing
    startWorker(['Done.'], [legs])

    expect(await queue.result(runId)).toMatchObject({ status: 'completed' })

    await expect.poll(state).toEqual({ legs: 2, notes: ['one'] })
  })

  it('is that of the session when a run continues after a pause, whatever other runs did with it', async () => {
    const { queue, startWorker, add, state } = setUp()
    startWorker([
      noteDown('one'),
      callFunction('pay'),
      noteDown('of another run'),
      'Noted.',
      noteDown('two'),
      'Done.',
    ])
    const runId = await add()
    const paused = await queue.result(runId)
    await queue.result(await add())

    await queue.resume(runId, { [paused.pending[0]!.id]: true })
    expect(await queue.result(runId)).toMatchObject({ status: 'completed' })

    await expect.poll(state).toEqual({ notes: ['one', 'of another run', 'two'] })
  })
})
