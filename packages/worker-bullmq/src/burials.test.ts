import { Agent, createId } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { afterEach, expect, it } from 'vitest'
import { AgentQueue, AgentWorker, deadLetterQueue } from './index.ts'
import { describeWithRedis, redisUrl } from '../../../tests/support/real-redis.ts'
import { outcomeOfError } from './run-outcome.ts'
import { RunStore } from './run-store.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

describeWithRedis('a run that crashed', () => {
  /** State that a worker leaves that dies after it wrote the outcome, before it buried the run. */
  async function crashedRun(name: string, runId: string): Promise<void> {
    const redis = new Redis(redisUrl)
    const store = new RunStore(redis, name, 60_000)
    await store.claim(runId, 'dead-worker', 0)
    const { outcome } = outcomeOfError(new TypeError('down'), runId)
    await store.finish(runId, 'dead-worker', outcome, {})
    await redis.quit()
  }

  function setUp() {
    const name = createId('test')
    const queue = new AgentQueue({ name, connection: redisUrl })
    const graves = new Queue(deadLetterQueue(name), { connection: { url: redisUrl } })
    open.push(queue, graves)
    const buried = async () => (await graves.getWaiting()).map(({ data }) => data as unknown)
    return { name, queue, graves, buried }
  }

  function startWorker(name: string, client = scriptedClient([])) {
    const agents = { a: new Agent({ client }) }
    const worker = new AgentWorker({ name, connection: redisUrl, agents })
    open.push(worker)
    return client
  }

  it('is buried by the next worker where its own died before, and not run again', async () => {
    const { name, queue, buried } = setUp()
    const { runId } = await queue.add({ agent: 'a', input: 'Hi' })
    await crashedRun(name, runId)

    const client = startWorker(name)

    await expect.poll(buried).toEqual([{ runId, error: { name: 'TypeError' } }])
    expect(client.requests).toEqual([])
    expect(await queue.read(runId)).toMatchObject({ state: 'failed', deliveries: 1 })
  })

  it('is buried once, also where its worker died behind the burial', async () => {
    const { name, queue, graves, buried } = setUp()
    const { runId } = await queue.add({ agent: 'a', input: 'Hi' })
    const error = { name: 'TypeError' }
    await crashedRun(name, runId)
    await graves.add('run', { runId, error }, { jobId: runId })
    const behind = await queue.add({ agent: 'a', input: 'Hi' })

    startWorker(name, scriptedClient(['Hello.']))
    await queue.result(behind.runId)

    expect(await buried()).toEqual([{ runId, error }])
  })
})
