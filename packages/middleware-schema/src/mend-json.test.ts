import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mendJson } from './mend-json.ts'

describe('mending JSON in one pass', () => {
  it.each([
    ["{'a': 'b', c: 1,}", { a: 'b', c: 1 }],
    ['[1 2, 3,, 4]', [1, 2, 3, 4]],
    ['{"a": True, "b": None, "c": NaN}', { a: true, b: null, c: null }],
    ['{"a": "he said "hi" to me", "b": 2}', { a: 'he said "hi" to me', b: 2 }],
    ['{"a": "two\nlines"}', { a: 'two\nlines' }],
    ['{"a": 1 /* one */, // more\n "b": [2', { a: 1, b: [2] }],
    ['{“a”: “b”}', { a: 'b' }],
    ['{"a": soft, "b": red apple}', { a: 'soft', b: 'red apple' }],
    ['{"a": "\\u00e9\\\'x"}', { a: "é'x" }],
    ['{"a": , "b": 1}', { a: null, b: 1 }],
    ['{"a": 007}', { a: '007' }],
    ['{"__proto__": {x: 1}}', JSON.parse('{"__proto__":{"x":1}}')],
  ])('reads %j', (text, value) => {
    expect(mendJson(text)).toEqual({ value })
  })

  it.each(['', '{"a" 1', '{"a": 1]', '[1}', '{"a": "b}', '[1] and more', '{:2}', '"\\uZ000"'])(
    'does not guess at %j',
    (text) => {
      expect(mendJson(text)).toBeUndefined()
    },
  )

  it('reads JSON as it is, however it is spaced', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.nat(2), (value, space) => {
        const text = JSON.stringify(value, null, space)

        expect(mendJson(text)).toEqual({ value: JSON.parse(text) })
      }),
    )
  })

  it('never throws', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...Array.from('{}[]"\':,\\/*u0a \n`')) }),
        (text) => {
          mendJson(text)
        },
      ),
    )
  })
})
