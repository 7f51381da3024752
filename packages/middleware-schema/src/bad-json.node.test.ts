import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parseJson } from './parse-json.ts'
import { parsePartialJson } from './partial-json.ts'
import { repairJson } from './repair-json.ts'

// Test data that is kept beside the repository and never in it.
const file = fileURLToPath(new URL('../../../../shared/corpora/bad-json.jsonl', import.meta.url))

interface Row {
  readonly suite: string
  readonly expect: 'accept' | 'reject' | 'either' | 'repair' | 'partial'
  readonly text?: string
  readonly repaired?: string
  readonly value?: unknown
}

function rows(): readonly (Row & { readonly text: string })[] {
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return lines
    .map((line) => JSON.parse(line) as Row)
    .filter((row): row is Row & { text: string } => row.text !== undefined)
}

function measured(): typeof test.skip {
  if (existsSync(file)) return test
  console.warn(`middleware-schema: not measured, there is no ${file}`)
  return test.skip
}

describe('measured on public test suites', () => {
  const of = (suite: string, what: string) =>
    rows().filter((row) => row.suite === suite && row.expect === what)

  measured()('the strict entry accepts what JSON is and rejects all else', () => {
    const accepted = of('JSONTestSuite', 'accept').filter(({ text }) => parseJson(text))
    const rejected = of('JSONTestSuite', 'reject').filter(({ text }) => !parseJson(text))

    expect(accepted).toEqual(of('JSONTestSuite', 'accept'))
    expect(rejected).toEqual(of('JSONTestSuite', 'reject'))
  })

  measured()('the repairing entry mends what can be mended and refuses to guess', () => {
    const wrong = of('jsonrepair', 'repair').filter(
      ({ text, repaired }) => repairJson(text) !== repaired,
    )
    const guessed = of('jsonrepair', 'reject').filter(({ text }) => repairJson(text) !== undefined)

    expect(wrong).toEqual([])
    expect(guessed).toEqual([])
  })

  measured()('the strict entry rejects what only the repairing one understands', () => {
    const broken = of('jsonrepair', 'repair').filter(({ text, repaired }) => text !== repaired)

    expect(broken.filter(({ text }) => parseJson(text))).toEqual([])
  })

  measured()('the partial entry reads what has come so far', () => {
    const partial = rows().filter((row) => row.expect === 'partial')
    const differs = partial.filter((row) => {
      const expected: unknown = row.repaired === undefined ? row.value : JSON.parse(row.repaired)
      return JSON.stringify(parsePartialJson(row.text)) !== JSON.stringify(expected)
    })
    const accepted = of('langchain-json', 'reject').filter(
      ({ text }) => parsePartialJson(text) !== undefined,
    )

    // Where suites contradict each other, the stricter one counts: half an escape says nothing yet.
    expect(differs.map(({ text }) => text).toSorted()).toEqual(
      ['" \\x12', '"15\\u00', '"hello\\', '[-'].toSorted(),
    )
    expect(accepted).toEqual([])
  })
})
