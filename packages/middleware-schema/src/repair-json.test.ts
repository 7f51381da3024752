import { describe, expect, it } from 'vitest'
import { parseJson } from './parse-json.ts'
import { repairJson } from './repair-json.ts'

describe('the two entry points', () => {
  it.each([
    ['{"a":1}', { a: 1 }],
    [' [1, "\\u00e9"]\n', [1, 'é']],
    ['null', null],
    ['{"__proto__":{"x":1}}', JSON.parse('{"__proto__":{"x":1}}')],
  ])('both read %j', (text, value) => {
    expect(parseJson(text)).toEqual({ value })
    expect(JSON.parse(repairJson(text)!)).toEqual(value)
  })

  it.each([
    ["{'a': 1}", { a: 1 }],
    ['{a: 1,}', { a: 1 }],
    ['{"a": [1, 2', { a: [1, 2] }],
    ['{"a": True, "b": None}', { a: true, b: null }],
    ['{"a": 1} // done', { a: 1 }],
    ['```json\n{"a":1}\n```', { a: 1 }],
  ])('only the repairing one reads %j', (text, value) => {
    expect(parseJson(text)).toBeUndefined()
    expect(JSON.parse(repairJson(text)!)).toEqual(value)
  })

  it.each(['', '{"a",', '{:2}', '{"a":2}foo', `${'['.repeat(100_000)}x`])(
    'neither reads %j',
    (text) => {
      expect(parseJson(text)).toBeUndefined()
      expect(repairJson(text)).toBeUndefined()
    },
  )
})
