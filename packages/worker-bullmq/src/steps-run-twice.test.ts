import { Agent, createId, tool } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { describeWithRedis, redisUrl } from '../../../tests/support/real-redis.ts'
import { AgentQueue, AgentWorker } from './index.ts'

// A client sends a script again when its connection broke before the reply came.
const scripts: { twice: boolean; between?: () => Promise<unknown> } = { twice: false }
beforeAll(() => {
  // oxlint-disable-next-line unbound-method -- called with apply
  const once = Redis.prototype.eval as (this: Redis, ...given: unknown[]) => Promise<unknown>
  vi.spyOn(Redis.prototype, 'eval').mockImplementation(async function (
    this: Redis,
    ...given: unknown[]
  ) {
    if (scripts.twice) await once.apply(this, given)
    if (scripts.twice) await scripts.between?.()
    return once.apply(this, given)
  })
})
afterAll(() => vi.restoreAllMocks())

const shared = () => ({ name: createId('twice'), connection: redisUrl })

function deployer(): { agent: Agent; runs: { count: number } } {
  const runs = { count: 0 }
  const deploy = tool({
    name: 'deploy',
    description: 'Deploys the site.',
    approval: 'always',
    execute: () => `deployed ${++runs.count}`,
  })
  const client = scriptedClient([callFunction('deploy'), 'It is online now.'])
  return { agent: new Agent({ client, tools: [deploy] }), runs }
}

describeWithRedis('a run whose steps all run twice in Redis', () => {
  it('pauses, is resumed and completes once, and is read once', async () => {
    scripts.twice = true
    const place = shared()
    const { agent, runs } = deployer()
    await using queue = new AgentQueue(place)
    await using worker = new AgentWorker({ ...place, agents: { deployer: agent } })
    const { runId, added } = await queue.add({ agent: 'deployer', input: 'Deploy.' })
    const paused = await queue.result(runId)

    await queue.resume(runId, { [paused.pending[0]!.id]: true })
    const texts: string[] = []
    for await (const message of queue.subscribe(runId)) {
      if (message.kind !== 'update') continue
      if (message.update.restart) texts.length = 0
      for (const content of message.update.contents) {
        if (content.type === 'text') texts.push(content.text)
      }
    }

    expect(added).toBe(true)
    expect((await queue.result(runId)).status).toBe('completed')
    expect(runs.count).toBe(1)
    expect(texts.join('')).toBe('It is online now.')
    expect((await queue.read(runId)).deliveries).toBe(2)
    expect(worker).toBeDefined()
    scripts.twice = false
  })

  it('says that a run that waited was cancelled', async () => {
    scripts.twice = true
    const place = shared()
    await using queue = new AgentQueue(place)
    await using worker = new AgentWorker({ ...place, agents: { deployer: deployer().agent } })
    const { runId } = await queue.add({ agent: 'deployer', input: 'Deploy.' })
    await queue.result(runId)

    expect(await queue.cancel(runId)).toBe(true)
    expect((await queue.result(runId)).status).toBe('cancelled')
    expect(worker).toBeDefined()
    scripts.twice = false
  })

  it('says so too where the run has ended before the second time', async () => {
    const place = shared()
    await using queue = new AgentQueue(place)
    const { runId } = await queue.add({ agent: 'deployer', input: 'Deploy.' })
    let worker: AgentWorker | undefined
    scripts.twice = true
    scripts.between = async () => {
      delete scripts.between
      scripts.twice = false
      worker = new AgentWorker({ ...place, agents: { deployer: deployer().agent } })
      await queue.result(runId)
    }

    expect(await queue.cancel(runId)).toBe(true)
    expect((await queue.result(runId)).status).toBe('cancelled')
    await worker?.close()
  })

  it('does nothing for a job that is sent again when it is done', async () => {
    const place = shared()
    let allow = (): void => {}
    const allowed = new Promise<void>((resolve) => (allow = resolve))
    const runs = { count: 0 }
    const deploy = tool({
      name: 'deploy',
      description: 'Deploys the site.',
      approval: 'always',
      async execute() {
        runs.count++
        await allowed
      },
    })
    const client = scriptedClient([callFunction('deploy'), 'It is online now.'])
    const agent = new Agent({ client, tools: [deploy] })
    await using queue = new AgentQueue(place)
    await using worker = new AgentWorker({ ...place, agents: { deployer: agent } })
    const { runId } = await queue.add({ agent: 'deployer', input: 'Deploy.' })
    const paused = await queue.result(runId)
    await queue.resume(runId, { [paused.pending[0]!.id]: true })
    await expect.poll(() => runs.count).toBe(1)

    const jobs = new Queue(place.name, { connection: { url: redisUrl } })
    await jobs.add('run', { runId, leg: 0 }, { jobId: `${runId}-0`, removeOnComplete: true })
    await expect.poll(() => jobs.getJob(`${runId}-0`)).toBeUndefined()
    allow()

    expect((await queue.result(runId)).status).toBe('completed')
    expect(runs.count).toBe(1)
    expect((await queue.read(runId)).deliveries).toBe(2)
    await jobs.close()
    expect(worker).toBeDefined()
  })

  it('whose resume died half-way is resumed by the same answers again', async () => {
    const place = shared()
    const { agent, runs } = deployer()
    await using queue = new AgentQueue(place)
    const worker = new AgentWorker({ ...place, agents: { deployer: agent } })
    const { runId } = await queue.add({ agent: 'deployer', input: 'Deploy.' })
    const paused = await queue.result(runId)
    const answers = { [paused.pending[0]!.id]: true }
    await worker.close()
    // What a process leaves that dies between its two steps.
    const redis = new Redis(redisUrl)
    const key = `lamella:${place.name}:run:${runId}`
    await redis.hset(key, {
      state: 'queued',
      answers: JSON.stringify(answers),
      answered: JSON.stringify(answers),
    })
    await redis.hdel(key, 'outcome')
    await redis.hincrby(key, 'leg', 1)
    redis.disconnect()

    await queue.resume(runId, answers)
    await using next = new AgentWorker({ ...place, agents: { deployer: agent } })

    expect((await queue.result(runId)).status).toBe('completed')
    await queue.resume(runId, answers)
    expect(runs.count).toBe(1)
    expect(await queue.read(runId)).toMatchObject({ state: 'completed' })
    expect(next).toBeDefined()
  })
})

