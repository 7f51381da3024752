import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { WordWrap } from './word-wrap.ts'

/** Wraps pieces, as a terminal would show them. */
function wrapped(pieces: readonly string[], width: number): string {
  const wrap = new WordWrap(() => width)
  return pieces.map((piece) => wrap.push(piece)).join('') + wrap.end()
}

it('breaks lines between words, and never within one', () => {
  expect(wrapped(['one two three', ' four'], 9)).toBe('one two\nthree\nfour')
  expect(wrapped(['a', 'verylongword b'], 5)).toBe('averylongword\nb')
})

it('keeps the lines and the indent of a text', () => {
  expect(wrapped(['one\n\n  two\n', 'three'], 80)).toBe('one\n\n  two\nthree')
})

it('gives the same for any pieces: every word, and no line longer than the width', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '☃'), minLength: 1, maxLength: 8 })
  const text = fc.array(fc.oneof(word, fc.constantFrom('\n', '\n\n')), { maxLength: 30 })

  fc.assert(
    fc.property(
      text,
      fc.integer({ min: 8, max: 30 }),
      fc.integer({ min: 1, max: 9 }),
      (parts, width, size) => {
        const whole = parts.join(' ')
        const characters = Array.from(whole)
        const pieces = characters.flatMap((_, at) =>
          at % size === 0 ? [characters.slice(at, at + size).join('')] : [],
        )
        const shown = wrapped(pieces, width)

        expect(shown).toBe(wrapped([whole], width))
        expect(shown.match(/\S+/g)).toEqual(whole.match(/\S+/g))
        for (const line of shown.split('\n'))
          expect(Array.from(line).length).toBeLessThanOrEqual(width)
      },
    ),
  )
})
