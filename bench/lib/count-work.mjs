// Prints, for each case whose name contains the argument, what a run does, counted: promises made, blocks of our code
// entered, bytes allocated on the heap, and those of them that minor collections do not free. Runs with the flags that
// regression.mjs gives it.
import { createHook } from 'node:async_hooks'
import { Session } from 'node:inspector/promises'
import { cases } from './regression-cases.mjs'

const runs = 50
const ours = /^file:(?!.*\/(?:node_modules|bench)\/)/
const [filter = ''] = process.argv.slice(2)
const session = new Session()
session.connect()
await session.post('Profiler.enable')

const counts = {}
for (const [name, { run, text }] of Object.entries(cases)) {
  if (!name.includes(filter)) continue
  const got = await run()
  if (got !== text) throw new Error(`${name}: got ${JSON.stringify(got).slice(0, 200)}`)
  const times = async () => {
    for (let count = 0; count < runs; count++) await run()
  }
  await times()
  counts[name] = {
    promises: await promisesOf(times),
    ...(await bytesOf(times)),
    blocks: await blocksOf(times),
  }
}
process.stdout.write(JSON.stringify(counts))
process.exit(0)

async function promisesOf(work) {
  let promises = 0
  const hook = createHook({ init: (_id, type) => (promises += type === 'PROMISE' ? 1 : 0) })
  hook.enable()
  await work()
  hook.disable()
  return Math.round(promises / runs)
}

async function bytesOf(work) {
  globalThis.gc()
  const before = process.memoryUsage().heapUsed
  const perRun = () => Math.round((process.memoryUsage().heapUsed - before) / runs)
  await work()
  const bytes = perRun()
  // What the last run still holds is gone a turn later, and what has survived once is freed the second time.
  await new Promise(setImmediate)
  globalThis.gc({ type: 'minor' })
  globalThis.gc({ type: 'minor' })
  return { bytes, 'bytes kept': Math.max(0, perRun()) }
}

/** Functions that were called, and branches and loops inside them each time they were entered. */
async function blocksOf(work) {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  await work()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  await session.post('Profiler.stopPreciseCoverage')
  const ranges = result
    .filter(({ url }) => ours.test(url))
    .flatMap(({ functions }) => functions.flatMap((each) => each.ranges))
  return Math.round(ranges.reduce((sum, { count }) => sum + count, 0) / runs)
}
