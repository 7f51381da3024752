import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readMarkup } from './index.ts'

const read = (text: string): string => readMarkup(text)?.text ?? text

describe('readMarkup', () => {
  test.each([
    ['a&amp;b &lt; &#99;&#x64;&#0101f', 'a&b < cdef'],
    ['&amp;amp;lt;', '<'],
    ['&amp;amp;amp;amp;lt;', '&lt;'],
    ['&#0;&#xdfff;&#x10ffff;', '\ufffd\ufffd\u{10ffff}'],
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

  test('says where a range stands that was encoded twice', () => {
    const { toOriginalSpan } = readMarkup('&amp;amp; x')!

    expect([toOriginalSpan(0, 1), toOriginalSpan(2, 3)]).toEqual([
      { start: 0, end: 9 },
      { start: 10, end: 11 },
    ])
  })

  test('reads nothing where there is no markup', () => {
    expect(readMarkup('a < b & c')).toBeUndefined()
  })

  test('reads a growing text to its end if no markup is open', () => {
    expect(readMarkup('a <b>c</b> d', false)?.text).toBe('a c d')
  })

  test('says where markup may be open that was encoded', () => {
    const { text, toOriginal } = readMarkup('&amp;x &lt;b', false)!

    expect([text, toOriginal(text.length)]).toEqual(['&x ', 7])
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
