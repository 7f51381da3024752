import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson, isJson, toBase64 } from './json.ts'

describe('canonicalJson', () => {
  test('writes numbers, strings and literals as RFC 8785 does in section 3.2.2', () => {
    const numbers = [333333333.3333333, 1e30, 4.5, 2e-3, 1e-27, -0, 1e21, 5e-324]
    const string = '€$\u000f\nA\'B"\\\\"/'

    expect(canonicalJson({ numbers, string, literals: [null, true, false] })).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27,0,1e+21,5e-324],"string":"${'€'}$\u000f\nA'B\"\\\\\"/"}`,
    )
  })

  test('orders keys by their UTF-16 code units as RFC 8785 does in section 3.2.3', () => {
    const keys = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6']
    const value = Object.fromEntries(keys.map((key) => [key, '']))

    const ordered = Object.keys({}).concat(
      [...canonicalJson(value).matchAll(/"([^"]+)":/g)].map(([, key]) => key!),
    )

    expect(ordered).toEqual(['\\r', '1', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33'])
  })

  test('orders keys that look like numbers as texts', () => {
    expect(canonicalJson({ 2: 'b', 10: 'a', '': 'c' })).toBe('{"":"c","10":"a","2":"b"}')
  })

  test('keeps a key named __proto__', () => {
    const value: unknown = JSON.parse('{"a":1,"__proto__":{"b":2}}')

    expect(canonicalJson(value)).toBe('{"__proto__":{"b":2},"a":1}')
  })

  test('treats what JSON cannot say as JSON.stringify does', () => {
    const date = new Date(0)
    const odd = {
      list: [undefined, () => 1, Symbol('s'), { toJSON: () => undefined }],
      gone: undefined,
      fn: () => 1,
      none: { toJSON: () => undefined },
      named: { toJSON: (key: string) => key },
      itself: {
        a: 1,
        toJSON() {
          return this
        },
      },
      date,
      sparse: Object.assign([], { 2: 'x' }),
    }

    expect(JSON.parse(canonicalJson(odd))).toEqual(JSON.parse(JSON.stringify(odd)))
    expect(canonicalJson(undefined)).toBe('null')
  })

  test('writes bytes in base64', () => {
    expect(canonicalJson({ data: new Uint8Array([1, 2, 3]) })).toBe('{"data":"AQID"}')
  })

  test('refuses what has no JSON text', () => {
    const cycle: Record<string, unknown> = {}
    cycle['self'] = { cycle }
    const shared = {}

    for (const bad of [Number.NaN, [Infinity], { n: 1n }, cycle]) {
      expect(() => canonicalJson(bad)).toThrow(TypeError)
    }
    expect(canonicalJson([shared, shared])).toBe('[{},{}]')
  })

  test('any JSON value keeps its meaning, and has one text whatever the order of its keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.stringify(value)
        const text = canonicalJson(JSON.parse(json))

        expect(JSON.parse(text)).toEqual(JSON.parse(json))
        expect(canonicalJson(reversed(JSON.parse(json)))).toBe(text)
      }),
    )
  })
})

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toReversed()
  return Object.fromEntries(entries.map(([key, item]) => [key, reversed(item)]))
}

test('isJson tells what JSON represents completely', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(isJson(value)).toBe(true)
    }),
  )
  const cycle: unknown[] = []
  cycle.push(cycle)
  for (const value of [1n, Number.NaN, () => 1, Symbol('s'), new Map(), /x/, new Date(0), cycle]) {
    expect([isJson(value), isJson({ a: [value] })]).toEqual([false, false])
  }
})

test('isJson accepts objects that the caller calls leaves', () => {
  const isDate = (value: object) => value instanceof Date

  expect(isJson({ a: [new Date(0)] }, isDate)).toBe(true)
  expect(isJson({ a: [new Map()] }, isDate)).toBe(false)
})

test('bytes are written as base64, however many, and what is base64 already stays', () => {
  const many = new Uint8Array(20_000).fill(7)

  expect(toBase64(new Uint8Array([104, 105]))).toBe('aGk=')
  expect(toBase64('aGk=')).toBe('aGk=')
  expect(atob(toBase64(many))).toBe('\u0007'.repeat(20_000))
})
