// Counts what the documentation in sources lacks, by measure and package, and lists it for the packages named.
// usage: node scripts/documentation.ts [--update] [package...]
// `--update` lowers the limits in scripts/conventions/documentation-limits.json to what is left.
import { readFileSync, writeFileSync } from 'node:fs'
import { measures } from './conventions/documentation.ts'
import { repository } from './conventions/tree.ts'

const file = new URL('conventions/documentation-limits.json', import.meta.url)
const limits = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, number>>
const named = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))

for (const [title, measure] of Object.entries(measures)) {
  const problems = measure(repository)
  const allowed = limits[title] ?? {}
  const counts = [...problems].map(([owner, lines]) => [owner, lines.length] as const)
  console.log(`${title}: ${counts.reduce((sum, [, count]) => sum + count, 0)}`)
  for (const [owner, count] of counts.toSorted(([a], [b]) => a.localeCompare(b))) {
    console.log(`  ${owner.padEnd(24)} ${String(count).padStart(4)}, limit ${allowed[owner] ?? 0}`)
    if (named.includes(owner)) for (const line of problems.get(owner)!) console.log(`    ${line}`)
  }
  limits[title] = Object.fromEntries(
    Object.entries(allowed)
      .map(([owner, limit]) => [owner, Math.min(limit, problems.get(owner)?.length ?? 0)] as const)
      .filter(([, limit]) => limit > 0),
  )
}
if (process.argv.includes('--update')) writeFileSync(file, `${JSON.stringify(limits, null, 2)}\n`)
