// Time from `inbox.steer()` in one process to its delivery in another, over Redis, with as many agents at work there.
//   node --conditions=@lamella/source bench/steering.mjs [agents] [milliseconds of a step]
import { fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { Agent, tool } from '../packages/core/src/index.ts'
import { createInbox } from '../packages/steering/src/index.ts'
import { redisStore } from '../packages/store-redis/src/index.ts'
import { callFunction, scriptedClient } from '../packages/testing/src/index.ts'

const [agents, stepMs] = [Number(process.argv[2] ?? 1000), Number(process.argv[3] ?? 1000)]
/** Messages are spread over this time. */
const sendMs = 5000
const redis = new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379')
const namespace = process.env.STEERING_BENCH ?? `steering_bench_${process.pid}`
const store = redisStore(redis, { namespace })
const inboxOf = (at) => createInbox({ store, id: `chat-${at}` })

/** The agents: each works step by step until it has read a message. */
async function work() {
  let working = 0
  /** Ends of the steps after which the messages joined. */
  const ends = []
  const run = async (at) => {
    let isWorking = false
    const step = tool({
      name: 'step',
      description: 'Works for a while.',
      execute: async () => {
        if (!isWorking && ++working === agents) process.send('all work')
        isWorking = true
        await sleep(stepMs)
        ends[at] = Date.now()
      },
    })
    const client = scriptedClient(({ messages }) =>
      messages.some(({ id }) => id === 'stop') ? 'Done.' : [callFunction('step', {})],
    )
    const agent = new Agent({ client, tools: [step], functionInvocation: { maxIterations: 1000 } })
    // Not all at once: their steps end at different times.
    await sleep((stepMs * at) / agents)
    return agent.run('Go', { middleware: inboxOf(at) })
  }
  await Promise.all(Array.from({ length: agents }, (_, at) => run(at)))
  process.send(ends)
  await store.close()
  redis.disconnect()
  process.disconnect()
}

/** The users, in another process. */
async function steer() {
  const child = fork(fileURLToPath(import.meta.url), process.argv.slice(2), {
    env: { ...process.env, STEERING_BENCH: namespace },
  })
  const exit = new Promise((resolve) => child.once('exit', resolve))
  await new Promise((resolve) => child.once('message', resolve))
  const stepEnds = new Promise((resolve) => child.once('message', resolve))
  const times = await Promise.all(
    Array.from({ length: agents }, async (_, at) => {
      await sleep(Math.random() * sendMs)
      const sent = Date.now()
      const { type } = await inboxOf(at).steer('Stop.', { id: 'stop' })
      return { type, sent, heard: Date.now() }
    }),
  )
  const delivered = times.filter(({ type }) => type === 'delivered').length
  console.log(`${delivered} of ${agents} delivered; steps of ${stepMs} ms`)
  const ends = await stepEnds
  report(
    'from steer() to delivered',
    times.map(({ sent, heard }) => heard - sent),
  )
  report(
    'of it after the step had ended',
    times.map(({ heard }, at) => heard - ends[at]),
  )
  await exit
  await store.close()
  const keys = await redis.keys(`{${namespace}}*`)
  if (keys.length > 0) await redis.del(keys)
  redis.disconnect()
}

function report(what, times) {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share) => sorted[Math.floor((sorted.length - 1) * share)]
  console.log(
    `${what}: p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`,
  )
}

await (process.send === undefined ? steer() : work())
