import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import evaluation from '../eval/pii.eval.ts'
import { findPii } from './index.ts'

// Public test data that is kept beside the repository and never in it.
const folder = fileURLToPath(new URL('../../../../shared/corpora', import.meta.url))

interface Row {
  readonly id: string
  readonly text: string
  readonly label?: string
  readonly match?: string
  readonly rule?: string
  readonly weak?: boolean
  readonly scope: readonly string[]
  readonly spans: readonly { kind: string; start: number; end: number; value: string }[]
}

function measured(name: string): typeof test.skip {
  if (existsSync(`${folder}/${name}`)) return test
  console.warn(`guardrail-pii: not measured, there is no ${folder}/${name}`)
  return test.skip
}

function rowsOf(name: string): Row[] {
  const bytes = readFileSync(`${folder}/${name}`)
  const text = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row)
}

/** Precision and recall of a kind, by overlap. */
function figuresOf(kind: string, rows: readonly Row[]) {
  const counts = { right: 0, wrong: 0, missed: 0, exact: 0 }
  for (const row of rows.filter(({ scope }) => scope.includes(kind))) {
    const prediction = evaluation.predict({ ...row }) as { preds: Row['spans'] }
    const found = prediction.preds.filter((one) => one.kind === kind)
    const spans = row.spans.filter((one) => one.kind === kind)
    const overlaps = (left: Row['spans'][number], right: Row['spans'][number]) =>
      left.start < right.end && right.start < left.end
    for (const span of spans) {
      if (found.some((one) => overlaps(one, span))) counts.right++
      else if (!row.weak) counts.missed++
      if (found.some(({ start, end }) => start === span.start && end === span.end)) counts.exact++
    }
    for (const one of found) {
      const isAll = one.end - one.start >= row.text.trim().length
      if (!spans.some((span) => overlaps(one, span)) && (row.match !== 'whole' || isAll)) {
        counts.wrong++
      }
    }
  }
  const { right, wrong, missed } = counts
  return { precision: right / (right + wrong), recall: right / (right + missed), ...counts }
}

describe('measured on public test data', () => {
  measured('pii.jsonl')('finds at least what the best of others find', () => {
    const rows = rowsOf('pii.jsonl')
    const bars: Readonly<Record<string, readonly [precision: number, recall: number]>> = {
      email: [0.94, 0.97],
      phone: [0.95, 0.84],
      ssn: [0.96, 0.97],
      credit_card: [0.999, 0.94],
      ip: [0.99, 0.99],
      iban: [0.98, 0.96],
      mac: [0.999, 0.97],
      url: [0.98, 0.93],
    }

    for (const [kind, [precision, recall]] of Object.entries(bars)) {
      const figures = figuresOf(kind, rows)
      expect.soft(figures.precision, `precision of ${kind}`).toBeGreaterThanOrEqual(precision)
      expect.soft(figures.recall, `recall of ${kind}`).toBeGreaterThanOrEqual(recall)
    }
  })

  measured('pii.jsonl')('finds all of a number with a country code', () => {
    const international = rowsOf('pii.jsonl').filter(({ spans }) =>
      spans.some(({ kind, value }) => kind === 'phone' && value.startsWith('+')),
    )

    const { right, exact } = figuresOf('phone', international)

    expect(exact / right).toBeGreaterThan(0.99)
  })

  measured('secrets.jsonl.gz')('finds the keys of vendors, and none in ordinary text', () => {
    const hasSecret = ({ text }: Row) => findPii(text, { entities: ['secrets'] }).length > 0
    const keys = rowsOf('secrets.jsonl.gz').filter(({ label }) => label === 'positive')
    const ordinary = rowsOf('injection.jsonl').filter(({ label }) => label !== 'positive')

    expect(keys.filter(hasSecret).length / keys.length).toBeGreaterThan(0.9)
    expect(ordinary.filter(hasSecret).length / ordinary.length).toBeLessThan(0.005)
  })
})
