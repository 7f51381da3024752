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

  it('is 0 for no text and at least 1 for any', () => {
    expect(estimateTokens('')).toBe(0)
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'binary' }), (text) => {
        expect(estimateTokens(text.replaceAll(' ', 'x'))).toBeGreaterThanOrEqual(1)
      }),
    )
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

  it('is linear: a megabyte of anything takes no time', () => {
    for (const unit of ['a', 'A', ' ', '0', '{', '\u00e9', '\u4e2d', '\ud83d\ude00', 'a1']) {
      const start = performance.now()
      estimateTokens(unit.repeat(1_000_000 / unit.length))
      expect(performance.now() - start).toBeLessThan(3000)
    }
  })
})
