import {
  Agent,
  BudgetExhausted,
  GuardrailTripped,
  MiddlewareTermination,
  agentMiddleware,
  createId,
  defineState,
  foldUpdates,
  jsonSchema,
  memoryStore,
  tool,
} from '@lamella/core'
import { guardrail } from '@lamella/guardrail'
import { sessions as sessionsOf } from '@lamella/store'
import type { AgentResponseUpdate } from '@lamella/core'
import { redisStore } from '@lamella/store-redis'
import { callFunction, scriptedClient } from '@lamella/testing'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { afterEach, describe, expect, it } from 'vitest'
import type { AgentWorkerOptions, RunOutcome } from './index.ts'
import { AgentQueue, AgentWorker, deadLetterQueue } from './index.ts'
import { describeWithRedis, redisUrl } from '../../../tests/support/real-redis.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

const name = (): string => createId('test').replaceAll(':', '-')

function setUp(
  agents: AgentWorkerOptions['agents'],
  { workers = 1, ...options }: Partial<AgentWorkerOptions> & { workers?: number } = {},
) {
  const queueName = options.name ?? name()
  const queue = new AgentQueue({ name: queueName, connection: redisUrl, attempts: 3, backoffMs: 1 })
  open.push(queue)
  const made = Array.from({ length: workers }, () => {
    const worker = new AgentWorker({ connection: redisUrl, agents, ...options, name: queueName })
    open.push(worker)
    return worker
  })
  return { queue, queueName, workers: made }
}

const answering = (...steps: Parameters<typeof scriptedClient>[0][]): Agent =>
  new Agent({ client: scriptedClient(steps[0] ?? ['Hello.']) })

const throwing = (error: () => Error): Agent =>
  new Agent({
    client: scriptedClient(() => 'Never.'),
    middleware: agentMiddleware('throw', () => {
      throw error()
    }),
  })

const block = {
  guardrail: 'g',
  level: 'agent',
  stage: 'input',
  category: 'secret',
  message: 'I cannot help.',
} as const

