import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { injectionAssessor } from '../index.ts'

// Test data that is kept beside the repository and never in it.
const shared = fileURLToPath(
  new URL('../../../../../shared/corpora/injection.jsonl', import.meta.url),
)
const own = fileURLToPath(new URL('../../eval/corpus.jsonl', import.meta.url))
const assess = injectionAssessor()
const assessResult = injectionAssessor({ source: 'result' })

interface Row {
  readonly text: string
  readonly label: 'positive' | 'benign'
  readonly tier?: string
  readonly family: string
  readonly source?: 'result'
}

function ratesOf(path: string, threshold: number): (isIn: (row: Row) => boolean) => number {
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  const rows = lines.map((line): Row & { isFlagged?: boolean } => JSON.parse(line))
  for (const row of rows) {
    const { score } = row.source === 'result' ? assessResult(row.text) : assess(row.text)
    row.isFlagged = score >= threshold
  }
  return (isIn) => {
    const some = rows.filter(isIn)
    return some.filter(({ isFlagged }) => isFlagged).length / some.length
  }
}

test('finds most of its own lines, and spares all that are harmless', () => {
  const rate = ratesOf(own, 0.6)

  expect(rate(({ label, tier }) => label === 'positive' && tier !== 'R2')).toBeGreaterThan(0.95)
  expect(rate(({ tier }) => tier === 'R')).toBeGreaterThan(0.95)
  // In mid-sentence, or to a name alone.
  expect(rate(({ tier }) => tier === 'R2')).toBeGreaterThan(0.35)
  const isBenign = ({ label, source }: Row): boolean => label === 'benign' && source === undefined
  expect(rate(isBenign)).toBeLessThan(0.005)
  const falseAlarms = (name: string) =>
    rate(({ label, family }) => label === 'benign' && family === name)
  expect(falseAlarms('results')).toBeLessThan(0.005)
  expect(falseAlarms('near-results')).toBeLessThan(0.05)
  expect(falseAlarms('held-out-results')).toBe(0)
})

const measured = existsSync(shared) ? test : test.skip
if (!existsSync(shared)) console.warn(`guardrail-injection: not measured, there is no ${shared}`)

measured('finds what the public lists hold, and rarely errs', () => {
  const rate = ratesOf(shared, 0.7)
  const ofFamily = (family: RegExp) =>
    rate(({ label, family: name }) => label === 'benign' && family.test(name))

  expect(rate(({ tier, label }) => label === 'positive' && tier === 'A')).toBeGreaterThan(0.7)
  expect(rate(({ tier, label }) => label === 'positive' && tier === 'B')).toBeGreaterThan(0.75)
  expect(rate(({ label }) => label === 'benign')).toBeLessThan(0.01)
  expect(ofFamily(/^notinject/)).toBeLessThan(0.03)
  expect(ofFamily(/^roleplay-prompts/)).toBeLessThan(0.02)
  expect(ofFamily(/^prose/)).toBeLessThan(0.02)
})
