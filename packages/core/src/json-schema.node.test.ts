import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { validateJsonSchema } from './json-schema.ts'

describe('measured on public test suites', () => {
  const folder = process.env['LAMELLA_CORPORA'] ?? '/work/shared/corpora'

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
