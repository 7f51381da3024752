import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findBroken, findJson } from './find-json.ts'

describe('finding JSON among words', () => {
  it('gives fenced blocks first, then what brackets enclose, the longest first', () => {
    const text = 'See [1] and {"a": "}"}.\n```json\n{"b":2}\n```\n'

    expect(findJson(text)).toEqual(['{"b":2}\n', '{"a": "}"}', '{"b":2}', '[1]'])
  })

  it('passes a bracket over that is never closed', () => {
    expect(findJson('a [ b {"c":1}')).toEqual(['{"c":1}'])
  })

  it('offers broken JSON to its end, and to its last bracket', () => {
    expect(findBroken('So: {a: 1} Bye.')).toEqual(['{a: 1} Bye.', '{a: 1}'])
    expect(findBroken('{"a": [1')).toEqual(['{"a": [1'])
    expect(findBroken('nothing')).toEqual([])
  })

  it('finds what was put among words', () => {
    const words = fc.string().map((text) => text.replaceAll(/[[\]{}"`]/g, ''))
    fc.assert(
      fc.property(words, fc.dictionary(fc.string(), fc.jsonValue()), words, (left, json, right) => {
        const text = JSON.stringify(json)

        expect(findJson(left + text + right)).toContain(text)
      }),
    )
  })
})
