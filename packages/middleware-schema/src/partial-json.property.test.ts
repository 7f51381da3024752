import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parsePartialJson, partialJson } from './partial-json.ts'
import { runs } from '../../../tests/support/runs.ts'

const value = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' })

describe('reading JSON piece by piece', () => {
  it('comes to what reading it at once comes to, however it is cut', () => {
    fc.assert(
      fc.property(value, fc.boolean(), fc.array(fc.nat(12)), (json, spaced, cuts) => {
        const text = JSON.stringify(json, null, spaced ? 2 : 0)
        const reader = partialJson()
        let at = 0
        for (const cut of cuts) {
          reader.push(text.slice(at, at + cut))
          reader.value()
          at += cut
        }
        reader.push(text.slice(at))

        expect(reader.value()).toEqual(JSON.parse(text))
      }),
    )
  })

  it('never throws, and what is not JSON comes to nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const partial = parsePartialJson(text)

        if (partial === undefined) return
        expect(() => JSON.stringify(partial)).not.toThrow()
      }),
    )
  })

  it('only grows: lists get longer, and no key goes', () => {
    fc.assert(
      fc.property(fc.array(fc.dictionary(fc.string(), fc.string()), { minLength: 1 }), (list) => {
        const text = JSON.stringify(list)
        const reader = partialJson()
        let before: readonly object[] = []
        for (const char of text) {
          reader.push(char)
          const now = reader.value() as readonly object[]
          expect(now.length).toBeGreaterThanOrEqual(before.length)
          before.forEach((item, index) => {
            expect(Object.keys(now[index]!)).toEqual(expect.arrayContaining(Object.keys(item)))
          })
          before = now
        }
      }),
      { numRuns: runs(30) },
    )
  })
})

describe('a partial value', () => {
  it.each([
    ['', undefined],
    ['[1, 2', [1, 2]],
    ['{"a": "x', { a: 'x' }],
    ['{"a": tr', { a: true }],
    ['{"a": 1, "b', { a: 1 }],
    ['{"a": 1.', { a: 1 }],
    ['{"a": -', {}],
    ['{"__proto__": {"x": 1', JSON.parse('{"__proto__": {"x": 1}}')],
    ['{"a": 1]', undefined],
    ['[1 2', undefined],
    ['[01,', undefined],
    ['{"a": 1} and', undefined],
  ])('of %j', (text, expected) => {
    expect(parsePartialJson(text)).toEqual(expected)
  })

  it('shares what is complete and never changes what it gave before', () => {
    const reader = partialJson()
    reader.push('{"done": {"a": [1]}, "open": [1')
    const first = reader.value() as { done: object; open: number[] }
    reader.push(', 2]}')
    const second = reader.value() as { done: object; open: number[] }

    expect(second.done).toBe(first.done)
    expect([first.open, second.open]).toEqual([[1], [1, 2]])
  })
})
