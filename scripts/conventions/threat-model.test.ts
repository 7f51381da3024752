import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const docs = join(import.meta.dirname, '../../docs')

/** Shares that a text names: `.744`, `0.2 %`, `61 and 54 %`. */
function shares(text: string): string[] {
  return [...text.matchAll(/(?<![\w.])(?:\d*\.\d+|\d+(?= (?:and \d+ )?%))/g)].map(
    ([share]) => share,
  )
}

test('every share that the threat model names is in the README of its guardrail', () => {
  const rows = readFileSync(join(docs, 'threat-model.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| [`'))
  const missing = rows.flatMap((row) => {
    const [, path = ''] = /\]\(([^)]+)\)/.exec(row) ?? []
    const known = shares(readFileSync(join(docs, path), 'utf8'))
    return shares(row)
      .filter((share) => !known.includes(share))
      .map((share) => `${path}: ${share}`)
  })

  expect(rows.flatMap(shares).length).toBeGreaterThan(10)
  expect(missing).toEqual([])
})

test('every share that the release notes name is in the threat model', () => {
  const known = shares(readFileSync(join(docs, 'threat-model.md'), 'utf8'))
  const notes = readFileSync(join(docs, 'release-notes.md'), 'utf8')
  const [, detection = ''] = /\*\*Detection is incomplete\.\*\*([^]*?)\n- /.exec(notes) ?? []
  const named = shares(detection)

  expect(named.length).toBeGreaterThan(2)
  expect(named.filter((share) => !known.includes(share))).toEqual([])
})

test('every promise of the field has a test', () => {
  const text = readFileSync(join(docs, 'threat-model.md'), 'utf8')
  const [, table = ''] = /## Promises of the field\n([^]*?)\n## /.exec(text) ?? []
  const rows = table.split('\n').filter((line) => /^\| (?!promise)[^-]/.test(line))
  const without = rows.filter((row) => {
    const tests = [...row.matchAll(/\]\(([^)]+\.test\.ts)\)/g)].map(([, path]) => path!)
    return tests.length === 0 || tests.some((path) => !existsSync(join(docs, path)))
  })

  expect(rows.length).toBeGreaterThan(20)
  expect(without).toEqual([])
})
