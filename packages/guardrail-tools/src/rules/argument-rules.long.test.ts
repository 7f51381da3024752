import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { check } from 'recheck'
import { expect, test } from 'vitest'
import { sourcesOf, sourceWith } from '../../../../scripts/conventions/find-sources.ts'
import { path } from './path-rule.ts'

// Test data that is kept beside the repository and never in it.
const file = fileURLToPath(new URL('../../../../../shared/corpora/paths.jsonl', import.meta.url))
const measured = existsSync(file) ? test : test.skip
if (!existsSync(file)) console.warn(`toolPolicy: not measured, there is no ${file}`)

measured('every way out of the corpus is denied, and no path of a real repository is', () => {
  const rows = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const rule = path({ roots: ['/srv/docs'] })
  const escapes = rows.filter(
    (row) => row.posix_escapes || row.win32_escapes || row.nul || row.after_decode > 0,
  )
  const real = rows.filter(({ label }) => label === 'benign')

  expect([escapes.length > 500, real.length > 300]).toEqual([true, true])
  expect(escapes.filter(({ text }) => rule.check(text) === undefined)).toEqual([])
  expect(real.filter(({ text }) => rule.check(text) !== undefined)).toEqual([])
})

test('every regular expression of the package is safe', async () => {
  const sources = [...sourcesOf('guardrail-tools'), sourceWith('text', 'function decodePath(')]
  const literal =
    /[=(\s]\/((?:\\.|\[(?:\\.|[^\]])*\]|[^/\s\\*])(?:\\.|\[(?:\\.|[^\]])*\]|[^/\\\n])*)\/([a-z]*)/g
  const patterns = sources.flatMap((text) => [...text.matchAll(literal)])

  expect(patterns.length).toBeGreaterThan(12)
  for (const [, source, flags] of patterns) {
    const { status } = await check(source!, flags!, { timeout: 60_000 })
    expect(`${source}: ${status}`).toBe(`${source}: safe`)
  }
})
