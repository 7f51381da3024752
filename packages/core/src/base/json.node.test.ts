import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { canonicalJson } from './json.ts'

// Test data that is kept beside the repository and never in it.
const corpus = fileURLToPath(
  new URL('../../../../../shared/corpora/canonical-json.jsonl', import.meta.url),
)

describe('measured on the vectors of RFC 8785', () => {
  const isThere = existsSync(corpus)
  if (!isThere) console.warn(`canonical-json: not measured, there is no ${corpus}`)

  test.skipIf(!isThere)('gives the exact text of each', () => {
    const lines = readFileSync(corpus, 'utf8').trim().split('\n')
    const rows: { input: string; canonical: string }[] = lines.map((line) => JSON.parse(line))

    expect(rows.map(({ input }) => canonicalJson(JSON.parse(input)))).toEqual(
      rows.map(({ canonical }) => canonical),
    )
  })
})
