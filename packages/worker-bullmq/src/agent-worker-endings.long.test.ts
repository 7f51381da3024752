import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentResponseUpdate, Middleware } from '@lamella/core'
import { Agent, agentMiddleware, createId, foldUpdates, memoryStore, tool } from '@lamella/core'
import { sessions as sessionsOf } from '@lamella/store'
import type { ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import { Redis } from 'ioredis'
import { afterEach, describe, expect, it } from 'vitest'
import type { AgentWorkerOptions } from './index.ts'
import { AgentQueue, AgentWorker } from './index.ts'
import { describeWithRedis, redisUrl } from '../../../tests/support/real-redis.ts'

/** Of Debian, and of most. */
const program = 'redis-server'
const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

type SetUp = Partial<AgentWorkerOptions>

function setUp(agents: AgentWorkerOptions['agents'], options: SetUp = {}, attempts = 3) {
  const shared = { name: createId('test'), connection: redisUrl, ...options }
  const { name, connection, keepMs } = shared
  const limits = { keepMs, storeTimeoutMs: 60_000, attempts, backoffMs: 1 }
  const queue = new AgentQueue({ name, connection, ...limits })
  const worker = new AgentWorker({ ...shared, agents })
  open.push(queue, worker)
  return { queue, worker, name }
}

/** Lets nobody outside the run read lower case. */
const shouts: Middleware = agentMiddleware('shouts', async (context, callNext) => {
  context.transformUpdates({
    transform: (update, controller) =>
      controller.enqueue({
        ...update,
        contents: update.contents.map((part) =>
          part.type === 'text' ? { ...part, text: part.text.toUpperCase() } : part,
        ),
      }),
  })
  await callNext()
})

const words = (text: string) => ({ type: 'text', text }) as const

async function readAll(queue: AgentQueue, runId: string) {
  const updates: AgentResponseUpdate[] = []
  for await (const message of queue.subscribe(runId)) {
    if (message.kind === 'update') updates.push(message.update)
    else return { folded: foldUpdates(updates), outcome: message.outcome }
  }
  throw new Error('no outcome')
}

describeWithRedis('what middlewares around a run made of its words', () => {
  const shouting = (steps: readonly ScriptedStep[], approval: 'always' | 'never') =>
    new Agent({
      client: scriptedClient(steps),
      middleware: shouts,
      tools: [tool({ name: 'pay', description: '', approval, execute: () => 'paid' })],
    })

  it('is all that is told of it after a pause', async () => {
    const steps = [[words('secret one. '), callFunction('pay', {}, 'c1')], 'secret two.'] as const
    const { queue } = setUp({ a: shouting(steps, 'always') })
    const { runId } = await queue.add({ agent: 'a', input: 'Go' })
    const paused = await queue.result(runId)
    await queue.resume(runId, { [paused.pending[0]!.id]: true })

    const { folded, outcome } = await readAll(queue, runId)

    expect(outcome.text).toBe('SECRET ONE. SECRET TWO.')
    expect(JSON.stringify(outcome)).not.toContain('secret')
    expect(folded.text).toBe(outcome.text)
  })

  it('is all that is told of it when it is tried again from a step', async () => {
    const steps = [
      [words('secret one. '), callFunction('pay', {}, 'c1')],
      new Error('down'),
      'secret two.',
    ] as const
    const { queue } = setUp({ a: shouting(steps, 'never') })
    const { runId } = await queue.add({ agent: 'a', input: 'Go' })

    const { folded, outcome } = await readAll(queue, runId)

    expect(outcome.text).toBe('SECRET ONE. SECRET TWO.')
    expect(outcome.messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant'])
    expect(JSON.stringify(outcome)).not.toContain('secret')
    expect(folded.text).toBe(outcome.text)
    expect(folded.messages).toHaveLength(3)
  })
})

describeWithRedis('a subscriber', () => {
  const hello = () => new Agent({ client: scriptedClient(() => 'Hello.') })

  it('of a run that nobody added is told so at once', async () => {
    const { queue } = setUp({ a: hello() })

    await expect(readAll(queue, 'nobody')).rejects.toMatchObject({ code: 'run_unknown' })
    await expect(queue.result('nobody')).rejects.toMatchObject({ code: 'run_unknown' })
  })

  it('that has read the outcome has nothing to wait for', async () => {
    const { queue } = setUp({ a: hello() })
    const { runId } = await queue.add({ agent: 'a', input: 'Hi' })
    let from = ''
    for await (const { id } of queue.subscribe(runId)) from = id

    const more = []
    for await (const message of queue.subscribe(runId, { from })) more.push(message)

    expect(more).toEqual([])
  })

  it('that leaves takes its connection along', async () => {
    const hanging = new Agent({ client: scriptedClient([{ updates: ['Hel'], hang: true }]) })
    const { queue, name } = setUp({ a: hanging })
    const { runId } = await queue.add({ agent: 'a', input: 'Hi' })
    const redis = new Redis(redisUrl)
    const count = async (): Promise<number> =>
      String(await redis.client('LIST'))
        .split('\n')
        .filter((line) => line.includes(`name=${name}`)).length
    const connection = {
      host: new URL(redisUrl).hostname,
      port: Number(new URL(redisUrl).port),
      connectionName: name,
    }
    const watching = new AgentQueue({ name, connection })
    open.push(watching)

    for await (const message of watching.subscribe(runId)) {
      if (message.kind === 'update') break
    }

    await expect.poll(count).toBe(1)
    await queue.cancel(runId)
    redis.disconnect()
  })

  it('of a run that is forgotten by now is told so', async () => {
    const { queue } = setUp({ a: hello() }, { keepMs: 50 })
    const { runId } = await queue.add({ agent: 'a', input: 'Hi' })

    // It may be forgotten before anybody has read its outcome.
    await expect
      .poll(() => readAll(queue, runId).catch((error: { code?: string }) => error.code))
      .toBe('run_unknown')
  })
})

describeWithRedis('an outcome stands', () => {
  it('also when the session cannot be saved at first; that is tried again, and the run is not', async () => {
    const store = memoryStore()
    let tries = 0
    const sessions = sessionsOf({
      ...store,
      compareAndSet: async (key, ...given) => {
        if (!key.startsWith('once:') && ++tries === 1) throw new Error('disk full')
        return store.compareAndSet(key, ...given)
      },
    })
    const client = scriptedClient(({ messages }) => `${messages.length}`)
    const { queue } = setUp({ a: new Agent({ client }) }, { sessions })

    const first = await queue.add({ agent: 'a', input: 'Hi', sessionId: 's' })
    await queue.result(first.runId)
    const second = await queue.add({ agent: 'a', input: 'Again', sessionId: 's' })

    expect((await queue.result(second.runId)).text).toBe('3')
    expect(client.requests).toHaveLength(2)
    expect(await queue.read(first.runId)).toMatchObject({ state: 'completed', deliveries: 1 })
  })

  it('as cancelled for a run that waits where it was to look for a safe point', async () => {
    let answer = (): void => {}
    const asked = new Promise<void>((resolve) => (answer = resolve))
    const client = scriptedClient(async () => {
      await asked
      return callFunction('pick', {}, 'c1')
    })
    const pick = tool({ name: 'pick', description: '' })
    const { queue } = setUp({ a: new Agent({ client, tools: [pick] }) })
    const { runId } = await queue.add({ agent: 'a', input: 'Hi' })
    await expect.poll(() => client.requests.length).toBe(1)

    await queue.cancel(runId, { mode: 'after-tools' })
    answer()

    expect(await queue.result(runId)).toMatchObject({ event: 'run.cancelled' })
  })
})

describeWithRedis('a worker whose lock is over before it renews it', () => {
  it('leaves its run to the next one, also in the last attempt', async () => {
    const client = scriptedClient([{ updates: ['Hel'], hang: true }, 'Hello.'])
    const { queue, name } = setUp({ a: new Agent({ client }) }, { lockMs: 1000 }, 1)
    const { runId } = await queue.add({ agent: 'a', input: 'Hi' })
    await expect.poll(() => client.requests.length).toBe(1)

    const redis = new Redis(redisUrl)
    await redis.del(`bull:${name}:${runId}-0:lock`)
    redis.disconnect()

    expect(await queue.result(runId)).toMatchObject({ status: 'completed', text: 'Hello.' })
    expect(await queue.read(runId)).toMatchObject({ deliveries: 2 })
  })
})

describeWithRedis('queues and workers', () => {
  it('of two names know nothing of each other, not even for runs of one id', async () => {
    const says = (text: string) => new Agent({ client: scriptedClient(() => text) })
    const [one, two] = [setUp({ a: says('One.') }), setUp({ a: says('Two.') })]
    const request = { agent: 'a', input: 'Hi', runId: 'same' }
    await Promise.all([one.queue.add(request), two.queue.add(request)])

    const outcomes = [await one.queue.result('same'), await two.queue.result('same')]

    expect(outcomes.map(({ text }) => text)).toEqual(['One.', 'Two.'])
  })

  it('carry results of many megabytes from step to step', async () => {
    const huge = 'x'.repeat(5_000_000)
    const client = scriptedClient([callFunction('read', {}, 'c1'), new Error('down'), 'Read.'])
    const read = tool({ name: 'read', description: '', execute: () => huge })
    const { queue } = setUp({ a: new Agent({ client, tools: [read] }) })
    const { runId } = await queue.add({ agent: 'a', input: 'Hi' })

    const outcome = await queue.result(runId)

    expect(outcome.text).toBe('Read.')
    expect(JSON.stringify(outcome.messages)).toContain(huge)
  })

  it('may be closed as soon as they are made, and twice', async () => {
    const { queue, worker } = setUp({})

    await Promise.all([worker.close(), worker.close(), queue.close()])
    open.length = 0

    expect(open).toEqual([])
  })
})

describe('what cannot be', () => {
  const connection = redisUrl

  it.each([
    [() => new AgentQueue({ name: 'a:b', connection }), '`name`'],
    [() => new AgentQueue({ name: 'a' } as never), '`connection`'],
    [() => new AgentWorker({ name: 'a:b', connection, agents: {} }), '`name`'],
    [() => new AgentWorker({ name: 'a', connection: null, agents: {} } as never), '`connection`'],
  ])('is said before anything is opened: %o', (make, problem) => {
    expect(make).toThrow(problem)
  })
})

describeWithRedis('a run with a field that there is none of', () => {
  it('is not added', async () => {
    const { queue } = setUp({})

    const adding = queue.add({ agent: 'a', input: 'Hi', runId: 'r', tenent: 'acme' } as never)

    await expect(adding).rejects.toThrow(
      'AgentQueue.add: unknown option `tenent`; did you mean `tenant`?',
    )
    await expect(queue.read('r')).rejects.toMatchObject({ code: 'run_unknown' })
  })
})

describeWithRedis('a run without input', () => {
  it('is not added', async () => {
    const { queue } = setUp({})

    const adding = queue.add({ agent: 'a', runId: 'r' } as never)

    await expect(adding).rejects.toThrow('`input`')
    await expect(queue.read('r')).rejects.toMatchObject({ code: 'run_unknown' })
  })
})

describe.skipIf(!(await hasServer()))('a Redis that goes away', () => {
  /** While a tool is under way. */
  const goingAway = async (options: SetUp = {}) => {
    const folder = await mkdtemp(join(tmpdir(), 'lamella-redis-'))
    const port = await freePort()
    const place = ['--port', `${port}`, '--dir', folder]
    const settings = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '']
    const start = () => spawn(program, [...place, ...settings], { stdio: 'ignore' })
    const server = start()
    const connection = { host: '127.0.0.1', port, retryStrategy: () => 100 }
    let release = (): void => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    const ran: string[] = []
    const work = tool({
      name: 'work',
      description: '',
      execute: async () => {
        ran.push('worked')
        await released
        return 'worked'
      },
    })
    const client = scriptedClient([callFunction('work', {}, 'c1'), 'Done.'])
    const agent = new Agent({ client, tools: [work] })
    // A run that is added later has a client of its own, so neither takes an answer of the other.
    const later = new Agent({ client: scriptedClient(['Later.']) })
    const { queue, worker } = setUp({ a: agent, later }, { connection, ...options })
    const { runId } = await queue.add({ agent: 'a', input: 'Go' })
    await expect.poll(() => ran).toEqual(['worked'])

    const gone = once(server, 'exit')
    server.kill('SIGKILL')
    await gone
    release()
    open.length = 0
    return { queue, worker, runId, ran, start, folder }
  }

  it('holds nobody who closes for more than five seconds, and says what was left', async () => {
    const errors: unknown[] = []
    const onError = (error: unknown, runId?: string): void => {
      if (runId !== undefined) errors.push({ error, runId })
    }
    const { queue, worker, runId, folder } = await goingAway({ onError })
    const adding = queue.add({ agent: 'later', input: 'Go' })
    const added = adding.catch((error: Error) => error.message)

    await Promise.all([worker.close({ timeoutMs: 0 }), queue.close()])

    expect(await added).toBe('Connection is closed.')
    expect(errors[0]).toMatchObject({ error: { code: 'store_failed' }, runId })
    await rm(folder, { recursive: true, force: true })
  })

  it('loses no run when it comes back: commands wait for it', async () => {
    const { queue, worker, runId, ran, start, folder } = await goingAway()
    const adding = queue.add({ agent: 'later', input: 'Go' })
    const server = start()

    const later = await adding
    expect(await queue.result(runId)).toMatchObject({ status: 'completed', text: 'Done.' })
    expect(await queue.result(later.runId)).toMatchObject({ status: 'completed', text: 'Later.' })
    expect(ran).toEqual(['worked'])
    await worker.close({ timeoutMs: 0 })
    await queue.close()
    server.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })
})

async function hasServer(): Promise<boolean> {
  const child = spawn(program, ['--version'], { stdio: 'ignore' })
  return new Promise((resolve) => {
    child.on('error', () => resolve(false))
    child.on('exit', (code) => resolve(code === 0))
  })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  await new Promise((done) => server.close(done))
  return typeof address === 'object' && address !== null ? address.port : 0
}
