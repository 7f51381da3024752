import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readMarkup } from '../authoring.ts'

const read = (text: string): string => readMarkup(text)?.text ?? text

describe('readMarkup', () => {
  test.each([
    ['a&amp;b &lt; &#99;&#x64;&#0101f', 'a&b < cdef'],
    ['&amp;amp;lt;', '<'],
    ['&#128512; &#xd800; &#99999999;', '😀 \ufffd \ufffd9;'],
    ['x<b>y</b><x-y a="b">z<!-- > < -->', 'xyz'],
    ['x <b>y</b> <i></i> z <!-- --> &nbsp; 1', 'x y z \u00a0 1'],
    ['x<br>y<p>z<h1>', 'x<br>y<p>z<h1>'],
    ['a < b && c > d, x<1>', 'a < b && c > d, x<1>'],
    [`x<b ${'y'.repeat(1000)}>`, `x<b ${'y'.repeat(1000)}>`],
  ])('reads %s', (text, expected) => {
    expect(read(text)).toBe(expected)
  })

  test('says where a range stands in the original', () => {
    const text = 'It is 4<b>1</b>&#49;1.'
    const { text: shown, toOriginal, toOriginalSpan } = readMarkup(text)!

    expect(shown).toBe('It is 4111.')
    const { start, end } = toOriginalSpan(6, 10)
    expect(text.slice(start, end)).toBe('4<b>1</b>&#49;1')
    expect([toOriginal(9), toOriginal(11)]).toEqual([20, text.length])
  })

  test.each(['a &', 'a &#', 'a &#x3', 'a &amp', 'a <', 'a <b', 'a <b c="d', 'a <!-', 'a <!-- b -'])(
    'reads a growing text up to what may be markup: %s',
    (text) => {
      expect(readMarkup(text, false)?.text).toBe('a ')
      expect(readMarkup(text, false)?.toOriginal(2)).toBe(2)
    },
  )

  test('reads the beginning of a text as the whole of it', () => {
    const pieces = 'a|1|&|#|x|;|amp|lt|<|>|b|/|!|--| | |<b>|p'.split('|')
    const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 20 }).map((all) => all.join(''))
    fc.assert(
      fc.property(texts, fc.nat(20), (text, at) => {
        const beginning = readMarkup(text.slice(0, at), false)?.text ?? text.slice(0, at)

        expect(read(text).startsWith(beginning)).toBe(true)
      }),
      { numRuns: 5000 },
    )
  })
})
