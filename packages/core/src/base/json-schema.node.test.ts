import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { validateJsonSchema } from './json-schema.ts'

// Test data that is kept beside the repository and never in it.
const folder = fileURLToPath(new URL('../../../../../shared/corpora', import.meta.url))

describe('measured on public test suites', () => {
  function rowsOf(name: string): { schema: object; value: unknown; valid: boolean }[] {
    const lines = readFileSync(`${folder}/${name}`, 'utf8').trim().split('\n')
    return lines.map((line) => {
      const { schema, data, args, valid } = JSON.parse(line)
      return { schema, value: args ?? data, valid }
    })
  }

  function measured(name: string): typeof test.skip {
    if (existsSync(`${folder}/${name}`)) return test
    console.warn(`json-schema: not measured, there is no ${folder}/${name}`)
    return test.skip
  }

  measured('schema.jsonl')('agrees with the JSON Schema test suite, and errs by rejecting', () => {
    const rows = rowsOf('schema.jsonl')

    const wrong = rows.filter(
      ({ schema, value, valid }) =>
        (validateJsonSchema(schema as never, value).length === 0) !== valid,
    )

    expect(wrong.length / rows.length).toBeLessThan(0.025)
    expect(wrong.filter(({ valid }) => !valid).length).toBeLessThanOrEqual(1)
  })

  measured('toolcalls.jsonl')('agrees on every recorded tool call', () => {
    const wrong = rowsOf('toolcalls.jsonl').filter(
      ({ schema, value, valid }) =>
        (validateJsonSchema(schema as never, value).length === 0) !== valid,
    )

    expect(wrong).toEqual([])
  })
})
