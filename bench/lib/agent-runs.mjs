// Prints the processor time of a run in microseconds: `<adapter> <runs at a time> <tool rounds>`.
import { pathToFileURL } from 'node:url'
import { median } from './statistics.mjs'
import { expectedText } from './toolkit.mjs'

const [file, atATime, rounds] = process.argv.slice(2)
const { default: adapter } = await import(pathToFileURL(file).href)
const script = { rounds: Number(rounds), parallel: 1 }
const { run } = adapter.agentRun({ k: 0, ...script })
const batch = async () => {
  const texts = await Promise.all(Array.from({ length: Number(atATime) }, run))
  if (texts.some((text) => text !== expectedText(script))) throw new Error(`wrong: ${texts[0]}`)
}

/** Processor time of a run, of as many batches as a quarter of a second has. */
const measure = async () => {
  const before = process.cpuUsage()
  const start = performance.now()
  let batches = 0
  for (; batches === 0 || performance.now() - start < 250; batches++) await batch()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / (batches * Number(atATime))
}
for (const start = performance.now(); performance.now() - start < 1000; ) await measure()
const times = []
for (let turn = 0; turn < 3; turn++) times.push(await measure())
process.stdout.write(String(median(times)))
process.exit(0)
