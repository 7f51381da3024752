// Measures how easy the documents read: Flesch reading ease of their prose, without code, tables and links.
// usage: node scripts/readability.ts [--since <commit>] [file...]
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { sentences } from './conventions/markdown.ts'

const args = process.argv.slice(2)
const at = args.indexOf('--since')
const since = at < 0 ? undefined : args.splice(at, 2)[1]
const files =
  args.length > 0
    ? args
    : execFileSync(
        'git',
        ['ls-files', 'README.md', 'CONTRIBUTING.md', 'docs/*.md', 'packages/*/README.md'],
        {
          encoding: 'utf8',
        },
      )
        .split('\n')
        .filter((path) => path !== '' && !/\/src\/|\/decisions\//.test(path))

function syllables(word: string): number {
  const bare = word.toLowerCase().replace(/(?:[^laeiouy]es|[^laeiouy]e|ed)$/, '')
  return Math.max(1, bare.match(/[aeiouy]+/g)?.length ?? 1)
}

/** Flesch reading ease: 60 to 70 is plain English, below 30 reads like a law. */
function ease(markdown: string): number {
  const all = sentences(markdown)
  const words = all.flatMap((sentence) => sentence.match(/\p{L}[\p{L}'’-]*/gu) ?? [])
  if (words.length === 0) return Number.NaN
  const count = words.reduce((sum, word) => sum + syllables(word), 0)
  return 206.835 - 1.015 * (words.length / all.length) - 84.6 * (count / words.length)
}

const rows = files.map((path) => {
  const now = ease(readFileSync(path, 'utf8'))
  return { path, now, before: since === undefined ? undefined : before(path) }
})

function before(path: string): number | undefined {
  try {
    const text = execFileSync('git', ['show', `${since}:${path}`], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return ease(text)
  } catch {
    return undefined
  }
}

for (const { path, now, before: then } of rows.toSorted((left, right) => left.now - right.now))
  console.log(
    `${then === undefined ? '' : `${then.toFixed(0)} → `}${now.toFixed(0)}`.padEnd(10),
    path,
  )
const mean = rows.reduce((sum, { now }) => sum + now, 0) / rows.length
console.log(`${mean.toFixed(1)} on average of ${rows.length} documents`)
