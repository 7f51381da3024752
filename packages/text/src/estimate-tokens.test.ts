import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { estimateTokens, tokenWeight } from './estimate-tokens.ts'

/** Texts with their tokens in `o200k_base` and `cl100k_base`. */
const samples: readonly (readonly [kind: string, text: string, o200k: number, cl100k: number])[] = [
  ['English', 'All human beings are born free and equal in dignity and rights.', 13, 13],
  ['code', 'for i in range(10):\n    print(f"{i}: {fib(i)}")\n', 18, 18],
  ['hexadecimal', '9b71d224bd62f3785d96d46ad3ea3d73319bfbc2890caadae2dff72519673ca7', 36, 35],
  [
    'Chinese',
    '人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。',
    35,
    50,
  ],
  [
    'Russian',
    'Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и должны поступать в отношении друг друга в духе братства.',
    41,
    74,
  ],
]

describe('an estimate of tokens', () => {
  it.each(samples)('is near the count of %s', (_, text, o200k, cl100k) => {
    const estimated = estimateTokens(text)

    expect(estimated).toBeGreaterThan(Math.min(o200k, cl100k) * 0.75)
    expect(estimated).toBeLessThan(Math.max(o200k, cl100k) * 1.25)
  })

  it.each([
    ['control characters', 0x00, 0x08, 1.75],
    ['line breaks', 0x09, 0x0d, 0.7],
    ['control characters', 0x0e, 0x1f, 1.75],
    ['spaces', 0x20, 0x20, 0.8],
    ['marks', 0x21, 0x2f, 1.75],
    ['digits', 0x30, 0x39, 2],
    ['marks', 0x3a, 0x40, 1.75],
    ['capitals', 0x41, 0x5a, 4 / 2.7],
    ['marks', 0x5b, 0x60, 1.75],
    ['letters', 0x61, 0x7a, 1],
    ['marks', 0x7b, 0x7f, 1.75],
    ['symbols', 0x80, 0xbf, 5.6],
    ['letters of other languages', 0xc0, 0x24f, 1.4],
    ['Greek and Cyrillic', 0x250, 0x52f, 1.68],
    ['other scripts', 0x530, 0x1dff, 2.4],
    ['letters of other languages', 0x1e00, 0x1eff, 1.4],
    ['other scripts', 0x1f00, 0x1fff, 2.4],
    ['symbols', 0x2000, 0x2e7f, 5.6],
    ['ideographs', 0x2e80, 0xd7ff, 3.4],
    ['halves of pairs', 0xd800, 0xdfff, 5.2],
    ['wide characters', 0xe000, 0xf8ff, 6.4],
    ['ideographs', 0xf900, 0xfaff, 3.4],
    ['wide characters', 0xfb00, 0xffff, 6.4],
  ])('weighs four %s from %i to %i as %d', (_, first, last, weight) => {
    for (const code of [first, last]) {
      expect(tokenWeight(String.fromCharCode(code).repeat(4))).toBeCloseTo(weight, 9)
    }
  })

  it.each([
    ['longword', 1],
    ['longwords', 1.25],
    ['été', 1],
    ['ones', 1],
    ['onés', 1.4],
    ['A', 0.2],
    ['a b', 2],
    ['a  b', 2.8],
    ['=>', 0.85],
    ['12345', 2],
    ['a1', 2],
  ])('weighs %j as %d', (text, weight) => {
    expect(tokenWeight(text)).toBeCloseTo(weight, 9)
  })

  it('is 0 for no text and at least 1 for any', () => {
    expect(estimateTokens('')).toBe(0)
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'binary' }), (text) => {
        expect(estimateTokens(text.replaceAll(' ', 'x'))).toBeGreaterThanOrEqual(1)
      }),
    )
  })

  it('does not depend on where in a word its accent is', () => {
    expect(tokenWeight('\u00e9tages')).toBe(tokenWeight('etag\u00e9s'))
    expect(tokenWeight('\u00e9tages')).toBeGreaterThan(tokenWeight('etages'))
  })

  it('adds up over words as a fraction', () => {
    const text = 'The “quick” brown fox\njumped 12345 times over naïve собака'
    const words = text.split(/(?= )/)

    const sum = words.reduce((total, word) => total + tokenWeight(word), 0)

    expect(sum).toBeCloseTo(tokenWeight(text), 9)
    expect(estimateTokens(text)).toBe(Math.ceil(sum))
  })

  it('never shrinks by much when text is added', () => {
    const text = fc.string({ unit: 'binary' })
    fc.assert(
      fc.property(text, text, (left, right) => {
        expect(estimateTokens(left + right)).toBeGreaterThanOrEqual(estimateTokens(left) - 1)
      }),
    )
  })
})
