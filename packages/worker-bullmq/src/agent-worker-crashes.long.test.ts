import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createId } from '@lamella/core'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { afterEach, expect, it } from 'vitest'
import type { RunOutcome } from './index.ts'
import { AgentQueue, deadLetterQueue } from './index.ts'
import { describeWithRedis, redisUrl } from '../../../tests/support/real-redis.ts'

const fixture = fileURLToPath(new URL('../fixtures/crash-worker.ts', import.meta.url))
const children = new Set<ChildProcess>()
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
})

/** Starts a worker process and waits until it can take runs. */
async function startWorker(name: string, ...args: string[]): Promise<ChildProcess> {
  const child = spawn(
    process.execPath,
    [
      '--conditions=@lamella/source',
      '--disable-warning=ExperimentalWarning',
      fixture,
      redisUrl,
      name,
      ...args,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  children.add(child)
  child.on('exit', () => children.delete(child))
  await once(child.stdout, 'data')
  return child
}

const kinds = [
  'plain',
  'plain',
  'plain',
  'plain',
  'asks',
  'asks',
  'blocked',
  'exhausted',
  'crashing',
  'plain',
]
const expected: Record<string, string> = {
  plain: 'completed',
  asks: 'completed',
  blocked: 'guardrail_tripped',
  exhausted: 'budget_exhausted',
  crashing: 'agent_crashed',
}

describeWithRedis('workers that die', () => {
  // Fifty processes start one after the other, which alone takes minutes on a busy machine.
  const patient = { timeout: 900_000 }
  it('lose no run and execute no tool twice, over 1,000 runs and 50 kills', patient, async () => {
    const name = createId('crash')
    const queue = new AgentQueue({ name, connection: redisUrl, attempts: 2, backoffMs: 10 })
    const redis = new Redis(redisUrl)
    const workers = await Promise.all([1, 2, 3].map(() => startWorker(name)))
    const runs: { readonly runId: string; readonly agent: string }[] = []
    const ending: Promise<RunOutcome>[] = []
    const addTwenty = async (): Promise<void> => {
      for (let count = 0; count < 20; count++) {
        const run = { runId: `run-${runs.length}`, agent: kinds[runs.length % kinds.length]! }
        runs.push(run)
        await queue.add({ ...run, input: 'Go' })
        ending.push(finish(run.runId))
      }
    }

    // Someone answers what is asked, until each run has ended.
    const finish = async (runId: string) => {
      for (;;) {
        const outcome = await waitFor(queue, runId)
        if (outcome.event !== 'run.paused') return outcome
        const answers = Object.fromEntries(outcome.pending.map(({ id }) => [id, true]))
        await queue.resume(runId, answers)
      }
    }
    for (let kills = 0; kills < 50; kills++) {
      await addTwenty()
      const at = kills % workers.length
      await new Promise((done) => setTimeout(done, Math.random() * 100))
      workers[at]!.kill('SIGKILL')
      workers[at] = await startWorker(name)
    }
    const outcomes = await Promise.all(ending)

    expect(outcomes).toHaveLength(1000)
    const wrong = runs.filter(({ agent }, at) => outcomes[at]!.status !== expected[agent])
    expect(wrong).toEqual([])
    expect(await redis.hgetall(`${name}:repeated`)).toEqual({})
    const paid = await redis.hgetall(`${name}:paid`)
    const paying = runs.filter(({ agent }) => expected[agent] === 'completed')
    // Each call was executed once, or reported as uncertain.
    expect(new Set(Object.values(paid))).toEqual(new Set(['1']))
    const uncertain = outcomes.flatMap(({ messages }) =>
      messages.flatMap(({ contents }) =>
        contents.filter(
          (part) => part.type === 'function-result' && part.error?.code === 'uncertain',
        ),
      ),
    )
    expect(Object.keys(paid).length).toBeLessThanOrEqual(2 * paying.length)
    expect(Object.keys(paid).length + uncertain.length).toBeGreaterThanOrEqual(2 * paying.length)
    for (const outcome of outcomes.filter(({ status }) => status === 'completed')) {
      expect(outcome.messages.map(({ role }) => role).join(' ')).toBe(
        'assistant tool assistant tool assistant',
      )
    }
    const graves = new Queue(deadLetterQueue(name), { connection: { url: redisUrl } })
    const crashing = runs.filter(({ agent }) => agent === 'crashing').map(({ runId }) => runId)
    const buried = (await graves.getWaiting()).map(({ data }) => data.runId)
    expect(new Set(buried)).toEqual(new Set(crashing))
    console.log(
      `1,000 runs, 50 kills: ${uncertain.length} of ${2 * paying.length} tool calls are uncertain, none ran twice`,
    )
    await graves.close()
    await queue.close()
    await cleanUp(redis, name)
  })

  it('what a stuck worker held is taken over, and the stuck one cannot spoil it', async () => {
    const name = createId('stuck')
    const queue = new AgentQueue({ name, connection: redisUrl, attempts: 2, backoffMs: 10 })
    const redis = new Redis(redisUrl)
    const runs = await Promise.all(
      Array.from({ length: 200 }, () => queue.add({ agent: 'plain', input: 'Go' })),
    )
    const stuck = await startWorker(name, 'stuck')
    const left = once(stuck, 'exit')
    await startWorker(name)

    const outcomes = await Promise.all(runs.map(({ runId }) => waitFor(queue, runId)))
    await left

    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['completed']))
    expect(await redis.hgetall(`${name}:repeated`)).toEqual({})
    expect(new Set(await redis.hvals(`${name}:paid`))).toEqual(new Set(['1']))
    const deliveries = await Promise.all(
      runs.map(async ({ runId }) => (await queue.read(runId)).deliveries),
    )
    expect(Math.max(...deliveries)).toBeGreaterThan(1)
    await queue.close()
    await cleanUp(redis, name)
  })
})

/** By polling: a thousand subscribers would be a thousand connections. */
async function waitFor(queue: AgentQueue, runId: string) {
  for (;;) {
    const { outcome } = await queue.read(runId)
    if (outcome !== undefined) return outcome
    await new Promise((done) => setTimeout(done, 250))
  }
}

async function cleanUp(redis: Redis, name: string): Promise<void> {
  for (const child of children) child.kill('SIGKILL')
  const keys = await redis.keys(`*${name}*`)
  if (keys.length > 0) await redis.del(...keys)
  redis.disconnect()
}
