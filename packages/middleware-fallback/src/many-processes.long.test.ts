import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import KeyvRedis from '@keyv/redis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWithRedis, redisUrl } from '../../../tests/support/real-redis.ts'
import type { Order, Told } from './circuit-process.test-helper.ts'

const namespace = `lamella-circuit-test-${crypto.randomUUID()}`
/** Milliseconds of what is to pass during a test. */
const soon = 2000
/** Milliseconds of what no test outlasts, however slow the machine is. */
const never = 3_600_000

const told: Told[] = []
const children = new Set<ChildProcess>()

async function startProcess(): Promise<ChildProcess> {
  const helper = fileURLToPath(new URL('circuit-process.test-helper.ts', import.meta.url))
  const child = fork(helper, [redisUrl, namespace], {
    execArgv: ['--conditions=@lamella/source'],
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'lamella-compile-cache') },
  })
  children.add(child)
  await once(child, 'message')
  child.on('message', (message: Told) => told.push(message))
  return child
}

type Counts = Readonly<Partial<Record<Told, number>>>

/** Resolves to the messages of the processes since the last command, once all expected ones are there. */
async function whatFollows(send: () => void, isAll: (counts: Counts) => boolean): Promise<Counts> {
  told.length = 0
  send()
  await expect.poll(() => isAll(counted()), { interval: 10 }).toBe(true)
  return counted()
}

function counted(): Counts {
  const counts: Partial<Record<Told, number>> = {}
  for (const one of told) counts[one] = (counts[one] ?? 0) + 1
  return counts
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, soon))

describeWithRedis('four processes on one Redis', () => {
  let four: readonly ChildProcess[] = []
  beforeAll(async () => {
    four = await Promise.all([1, 2, 3, 4].map(startProcess))
  })

  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL')
    const adapter = new KeyvRedis(redisUrl, { namespace })
    await adapter.clear()
    await adapter.disconnect()
  })

  const sendAll = (message: Order | 'go') => () => four.forEach((child) => child.send(message))
  const breakCircuit = (circuit: string, openMs: number): Promise<Counts> => {
    const order: Order = { circuit, calls: 10, openMs, model: 'fails' }
    return whatFollows(sendAll(order), ({ failed = 0, rejected = 0 }) => failed + rejected === 40)
  }

  it('open one once, and then none of them asks the model', async () => {
    const broken = await breakCircuit('opens', never)
    const order: Order = { circuit: 'opens', calls: 5, openMs: never, model: 'answers' }
    const later = await whatFollows(sendAll(order), ({ rejected }) => rejected === 20)

    expect(broken.opened).toBe(1)
    expect(later).toEqual({ rejected: 20 })
  })

  it('send one call to try it out, and close it for all', async () => {
    await breakCircuit('closes', soon)
    await pause()

    const order: Order = { circuit: 'closes', calls: 5, openMs: never, model: 'waits' }
    const tried = await whatFollows(sendAll(order), ({ rejected }) => rejected === 19)
    const closed = await whatFollows(sendAll('go'), ({ answered }) => answered === 1)
    const later = await whatFollows(sendAll(order), ({ answered }) => answered === 20)

    expect(tried).toEqual({ asked: 1, rejected: 19 })
    expect(closed).toEqual({ answered: 1 })
    expect(later).toEqual({ asked: 20, answered: 20 })
  })

  it('continue without one that dies during its trial', async () => {
    const doomed = await startProcess()
    // The trial of one circuit has a long time, and that of the other one soon has none.
    const trials = { blocked: never, freed: soon }
    for (const circuit of Object.keys(trials)) await breakCircuit(circuit, soon)
    await pause()
    const orders = Object.entries(trials).map(
      ([circuit, openMs]): Order => ({ circuit, calls: 1, openMs, model: 'waits' }),
    )
    await whatFollows(
      () => orders.forEach((order) => doomed.send(order)),
      ({ asked }) => asked === 2,
    )
    doomed.kill('SIGKILL')
    await pause()

    const [first, second] = orders.map((order): Order => ({ ...order, model: 'answers' }))
    const blocked = await whatFollows(sendAll(first!), ({ rejected }) => rejected === 4)
    const freed = await whatFollows(
      () => four[0]!.send(second!),
      ({ answered }) => answered === 1,
    )

    expect(blocked).toEqual({ rejected: 4 })
    expect(freed).toEqual({ asked: 1, answered: 1 })
  })
})
