// What the worker costs over bare BullMQ, with the Redis of REDIS_URL or of this machine: jobs that do
// nothing beside runs of an agent that answers at once.
// usage: node --conditions=@lamella/source bench/queue.mjs [jobs]
import { Agent } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { AgentQueue, AgentWorker } from '@lamella/worker-bullmq'
import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'

const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379'
const jobs = Number(process.argv[2] ?? 2000)
const connect = () => new Redis(url, { maxRetriesPerRequest: null })
const name = (kind) => `bench-${kind}-${process.pid}`

async function bare() {
  const connection = connect()
  const queue = new Queue(name('bare'), { connection })
  let left = jobs
  let finish
  const done = new Promise((resolve) => (finish = resolve))
  const take = async () => void (--left === 0 && finish())
  const worker = new Worker(name('bare'), take, { connection, concurrency: 50 })
  await worker.waitUntilReady()
  const start = performance.now()
  await queue.addBulk(Array.from({ length: jobs }, () => ({ name: 'job', data: {} })))
  await done
  const seconds = (performance.now() - start) / 1000
  await worker.close()
  const latencies = await latencyOf(async () => {
    let settle
    const settled = new Promise((resolve) => (settle = resolve))
    const one = new Worker(name('one'), async () => settle(), { connection, concurrency: 1 })
    await one.waitUntilReady()
    const single = new Queue(name('one'), { connection })
    const began = performance.now()
    await single.add('job', {})
    await settled
    const took = performance.now() - began
    await one.close()
    await single.obliterate({ force: true })
    return took
  })
  await queue.obliterate({ force: true })
  await connection.quit()
  return { perSecond: jobs / seconds, latencies }
}

async function agents() {
  const options = { name: name('agents'), connection: url }
  const queue = new AgentQueue(options)
  const agent = new Agent({ client: scriptedClient(() => 'Hello.') })
  const worker = new AgentWorker({ ...options, agents: { agent }, concurrency: 50 })
  await worker.ready()
  const start = performance.now()
  const runs = await Promise.all(
    Array.from({ length: jobs }, () => queue.add({ agent: 'agent', input: 'Hi' })),
  )
  for (const { runId } of runs) {
    while ((await queue.read(runId)).outcome === undefined)
      await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const seconds = (performance.now() - start) / 1000
  const latencies = await latencyOf(async () => {
    const began = performance.now()
    const { runId } = await queue.add({ agent: 'agent', input: 'Hi' })
    await queue.result(runId)
    return performance.now() - began
  })
  await worker.close()
  await queue.close()
  const redis = connect()
  for (const pattern of [`lamella:${options.name}:*`, `bull:bench-*-${process.pid}*`]) {
    const keys = await redis.keys(pattern)
    for (let at = 0; at < keys.length; at += 1000) await redis.del(...keys.slice(at, at + 1000))
  }
  await redis.quit()
  return { perSecond: jobs / seconds, latencies }
}

async function latencyOf(once) {
  const all = []
  for (let round = 0; round < 50; round++) all.push(await once())
  return all.toSorted((a, b) => a - b)
}

for (const [kind, measure] of Object.entries({ 'bare BullMQ': bare, 'runs of an agent': agents })) {
  const { perSecond, latencies } = await measure()
  const [median, p95] = [0.5, 0.95].map((part) => latencies[Math.floor(latencies.length * part)])
  console.log(
    `${kind.padEnd(17)} ${Math.round(perSecond)}/s, from adding to the answer ${median.toFixed(1)} ms (95th percentile ${p95.toFixed(1)} ms)`,
  )
}
