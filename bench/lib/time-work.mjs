// Prints, for each case whose name contains the argument, how many times the processor time of its floor a run takes:
// the quietest of many short turns of each, which take turns.
import { cases } from './regression-cases.mjs'

const pairs = 31
const batchMicroseconds = 5000
const [filter = ''] = process.argv.slice(2)

const ratios = {}
for (const [name, { run, floor }] of Object.entries(cases)) {
  if (!name.includes(filter)) continue
  const sides = [await batchOf(run), await batchOf(floor)]
  const quietest = [Infinity, Infinity]
  for (let pair = 0; pair < pairs; pair++) {
    for (const side of [0, 1]) quietest[side] = Math.min(quietest[side], await sides[side]())
  }
  ratios[name] = quietest[0] / quietest[1]
}
process.stdout.write(JSON.stringify(ratios))
process.exit(0)

/** Warms up, and returns a function that resolves to the microseconds of a run, taken from as many as fill a batch. */
async function batchOf(work) {
  const measure = async (count) => {
    const before = process.cpuUsage()
    for (let run = 0; run < count; run++) await work()
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  let count = 1
  for (let spent = 0; spent < 60 * batchMicroseconds; ) {
    const time = await measure(count)
    spent += time
    if (time < batchMicroseconds)
      count = Math.ceil(count * Math.min(2, batchMicroseconds / (time + 1)))
  }
  return async () => (await measure(count)) / count
}
