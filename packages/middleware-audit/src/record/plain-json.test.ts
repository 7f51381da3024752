import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from '@lamella/core/authoring'
import { plainJson, plainText } from './plain-json.ts'

test('is what JSON makes of any value, bytes in base64 and big integers as text', () => {
  const anything = fc.anything({
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withSparseArray: true,
    withTypedArray: true,
  })
  fc.assert(
    fc.property(anything, (value) => {
      expect(plainJson(value)).toStrictEqual(throughText(value))
    }),
  )
})

test.each([
  ['a function', { list: [() => 1, Symbol('s'), undefined], gone: () => 1 }],
  ['a function alone', () => 1],
  ['an own __proto__', JSON.parse('{"a":{"__proto__":{"b":1}}}')],
  ['a date', { at: new Date(0), never: new Date(Number.NaN) }],
  ['a buffer, which has a toJSON', { data: Buffer.from('abc') }],
  [
    'keys given to toJSON',
    { named: { toJSON: (key: string) => `of ${key}` }, list: [{ toJSON: String }] },
  ],
  [
    'a toJSON of a function',
    { call: Object.assign(() => 1, { toJSON: () => ({ name: 'call' }) }) },
  ],
  ['a toJSON that leaves nothing', { none: { toJSON: () => undefined } }],
  ['a toJSON that gives what JSON has no word for', { no: { toJSON: () => Object(2) as unknown } }],
])('so it is for %s', (_, value) => {
  expect(plainJson(value)).toStrictEqual(throughText(value))
})

test('what JSON cannot hold is named by its type', () => {
  const cycle: Record<string, unknown> = {}
  cycle['self'] = { cycle }
  const broken = {
    get text() {
      throw new Error('no')
    },
  }

  expect(plainJson(cycle)).toBe('[object]')
  expect(plainJson([broken])).toBe('[object]')
})

function throughText(value: unknown): unknown {
  const json = JSON.stringify(value, function (this: Record<string, unknown>, key, item: unknown) {
    const given = this[key]
    if (given instanceof Uint8Array) return Buffer.from(given).toString('base64')
    return typeof item === 'bigint' ? String(item) : item
  }) as string | undefined
  return JSON.parse(json ?? 'null')
}

test('the text of a copy is canonical JSON, also with keys that are numbers', () => {
  const key = fc.oneof(
    fc.string(),
    fc.nat().map(String),
    fc.constantFrom('__proto__', '"1":', '10', '9'),
  )
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof({ depthSize: 'small' }, fc.jsonValue(), tie('object')),
    object: fc.dictionary(key, tie('tree'), { maxKeys: 40 }),
  }))
  fc.assert(
    fc.property(tree, (value) => {
      expect(plainText(plainJson(value))).toBe(canonicalJson(value))
    }),
  )
})