describeWithRedis('the outcome of a run', () => {
  it.each<[string, () => Agent, Partial<RunOutcome>, number]>([
    [
      'completed',
      () => answering(),
      { event: 'run.completed', status: 'completed', text: 'Hello.' },
      0,
    ],
    [
      'terminated',
      () => throwing(() => new MiddlewareTermination('enough', { result: 'Enough.' })),
      { event: 'run.completed', status: 'terminated', text: 'Enough.' },
      0,
    ],
    [
      'cut off after too many rounds',
      () =>
        new Agent({
          client: scriptedClient([callFunction('noop'), 'I give up.']),
          tools: [tool({ name: 'noop', description: '', execute: () => '' })],
          functionInvocation: { maxIterations: 1 },
        }),
      { event: 'run.completed', status: 'max_iterations', text: 'I give up.' },
      0,
    ],
    [
      'blocked by a guardrail',
      () => throwing(() => new GuardrailTripped(block)),
      {
        event: 'run.failed',
        status: 'guardrail_tripped',
        text: 'Request blocked: I cannot help.',
        block,
      },
      0,
    ],
    [
      'out of budget',
      () => throwing(() => new BudgetExhausted('tokens', 10)),
      { event: 'run.failed', status: 'budget_exhausted' },
      0,
    ],
    [
      'crashed',
      () => throwing(() => new TypeError('the secret of the user')),
      { event: 'run.failed', status: 'agent_crashed', error: { name: 'TypeError' } },
      1,
    ],
  ])('%s', async (_, make, expected, dead) => {
    let tries = 0
    const { queue, queueName } = setUp(() => {
      tries++
      return make()
    })
    const { runId } = await queue.add({ agent: 'a', input: 'Hi' })

    const outcome = await queue.result(runId)

    expect(outcome).toMatchObject(expected)
    expect(tries).toBe(dead === 1 ? 3 : 1)
    expect(JSON.stringify(outcome)).not.toContain('the secret of the user')
    const graves = new Queue(deadLetterQueue(queueName), { connection: { url: redisUrl } })
    open.push(graves)
    await expect
      .poll(async () => (await graves.getWaiting()).map(({ data }) => data.runId))
      .toEqual(dead === 1 ? [runId] : [])
  })

  it('an agent that throws when blocked is blocked, and not tried again', async () => {
    let tries = 0
    const { queue } = setUp(() => {
      tries++
      return new Agent({
        client: scriptedClient([]),
        onBlock: 'throw',
        middleware: agentMiddleware('g', () => {
          throw new GuardrailTripped(block)
        }),
      })
    })
    const { runId } = await queue.add({ agent: 'a', input: 'Hi' })

    expect(await queue.result(runId)).toMatchObject({ status: 'guardrail_tripped', messages: [] })
    expect(tries).toBe(1)
  })

  it('a failure that passes is tried again, from the last finished step', async () => {
    const ran: string[] = []
    let calls = 0
    const agent = new Agent({
      client: scriptedClient(() => {
        calls++
        if (calls === 2) throw new Error('down')
        return calls === 1 ? callFunction('pay', {}, 'c1') : 'Paid.'
      }),
      tools: [tool({ name: 'pay', description: '', execute: () => void ran.push('paid') })],
    })
    const { queue } = setUp({ a: agent })
    const { runId } = await queue.add({ agent: 'a', input: 'Hi' })

    const outcome = await queue.result(runId)

    expect(outcome).toMatchObject({ status: 'completed', text: 'Paid.' })
    expect(outcome.messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant'])
    expect(ran).toEqual(['paid'])
    expect(calls).toBe(3)
  })

  it('a run for an agent that nobody has ends up with the dead letters', async () => {
    const { queue } = setUp({})
    const { runId } = await queue.add({ agent: 'nobody', input: 'Hi' })

    expect(await queue.result(runId)).toMatchObject({
      status: 'agent_crashed',
      error: { code: 'agent_unknown' },
    })
  })
})

describeWithRedis('one run', () => {
  it('is run once, however often it is added, also after it has ended', async () => {
    let runs = 0
    const { queue } = setUp(() => {
      runs++
      return answering()
    })
    const request = { agent: 'a', input: 'Hi', runId: 'order-1' }

    const added = await Promise.all(Array.from({ length: 20 }, () => queue.add(request)))
    await queue.result('order-1')
    const again = await queue.add(request)

    expect(added.filter((entry) => entry.added)).toHaveLength(1)
    expect(again.added).toBe(false)
    expect(await queue.read('order-1')).toMatchObject({ state: 'completed', deliveries: 1 })
    expect(runs).toBe(1)
  })

  it('is streamed to however many subscribers, whenever they come', async () => {
    const { queue } = setUp({
      a: answering([{ updates: ['Hel', 'lo', { finishReason: 'stop' }] }]),
    })
    const early = queue.add({ agent: 'a', input: 'Hi', runId: 'r' }).then(() => read('r'))
    const read = async (runId: string) => {
      let text = ''
      for await (const message of queue.subscribe(runId)) {
        if (message.kind === 'outcome') return { text, status: message.outcome.status }
        for (const part of message.update.contents) if (part.type === 'text') text += part.text
      }
      return { text }
    }

    await queue.add({ agent: 'a', input: 'Hi', runId: 'r' })
    const all = [await early, await read('r')]

    expect(all).toEqual(Array.from({ length: 2 }, () => ({ text: 'Hello', status: 'completed' })))
  })

  it('pauses for an approval, and continues in another worker', async () => {
    const paid: unknown[] = []
    const make = (steps: Parameters<typeof scriptedClient>[0]) =>
      new Agent({
        client: scriptedClient(steps),
        tools: [
          tool({
            name: 'pay',
            description: '',
            approval: 'always',
            execute: () => void paid.push('paid'),
          }),
        ],
      })
    const first = setUp({ a: make([callFunction('pay', {}, 'c1')]) })
    const { runId } = await first.queue.add({ agent: 'a', input: 'Pay' })
    const paused = await first.queue.result(runId)
    await first.workers[0]!.close()
    const [request] = paused.pending

    await expect(first.queue.resume(runId, { forged: true })).rejects.toMatchObject({
      code: 'approval_invalid',
    })
    setUp({ a: make(['Paid.']) }, { name: first.queueName })
    await first.queue.resume(runId, { [request!.id]: true })
    const outcome = await first.queue.result(runId)

    expect(paused).toMatchObject({ event: 'run.paused', status: 'paused' })
    expect(JSON.stringify(paused)).not.toContain('checkpoint')
    expect(outcome).toMatchObject({ event: 'run.completed' })
    expect(outcome.text.endsWith('Paid.')).toBe(true)
    await first.queue.resume(runId, { [request!.id]: true })
    await expect(first.queue.resume(runId, { [request!.id]: false })).rejects.toMatchObject({
      code: 'approval_used',
    })
    expect(paid).toEqual(['paid'])
  })

  it('asks its caller, wherever that is', async () => {
    const agent = new Agent({
      client: scriptedClient(() => 'Hello.'),
      middleware: agentMiddleware('ask', async (context, callNext) => {
        context.metadata['name'] = await context.run.request({ type: 'name' })
        await callNext()
        context.result = `Hello ${String(context.metadata['name'])}.`
      }),
    })
    const { queue } = setUp({ a: agent })
    const { runId } = await queue.add({ agent: 'a', input: 'Hi' })
    let text: string | undefined

    for await (const message of queue.subscribe(runId)) {
      if (message.kind === 'outcome') text = message.outcome.text
      else if (message.update.event?.id) await queue.respond(runId, message.update.event.id, 'Ada')
    }

    expect(text).toBe('Hello Ada.')
  })
})

describeWithRedis('a cancel', () => {
  const hanging = (): Agent =>
    new Agent({ client: scriptedClient([{ updates: ['Hel'], hang: true }]) })

  it('reaches a run that is under way', async () => {
    const { queue } = setUp({ a: hanging() })
    const { runId } = await queue.add({ agent: 'a', input: 'Hi' })
    for await (const message of queue.subscribe(runId)) {
      if (message.kind === 'update' && message.update.contents.length > 0) break
    }

    expect(await queue.cancel(runId)).toBe(true)

    expect(await queue.result(runId)).toMatchObject({ event: 'run.cancelled', status: 'cancelled' })
    expect(await queue.cancel(runId)).toBe(false)
  })

  it('reaches a run that nobody works on yet, and one that waits', async () => {
    const queueName = name()
    const queue = new AgentQueue({ name: queueName, connection: redisUrl })
    open.push(queue)
    const { runId } = await queue.add({ agent: 'a', input: 'Hi' })
    await queue.cancel(runId)
    const pausing = new Agent({
      client: scriptedClient([callFunction('pick', {}, 'c1')]),
      tools: [tool({ name: 'pick', description: '' })],
    })
    setUp({ a: hanging(), b: pausing }, { name: queueName })
    const waiting = await queue.add({ agent: 'b', input: 'Hi' })
    expect((await queue.result(waiting.runId)).event).toBe('run.paused')
    await queue.cancel(waiting.runId)

    expect((await queue.result(runId)).event).toBe('run.cancelled')
    expect((await queue.result(waiting.runId)).event).toBe('run.cancelled')
  })

  it('counts as neither done nor failed', async () => {
    const { queue, queueName } = setUp({ a: hanging() })
    const { runId } = await queue.add({ agent: 'a', input: 'Hi' })
    await expect.poll(async () => (await queue.read(runId)).state).toBe('running')
    await queue.cancel(runId)
    await queue.result(runId)

    const jobs = new Queue(queueName, { connection: { url: redisUrl } })
    open.push(jobs)
    await expect
      .poll(() => jobs.getJobCounts('completed', 'failed', 'active'))
      .toEqual({
        active: 0,
        completed: 0,
        failed: 0,
      })
  })
})

describeWithRedis('runs of a session', () => {
  it('go one after another, and each knows what the others said', async () => {
    const sessions = sessionsOf(memoryStore())
    let atOnce = 0
    let most = 0
    const client = scriptedClient(async ({ messages }) => {
      most = Math.max(most, ++atOnce)
      await new Promise((done) => setImmediate(done))
      atOnce--
      return `${messages.length}`
    })
    const { queue } = setUp({ a: new Agent({ client }) }, { sessions, concurrency: 5 })

    const runs = await Promise.all(
      [1, 2, 3].map((at) => queue.add({ agent: 'a', input: `${at}`, sessionId: 's' })),
    )
    const outcomes = await Promise.all(runs.map(({ runId }) => queue.result(runId)))

    expect(outcomes.map(({ text }) => text).toSorted()).toEqual(['1', '3', '5'])
    expect(most).toBe(1)
    await expect.poll(async () => (await sessions.load('s'))?.messages.length).toBe(6)
  })

  it('may be kept in the same Redis', async () => {
    const store = redisStore(redisUrl, { namespace: name() })
    const sessions = sessionsOf(store, { ttlMs: 60_000 })
    const agent = new Agent({ client: scriptedClient(({ messages }) => `${messages.length}`) })
    const { queue } = setUp({ a: agent }, { sessions })
    for (const expected of ['1', '3']) {
      const { runId } = await queue.add({ agent: 'a', input: 'Hi', sessionId: 's' })
      expect((await queue.result(runId)).text).toBe(expected)
    }

    await expect.poll(async () => (await sessions.load('s'))?.messages.length).toBe(4)
    await store.close()
  })

  it('a blocked one leaves no word in it', async () => {
    const sessions = sessionsOf(memoryStore())
    const agent = throwing(() => new GuardrailTripped(block))
    const { queue } = setUp({ a: agent }, { sessions })
    const { runId } = await queue.add({ agent: 'a', input: 'my secret', sessionId: 's' })
    await queue.result(runId)

    await expect.poll(async () => (await sessions.load('s'))?.messages).toEqual([])
  })
})

describeWithRedis('of a run that a guardrail blocked', () => {
  it.each(['return', 'throw'] as const)(
    'no word stays in Redis, however far it had come, onBlock: %s',
    async (onBlock) => {
      const agent = new Agent({
        client: scriptedClient([
          ['I look for your secret.', callFunction('look', { at: 'the secret place' })],
          'Never.',
        ]),
        tools: [tool({ name: 'look', description: '', execute: () => 'a secret' })],
        middleware: guardrail({
          name: 'g',
          applyTo: ['result'],
          check: () => ({ action: 'block', message: 'I cannot help.' }),
        }),
        onBlock,
      })
      const { queue, queueName } = setUp({ a: agent })
      const { runId } = await queue.add({ agent: 'a', input: 'my secret', data: { my: 'secret' } })
      const outcome = await queue.result(runId)

      const redis = new Redis(redisUrl)
      const kept = await Promise.all([
        redis.hgetall(`lamella:${queueName}:run:${runId}`),
        redis.xrange(`lamella:${queueName}:updates:${runId}`, '-', '+'),
      ])
      redis.disconnect()
      const updates: AgentResponseUpdate[] = []
      for await (const entry of queue.subscribe(runId)) {
        if (entry.kind === 'update') updates.push(entry.update)
      }

      expect(outcome).toMatchObject({ status: 'guardrail_tripped', block: { guardrail: 'g' } })
      expect(JSON.stringify(kept)).not.toContain('secret')
      expect(foldUpdates(updates).text).toBe(onBlock === 'return' ? 'I cannot help.' : '')
      expect(await queue.add({ agent: 'a', input: 'again', runId })).toMatchObject({ added: false })
    },
  )
})

describeWithRedis('a worker that closes', () => {
  it('lets its run come to a safe point, from which another one continues', async () => {
    const ran: string[] = []
    let begin = (): void => {}
    const begun = new Promise<void>((resolve) => (begin = resolve))
    let release = (): void => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    const state = defineState({
      name: 'n',
      initial: () => 0,
      schema: jsonSchema<number>({ type: 'number' }),
    })
    const make = (steps: Parameters<typeof scriptedClient>[0]) =>
      new Agent({
        client: scriptedClient(steps),
        tools: [
          tool({
            name: 'work',
            description: '',
            execute: async (_, { run }) => {
              begin()
              await released
              run.state.update(state, (n: unknown) => Number(n) + 1)
              ran.push('worked')
              return 'worked'
            },
          }),
        ],
      })
    const { queue, queueName, workers } = setUp({ a: make([callFunction('work', {}, 'c1')]) })
    const { runId } = await queue.add({ agent: 'a', input: 'Go' })
    await begun

    const closed = workers[0]!.close({ timeoutMs: 5000 })
    release()
    await closed
    expect(await queue.read(runId)).toMatchObject({ state: 'queued', deliveries: 1 })
    setUp({ a: make(['Done.']) }, { name: queueName })

    expect(await queue.result(runId)).toMatchObject({ status: 'completed' })
    expect(ran).toEqual(['worked'])
  })

  it('cuts off what finds none in time', async () => {
    const agent = new Agent({ client: scriptedClient([{ updates: ['Hel'], hang: true }]) })
    const { queue, queueName, workers } = setUp({ a: agent })
    const { runId } = await queue.add({ agent: 'a', input: 'Go' })
    await expect.poll(async () => (await queue.read(runId)).state).toBe('running')
    await expect.poll(() => queue.subscribe(runId)[Symbol.asyncIterator]().next()).toBeTruthy()

    await workers[0]!.close({ timeoutMs: 0 })
    setUp({ a: answering() }, { name: queueName })

    expect(await queue.result(runId)).toMatchObject({ status: 'completed', text: 'Hello.' })
  })
})

describe('options', () => {
  it.each([
    [() => new AgentQueue({ name: '', connection: redisUrl }), '`name`'],
    [() => new AgentQueue({ name: 'q', connection: redisUrl, attempts: 0 }), '`attempts`'],
    [() => new AgentWorker({ name: 'q', connection: redisUrl, agents: 1 as never }), '`agents`'],
    [
      () => new AgentWorker({ name: 'q', connection: redisUrl, agents: {}, concurrency: 0 }),
      '`concurrency`',
    ],
  ])('name what is wrong', (make, problem) => {
    expect(make).toThrow(problem)
  })
})

describeWithRedis('a pause that nobody answers', () => {
  const approval = (paid: string[]) => {
    const pay = tool({
      name: 'pay',
      description: '',
      approval: 'always',
      execute: (_, { callId }) => void paid.push(callId),
    })
    const client = scriptedClient(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? 'Done.' : [callFunction('pay', {}, 'c1')],
    )
    return { client, agent: new Agent({ client, tools: [pay] }) }
  }

  it('ends as a refusal after its time, and takes no answer any more', async () => {
    const paid: string[] = []
    const { agent, client } = approval(paid)
    const { queue, queueName } = setUp({ a: agent }, { expiresAfterMs: 60_000, workers: 2 })
    const { runId } = await queue.add({ agent: 'a', input: 'Pay' })
    const { pending } = await queue.result(runId)
    const jobs = new Queue(queueName, { connection: { url: redisUrl } })
    open.push(jobs)
    await expect.poll(() => jobs.getDelayedCount()).toBe(1)
    const [expiry] = await jobs.getDelayed()

    expect(expiry!.delay).toBe(60_000)
    await expiry!.promote()
    await expect.poll(async () => (await queue.read(runId)).state).toBe('completed')

    expect(JSON.stringify(client.requests[1]!.messages)).toContain('nobody answered in time')
    expect(paid).toEqual([])
    const late = queue.resume(runId, { [pending[0]!.id]: true })
    await expect(late).rejects.toMatchObject({ code: 'approval_used' })
  })

  it('is refused once, also by a worker that died before it had queued the run', async () => {
    const { agent, client } = approval([])
    const { queue, queueName } = setUp({ a: agent }, { expiresAfterMs: 60_000 })
    const { runId } = await queue.add({ agent: 'a', input: 'Pay' })
    const { pending } = await queue.result(runId)
    const jobs = new Queue(queueName, { connection: { url: redisUrl } })
    open.push(jobs)
    const redis = new Redis(redisUrl)
    open.push({
      close: async () => {
        redis.disconnect()
      },
    })
    const key = `lamella:${queueName}:run:${runId}`
    const answers = JSON.stringify({ [pending[0]!.id]: { approved: false } })
    await expect.poll(() => jobs.getDelayedCount()).toBe(1)
    await redis.hset(key, { state: 'queued', answers, answered: answers, leg: 1 })
    await redis.hdel(key, 'outcome')

    await (await jobs.getDelayed())[0]!.promote()

    await expect.poll(async () => (await queue.read(runId)).state).toBe('completed')
    expect(client.requests).toHaveLength(2)
  })

  it('does not touch a later pause of the run', async () => {
    const pay = tool({ name: 'pay', description: '', approval: 'always', execute: () => 'paid' })
    const client = scriptedClient([callFunction('pay', {}, 'c1'), callFunction('pay', {}, 'c2')])
    const agent = new Agent({ client, tools: [pay] })
    const { queue, queueName } = setUp({ a: agent }, { expiresAfterMs: 60_000 })
    const { runId } = await queue.add({ agent: 'a', input: 'Pay' })
    const [first] = (await queue.result(runId)).pending
    const jobs = new Queue(queueName, { connection: { url: redisUrl } })
    open.push(jobs)
    await expect.poll(() => jobs.getDelayedCount()).toBe(1)
    const [early] = await jobs.getDelayed()
    await queue.resume(runId, { [first!.id]: true })
    const [second] = (await queue.result(runId)).pending

    await early!.promote()

    await expect.poll(() => jobs.getJob(early!.id!)).toBeUndefined()
    expect(second!.id).not.toBe(first!.id)
    expect((await queue.read(runId)).state).toBe('paused')
  })
})