describeWithRedis('a run of somebody else', () => {
  it('has an id that nobody can guess, and counts as missing', async () => {
    const place = shared()
    await using queue = new AgentQueue(place)
    const ada = { tenant: 'acme', principal: 'ada' }
    const { runId } = await queue.add({ agent: 'any', input: 'Hello', ...ada })

    expect(runId).toMatch(/^run_[0-9a-f]{32}$/)
    expect(await queue.read(runId, ada)).toMatchObject({ state: 'queued', ...ada })
    for (const other of [{ tenant: 'other' }, { ...ada, principal: 'bob' }]) {
      const unknown = { code: 'run_unknown' }
      await expect(queue.read(runId, other)).rejects.toMatchObject(unknown)
      await expect(queue.resume(runId, {}, other)).rejects.toMatchObject(unknown)
      await expect(queue.result(runId, other)).rejects.toMatchObject(unknown)
      const reading = queue.subscribe(runId, other)[Symbol.asyncIterator]()
      await expect(reading.next()).rejects.toMatchObject(unknown)
      expect(await queue.cancel(runId, other)).toBe(false)
    }
    expect((await queue.read(runId)).state).toBe('queued')
    await expect(queue.read(runId, { user: 'ada' } as never)).rejects.toThrow('unknown option')
  })
})

describeWithRedis('the control channel', () => {
  it.for(['not JSON', '17', 'null', '{"cancel":"now"}', '{"runId":"r","cancel":"loudly"}'])(
    'reports %s and keeps working',
    async (text) => {
      const place = shared()
      const reported: unknown[] = []
      const onError = (error: unknown): void => void reported.push(error)
      await using queue = new AgentQueue(place)
      const agent = new Agent({ client: scriptedClient(['Hello.']) })
      await using worker = new AgentWorker({ ...place, agents: { agent }, onError })
      // It listens when its first run is over.
      await queue.result((await queue.add({ agent: 'agent', input: 'Hi' })).runId)
      const redis = new Redis(redisUrl)
      const channel = `lamella:${place.name}:control`
      while ((await redis.pubsub('NUMSUB', channel))[1] === 0);

      await redis.publish(channel, text)
      redis.disconnect()
      await expect.poll(() => reported).not.toEqual([])

      expect(reported).toMatchObject([{ code: 'control_invalid' }])
      expect(String(reported[0])).not.toContain('loudly')
      expect(worker).toBeDefined()
    },
  )
})
