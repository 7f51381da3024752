// Runs an agent for a while in every way that a run can go, and fails when objects, heap, handles, timers or
// listeners grow.
// usage: npm run soak [-- --seconds=10 --pause=0]
import { getEventListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { queryObjects } from 'node:v8'
import { application, expected, ways } from './soak/runs.ts'

/** Runs at a time. */
const concurrency = 8
/** Runs that each part has at least, however slow the machine is: fewer would not tell a leak from noise. */
const least = 400
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    /** Milliseconds from one run to the next, of each of those that run at a time. */
    pause: { type: 'string', default: '0' },
  },
})
const seconds = Number(values.seconds)
const pauseMs = Number(values.pause)
if (!(seconds > 0)) throw new RangeError(`--seconds must be above 0, got ${values.seconds}`)
const { gc } = globalThis
if (gc === undefined) throw new Error('run with --expose-gc')
const collect = () => gc()

const names = Object.keys(ways)
const counts: Record<string, number> = {}
let runs = 0
async function runFor(ms: number) {
  const until = performance.now() + ms
  const atLeast = runs + least
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (performance.now() < until || runs < atLeast) {
        const number = runs++
        const name = names[number % names.length] ?? 'plain'
        const end = await ways[name]?.(`How is the weather in Rome, number ${number}?`)
        counts[`${name}: ${end}`] = (counts[`${name}: ${end}`] ?? 0) + 1
        if (pauseMs > 0) await sleep(pauseMs)
      }
    }),
  )
  // What was left or aborted ends, and what waits for a collection to be released is released.
  await sleep(100)
  for (let turn = 0; turn < 4; turn++) {
    collect()
    await sleep(20)
  }
  const resources = process.getActiveResourcesInfo()
  return {
    runs,
    objects: Number(queryObjects(Object)),
    heapBytes: process.memoryUsage().heapUsed,
    handles: resources.filter((name) => name !== 'Timeout').length,
    timers: resources.filter((name) => name === 'Timeout').length,
    listeners: getEventListeners(application.signal, 'abort').length,
  }
}

// A third to fill stores and to compile, then six parts to compare.
await runFor((seconds * 1000) / 3)
const parts: Awaited<ReturnType<typeof runFor>>[] = []
for (let part = 0; part < 6; part++) parts.push(await runFor((seconds * 1000) / 9))
console.table(parts)
console.table(counts)

/** The middle of the last three less that of the first three: one late collection does not count. */
const growth = (key: keyof (typeof parts)[number]) => {
  const middle = (some: typeof parts) =>
    some.map((part) => part[key]).toSorted((a, b) => a - b)[1] ?? 0
  return middle(parts.slice(3)) - middle(parts.slice(0, 3))
}
const between = growth('runs')
const allowed = {
  // One object that half the runs of a single way leave behind is a leak.
  objects: 40 + between / names.length / 2,
  // Strings are no objects.
  heapBytes: 200_000 + 50 * between,
  handles: 0,
  timers: 0,
  listeners: 0,
}
const problems = Object.entries(allowed).flatMap(([key, limit]) => {
  const grown = growth(key as keyof typeof allowed)
  return grown > limit ? [`${key} grew by ${grown}, allowed are ${Math.floor(limit)}`] : []
})
for (const way of expected) if (!counts[way]) problems.push(`no run went "${way}"`)
for (const problem of problems) console.error(problem)
console.log(
  `${runs} runs, ${between} between the halves: objects grew by ${growth('objects')}, the heap by ${growth('heapBytes')} bytes, ${problems.length} problems`,
)
process.exit(problems.length === 0 ? 0 : 1)
