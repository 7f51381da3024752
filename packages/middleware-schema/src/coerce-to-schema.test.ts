import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { coerceToSchema } from './coerce-to-schema.ts'

const schema = {
  type: 'object',
  properties: {
    n: { type: 'number' },
    i: { type: ['integer', 'null'] },
    b: { type: 'boolean' },
    s: { type: 'string' },
    list: { type: 'array', items: { type: 'integer' } },
    maybe: { anyOf: [{ type: 'string' }, { type: 'null' }] },
  },
  required: ['n'],
}

describe('coercion', () => {
  it.each([
    [{ n: '1.5' }, { n: 1.5 }],
    [{ i: ' 3 ' }, { i: 3 }],
    [{ i: 'null' }, { i: null }],
    [{ b: 'True' }, { b: true }],
    [{ s: 12 }, { s: '12' }],
    [{ list: '7' }, { list: [7] }],
    [{ list: ['1', 2] }, { list: [1, 2] }],
    [{ list: '["1", 2]' }, { list: [1, 2] }],
    ['{"n": "1"}', { n: 1 }],
    [{ s: null, maybe: null }, { maybe: null }],
  ])('turns %j into %j', (value, expected) => {
    expect(coerceToSchema(schema, value)).toEqual(expected)
  })

  it.each([
    [{ n: '1,5' }],
    [{ n: '' }],
    [{ n: null }],
    [{ n: '12345678901234567890' }],
    [{ b: 'yes' }],
    [{ b: 1 }],
    [{ i: '1.5' }],
    [{ other: '1' }],
    ['text'],
  ])('leaves %j as it is', (value) => {
    expect(coerceToSchema(schema, value)).toBe(value)
  })

  it('takes any value, keys of any name included, and changes none that fits', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const before = JSON.stringify(value)
        coerceToSchema(schema, { n: value, __proto__: value })

        expect(JSON.stringify(value)).toBe(before)
        expect(coerceToSchema({}, value)).toBe(value)
      }),
    )
    const odd: unknown = JSON.parse('{"__proto__": {"n": "1"}, "n": "1"}')
    expect(JSON.stringify(coerceToSchema(schema, odd))).toBe('{"__proto__":{"n":"1"},"n":1}')
  })
})
