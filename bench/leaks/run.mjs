// Streams the same answers through the guardrail of each library, and counts what its reader got.
// usage: node --conditions=@lamella/source bench/leaks/run.mjs [answers]
import { kinds, plantedAnswers } from './answers.mjs'
import { libraries } from './libraries.mjs'

const answers = plantedAnswers(Number(process.argv[2] ?? 1000))
const rows = []
for (const [name, make] of Object.entries(libraries)) {
  const ask = await make()
  const left = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, 0]))
  const behind = []
  for (const answer of answers.slice(0, 20)) for await (const _ of ask(answer, () => {}));
  const start = process.cpuUsage()
  for (const answer of answers) {
    let produced = 0
    let read = ''
    for await (const piece of ask(answer, (text) => (produced += text.length))) {
      // Before the piece is read: what the model has sent and the reader does not have.
      if (piece !== '') behind.push(Math.max(0, produced - read.length))
      read += piece
    }
    if (read.includes(answer.planted)) left[answer.kind]++
  }
  const { user, system } = process.cpuUsage(start)
  behind.sort((a, b) => a - b)
  const at = (share) => behind[Math.min(behind.length - 1, Math.floor(behind.length * share))]
  const ms = ((user + system) / 1000 / answers.length).toFixed(2)
  rows.push([
    name,
    ...Object.values(left),
    at(0.5),
    at(0.95),
    (behind.length / answers.length).toFixed(0),
    ms,
  ])
  console.error(rows.at(-1).join(' | '))
}

console.log(
  `${answers.length} answers, ${answers.length / Object.keys(kinds).length} of each kind\n`,
)
const header = ['guardrail', ...Object.keys(kinds), 'characters behind', '95 %', 'pieces', 'ms']
console.log(`| ${header.join(' | ')} |\n|---|${'---:|'.repeat(header.length - 1)}`)
for (const row of rows) console.log(`| ${row.join(' | ')} |`)
process.exit()
