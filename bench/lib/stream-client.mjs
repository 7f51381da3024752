// Prints the processor time of one streamed answer in ms, and the peak of resident memory in MB, of an application
// by its name.
import assert from 'node:assert/strict'
import { applications } from '../applications.mjs'

const [name, url] = process.argv.slice(2)
const read = await applications.find((application) => application.name === name).stream(url)
const answer = async () => assert.equal(await read(), 1800)
const answers = 300
for (let warm = 0; warm < 30; warm++) await answer()

const before = process.cpuUsage()
let left = answers
const worker = async () => {
  while (left-- > 0) await answer()
}
await Promise.all(Array.from({ length: 20 }, worker))
const { user, system } = process.cpuUsage(before)
const maxRssMB = (process.resourceUsage().maxRSS * 1024) / 1e6
process.stdout.write(JSON.stringify({ ms: (user + system) / 1000 / answers, maxRssMB }))
process.exit(0)
