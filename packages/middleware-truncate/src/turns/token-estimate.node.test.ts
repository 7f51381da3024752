import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { estimateTokens } from '@lamella/text'
import { describe, expect, test } from 'vitest'

// Test data that is kept beside the repository and never in it.
const file = fileURLToPath(new URL('../../../../../shared/corpora/tokens.jsonl', import.meta.url))

interface Row {
  readonly text: string
  readonly o200k_base: number
  readonly cl100k_base: number
}

function rows(): readonly Row[] {
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line) as Row)
}

function measured(): typeof test.skip {
  if (existsSync(file)) return test
  console.warn(`middleware-truncate: not measured, there is no ${file}`)
  return test.skip
}

describe('the default estimate, measured on public texts', () => {
  measured().each([
    ['o200k_base', 0.17, 0.08],
    ['cl100k_base', 0.17, 0.18],
  ] as const)('errs little and rarely counts too few, against %s', (vocabulary, error, under) => {
    const shares = rows().map((row) => estimateTokens(row.text) / row[vocabulary])
    const off = shares.map((share) => Math.abs(share - 1))

    expect(off.reduce((sum, one) => sum + one, 0) / off.length).toBeLessThan(error)
    expect(shares.filter((share) => share < 0.8).length / shares.length).toBeLessThan(under)
  })

  measured()('is near for the whole of it', () => {
    const all = rows()
    const estimated = all.reduce((sum, { text }) => sum + estimateTokens(text), 0)
    const o200k = all.reduce((sum, row) => sum + row.o200k_base, 0)
    const cl100k = all.reduce((sum, row) => sum + row.cl100k_base, 0)

    expect(estimated / o200k).toBeLessThan(1.1)
    expect(estimated / cl100k).toBeGreaterThan(0.8)
  })
})
