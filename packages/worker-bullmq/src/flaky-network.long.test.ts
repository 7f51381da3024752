import { Agent, createId, tool } from '@lamella/core'
import { callFunction, scriptedClient, testRandom } from '@lamella/testing'
import { FaultProxy } from '@lamella/testing/fault-proxy'
import { expect, it } from 'vitest'
import { describeWithRedis, redisUrl } from '../../../tests/support/real-redis.ts'
import { AgentQueue, AgentWorker } from './index.ts'

const total = 20
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** A queue and workers behind a network that fails on command, and a queue beside it. */
async function setUp() {
  const { hostname, port } = new URL(redisUrl)
  const proxy = await FaultProxy.start({ host: hostname, port: Number(port || 6379) })
  const name = createId('flaky')
  const connection = { host: '127.0.0.1', port: proxy.port, retryStrategy: () => 10 }
  const paid = new Map<string, number>()
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    approval: 'always',
    execute(_, { run }) {
      paid.set(run.id, (paid.get(run.id) ?? 0) + 1)
      return 'paid'
    },
  })
  const client = scriptedClient(({ messages }) =>
    messages.at(-1)!.role === 'tool' ? 'one two three four five' : callFunction('pay'),
  )
  const agents = { pays: new Agent({ client, tools: [pay] }) }
  // ioredis tells of each broken connection. A job whose reply was lost is taken over after `lockMs`.
  const quiet = { name, connection, onError: () => {} }
  const workers = [1, 2].map(() => new AgentWorker({ ...quiet, agents, flushMs: 1, lockMs: 1000 }))
  await Promise.all(workers.map((worker) => worker.ready()))
  const queue = new AgentQueue({ name, connection, storeTimeoutMs: 500 })
  const near = new AgentQueue({ name, connection: redisUrl })
  const close = async (): Promise<void> => {
    proxy.fault = 'none'
    await Promise.all([...workers, queue, near].map((one) => one.close()))
    await proxy.close()
  }
  return { proxy, queue, near, paid, close }
}

/** Repeats what a caller repeats: a call whose reply did not come in time. */
async function repeated<Result>(call: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if ((error as { code?: string }).code !== 'store_timeout') throw error
    }
  }
}

describeWithRedis('a network that loses replies', () => {
  it('loses no run, pays nothing twice and doubles no text', { timeout: 600_000 }, async () => {
    const { proxy, queue, near, paid, close } = await setUp()
    const random = testRandom(total)
    const over = new AbortController()
    const losing = (async () => {
      while (!over.signal.aborted) {
        proxy.fault = 'lose-replies'
        const before = proxy.lost
        while (!over.signal.aborted && proxy.lost === before) await sleep(1)
        proxy.fault = 'none'
        await sleep(20 + 10 * random())
      }
    })()

    const run = async (runId: string): Promise<unknown> => {
      await repeated(() => queue.add({ agent: 'pays', input: 'Go', runId }))
      const paused = await near.result(runId)
      expect(paused).toMatchObject({ event: 'run.paused' })
      await repeated(() => queue.resume(runId, { [paused.pending[0]!.id]: true }))
      const { status, text, messages } = await near.result(runId)
      let read = ''
      for await (const message of near.subscribe(runId)) {
        if (message.kind !== 'update') continue
        if (message.update.restart) read = ''
        for (const part of message.update.contents) if (part.type === 'text') read += part.text
      }
      const results = messages.flatMap(({ contents }) => contents)
      const isUncertain = results.some(
        (part) => part.type === 'function-result' && part.error?.code === 'uncertain',
      )
      // A worker that the queue takes for dead may stop before it pays. The model then reads that nobody knows.
      return [status, text, read, paid.get(runId) ?? (isUncertain ? 1 : 0)]
    }
    const outcomes: unknown[] = []
    for (let at = 0; at < total; at += 20) {
      const ids = Array.from({ length: 20 }, (_, index) => `run-${at + index}`)
      outcomes.push(...(await Promise.all(ids.map(run))))
    }
    over.abort()
    await losing
    await close()

    const text = 'one two three four five'
    expect(outcomes).toEqual(outcomes.map(() => ['completed', text, text, 1]))
    expect(proxy.lost).toBeGreaterThan(total / 10)
  })

  it('holds no caller up for longer than `storeTimeoutMs`, and what is repeated is done once', async () => {
    const { proxy, queue, near, paid, close } = await setUp()
    const request = { agent: 'pays', input: 'Go', runId: 'run' }
    proxy.fault = 'hang'
    const late = { code: 'store_timeout' }

    await expect(queue.add(request)).rejects.toMatchObject(late)
    await expect(queue.read('run')).rejects.toMatchObject(late)
    await expect(queue.cancel('run')).rejects.toMatchObject(late)
    proxy.fault = 'none'
    await repeated(() => queue.add(request))
    const { pending } = await near.result('run')
    await repeated(() => queue.resume('run', { [pending[0]!.id]: true }))

    expect((await near.result('run')).status).toBe('completed')
    expect(paid.get('run')).toBe(1)
    await close()
  })
})
