import {
  Agent,
  agentMiddleware,
  createId,
  createSession,
  jsonSchema,
  memoryStore,
  message,
  tool,
} from '@lamella/core'
import { sessions as sessionsOf } from '@lamella/store'
import type { Middleware } from '@lamella/core'
import type { ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import { Redis } from 'ioredis'
import { afterEach, expect, it } from 'vitest'
import { AgentQueue, AgentWorker } from './index.ts'
import { describeWithRedis, redisUrl } from '../../../tests/support/real-redis.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

/** Writes its text into the state of the session. */
const note = tool({
  name: 'note',
  description: '',
  parameters: jsonSchema({ type: 'object', properties: { text: { type: 'string' } } }),
  execute: ({ text }, { session }) => {
    const notes = session!.state['notes'] as string[] | undefined
    session!.state['notes'] = [...(notes ?? []), text]
  },
})
const pay = tool({ name: 'pay', description: '', approval: 'always', execute: () => 'paid' })
const noteDown = (text: string) => callFunction('note', { text })

function setUp() {
  const store = memoryStore()
  const sessions = sessionsOf(store)
  const shared = { name: createId('test'), connection: redisUrl }
  const queue = new AgentQueue({ ...shared, backoffMs: 1 })
  open.push(queue)
  const startAgent = (agent: Agent, onError?: (error: unknown) => void) => {
    const worker = new AgentWorker({ ...shared, agents: { a: agent }, sessions, onError })
    open.push(worker)
    return worker
  }
  const startWorker = (steps: readonly ScriptedStep[], middleware: readonly Middleware[] = []) => {
    return startAgent(new Agent({ client: scriptedClient(steps), tools: [note, pay], middleware }))
  }
  const add = async () => (await queue.add({ agent: 'a', input: 'Go', sessionId: 's' })).runId
  const state = async () => (await sessions.load('s'))?.state
  return { queue, queueName: shared.name, sessions, store, startAgent, startWorker, add, state }
}

describeWithRedis('a session', () => {
  const hello = (texts: readonly string[]) => new Agent({ client: scriptedClient(texts) })

  it('is that of its tenant and principal, whatever its id', async () => {
    const { queue, sessions, startAgent } = setUp()
    startAgent(hello(['Hi.', 'Hi.']))
    const ada = { tenant: 'a', principal: 'ada' }
    for (const owner of [ada, { tenant: 'b', principal: 'bob' }]) {
      const { runId } = await queue.add({ agent: 'a', input: 'Go', sessionId: 's', ...owner })
      await queue.result(runId)
    }

    const stolen = { agent: 'a', input: 'Go', sessionId: 's', tenant: 'a', principal: 'bob' }
    const { error } = await queue.result((await queue.add(stolen)).runId)

    expect(error).toMatchObject({ code: 'session_unknown' })
    await expect.poll(async () => (await sessions.load('s', ada))?.messages.length).toBe(2)
    expect(await sessions.load('s', { tenant: 'a', principal: 'bob' })).toBeUndefined()
  })

  it('that somebody else has saved meanwhile is not overwritten, and the worker says so', async () => {
    const { queue, sessions, startAgent } = setUp()
    const other = async (): Promise<string> => {
      const session = await sessions.open('s')
      session.messages = [message('user', 'From elsewhere.')]
      await sessions.save(session)
      return 'Hi.'
    }
    const told: unknown[] = []
    startAgent(new Agent({ client: scriptedClient([other]) }), (error) => told.push(error))
    const { runId } = await queue.add({ agent: 'a', input: 'Go', sessionId: 's' })

    expect(await queue.result(runId)).toMatchObject({ status: 'completed', text: 'Hi.' })

    await expect.poll(() => told[0]).toMatchObject({ code: 'session_conflict' })
    expect((await sessions.load('s'))?.messages).toHaveLength(1)
  })

  it.for([true, false])(
    'of a run whose worker died behind its outcome is saved by the next, saved before: %s',
    async (isSaved) => {
      const { queue, queueName, sessions, store, startAgent } = setUp()
      const owner = { tenant: 'a', principal: 'ada' }
      const { runId } = await queue.add({ agent: 'a', input: 'Go', sessionId: 's', ...owner })
      // What the worker leaves: the outcome, and the session as it was to be saved.
      const session = createSession({ id: 's', messages: [message('user', 'Go')] })
      const redis = new Redis(redisUrl)
      await redis.hset(`lamella:${queueName}:run:${runId}`, {
        state: 'completed',
        outcome: '{}',
        session: JSON.stringify(session),
      })
      redis.disconnect()
      if (isSaved) await sessionsOf(store).save(session, owner)
      const told: unknown[] = []

      startAgent(hello([]), (error) => told.push(error))

      await expect.poll(async () => (await sessions.load('s', owner))?.messages.length).toBe(1)
      expect(told).toEqual([])
    },
  )
})

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
