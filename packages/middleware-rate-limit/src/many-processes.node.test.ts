import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ownPrefix, realRedis, removeKeys } from './real-redis.test-helper.ts'

const redis = realRedis()
const prefix = ownPrefix()
const children: ChildProcess[] = []
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  if (redis === undefined) return
  await removeKeys(redis, prefix)
  redis.disconnect()
})

interface Job {
  readonly limits: readonly object[]
  readonly runs: number
  readonly onLimit?: string
  readonly maxWaitMs?: number
  readonly leaseMs?: number
  readonly hang?: boolean
  readonly limiter?: string
}

interface Outcome {
  /** When calls passed, by the clock of Redis. */
  readonly times: readonly number[]
  /** What was left of the limit when a call was refused, at most. */
  readonly mostLeft: number
  readonly codes: readonly string[]
  readonly mostOpen: number
}

/** Does jobs one after the other, each of them when all processes are there. */
const program = `
import { Redis } from 'ioredis'
import { Agent } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { rateLimit, redisLimitStore } from '@lamella/middleware-rate-limit'

const { prefix, processes, name, jobs } = JSON.parse(process.env.LIMIT_JOBS)
const redis = new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379')
const pause = (ms) => new Promise((go) => setTimeout(go, ms))

for (const [index, { runs, hang, leaseMs, limiter = name + index, ...options }] of jobs.entries()) {
  const place = '{' + prefix + '}:' + name + ':' + index
  const times = []
  let mostOpen = 0
  let mostLeft = 0
  // The time of a grant is that of Redis, in the same transaction.
  const evalRedis = async (script, keys, args) => {
    const [[error, answer], [, time]] = await redis.multi().eval(script, keys.length, ...keys, ...args).time().exec()
    if (error) throw error
    if (!Array.isArray(answer)) return answer
    if (answer[0] === 1) times.push(time[0] * 1000 + Math.floor(time[1] / 1000))
    else mostLeft = Math.max(mostLeft, Number(answer[3]))
    return answer
  }
  const client = scriptedClient(async () => {
    if (hang) {
      console.log('holding')
      await new Promise(() => {})
    }
    mostOpen = Math.max(mostOpen, await redis.incr(place + ':open'))
    await redis.decr(place + ':open')
    return 'Hello!'
  })
  const store = redisLimitStore(evalRedis, { prefix, leaseMs, pollMs: 20 })
  const middleware = rateLimit({ store, name: limiter, key: () => 'all', ...options })
  const agent = new Agent({ client, middleware })

  await redis.incr(place + ':ready')
  while (Number(await redis.get(place + ':ready')) < processes) await pause(5)
  const results = await Promise.allSettled(Array.from({ length: runs }, () => agent.run('Hi')))
  const codes = results.map(({ reason }) => reason?.code ?? 'completed')
  console.log(JSON.stringify({ times, codes, mostOpen, mostLeft }))
}
redis.disconnect()
`

function spawnWorker(name: string, processes: number, jobs: readonly Job[]): ChildProcess {
  const child = spawn(
    process.execPath,
    ['--conditions=@lamella/source', '--input-type=module', '-e', program],
    {
      cwd: `${import.meta.dirname}/..`,
      env: {
        ...process.env,
        LIMIT_JOBS: JSON.stringify({ prefix, processes, name, jobs }),
        NODE_COMPILE_CACHE: join(tmpdir(), 'lamella-compile-cache'),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  children.push(child)
  return child
}

async function outcomesOf(child: ChildProcess): Promise<readonly Outcome[]> {
  let text = ''
  for await (const chunk of child.stdout!) text += String(chunk)
  const lines = text.split('\n').filter((line) => line.startsWith('{'))
  return lines.map((line) => JSON.parse(line) as Outcome)
}

describe.skipIf(redis === undefined)('eight processes and one Redis', () => {
  const windowMs = 500
  const jobs: readonly Job[] = [
    { runs: 100, limits: [{ unit: 'requests', limit: 300, windowMs: 60_000 }], onLimit: 'reject' },
    { runs: 75, limits: [{ unit: 'requests', limit: 200, windowMs }] },
    { runs: 20, limits: [{ unit: 'concurrency', limit: 5 }] },
  ]
  const all: Outcome[][] = jobs.map(() => [])
  beforeAll(async () => {
    const started = Array.from({ length: 8 }, () => spawnWorker('eight', 8, jobs))
    for (const outcomes of await Promise.all(started.map(outcomesOf))) {
      for (const [index, outcome] of outcomes.entries()) all[index]!.push(outcome)
    }
  }, 60_000)

  it('let exactly the limit through, whoever asks', () => {
    const codes = all[0]!.flatMap((outcome) => outcome.codes)

    expect(codes.filter((code) => code === 'completed')).toHaveLength(300)
    expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(500)
  })

  it('hold the limit in every window while calls wait, use all of it, and lose none', () => {
    const codes = all[1]!.flatMap((outcome) => outcome.codes)
    const times = all[1]!.flatMap((outcome) => outcome.times)
    const countFrom = (start: number) =>
      times.filter((at) => at >= start && at < start + windowMs).length

    expect(codes).toEqual(Array.from({ length: 600 }, () => 'completed'))
    expect(times).toHaveLength(600)
    // 1 %: the time is read a moment after the script has counted.
    expect(Math.max(...times.map(countFrom))).toBeLessThanOrEqual(202)
    // However slow the machine is, nobody waits while there is room.
    expect(Math.max(...all[1]!.map(({ mostLeft }) => mostLeft))).toBeLessThan(1)
  })

  it('never have more open at once than allowed', () => {
    const codes = all[2]!.flatMap((outcome) => outcome.codes)

    expect(codes).toEqual(Array.from({ length: 160 }, () => 'completed'))
    expect(Math.max(...all[2]!.map(({ mostOpen }) => mostOpen))).toBeLessThanOrEqual(5)
  })
})

it.skipIf(redis === undefined)(
  'a process that is killed gives back what it had running',
  { timeout: 20_000 },
  async () => {
    const limits = [{ unit: 'concurrency', limit: 1 }]
    const job = { runs: 1, limits, leaseMs: 600, limiter: 'killed' }
    const holder = spawnWorker('holder', 1, [{ ...job, hang: true }])
    // They do nothing before there is a second one.
    const others = spawnWorker('others', 2, [
      { ...job, onLimit: 'reject' },
      { ...job, maxWaitMs: 10_000 },
    ])
    await once(holder.stdout!, 'data')
    for (const index of [0, 1]) await redis!.incr(`{${prefix}}:others:${index}:ready`)

    const [first] = (await once(others.stdout!, 'data')) as [Buffer]
    holder.kill('SIGKILL')

    expect(JSON.parse(String(first))).toMatchObject({ codes: ['rate_limited'] })
    expect((await outcomesOf(others)).flatMap(({ codes }) => codes)).toEqual(['completed'])
  },
)
