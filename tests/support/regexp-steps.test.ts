import { expect, test } from 'vitest'
import * as fc from 'fast-check'
import { searchSteps } from './regexp-steps.ts'

const steps = (expression: RegExp, text: string) => searchSteps(expression, text, 0)[1]

test.each([
  ['one that finds nothing, from each place anew', /a+b/, 64, 70],
  ['one that stops at a limit', /a{1,20}b/, 7.5, 8.5],
  ['one that begins after what it cannot follow', /(?<!a)a+b/, 7.5, 8.5],
  ['spaces at the end', /\s+$/, 64, 70],
])('eight times the text takes %s: %s', (_, expression, least, most) => {
  const unit = expression.source.startsWith('\\s') ? ' ' : 'a'
  const text = (length: number) => unit.repeat(length) + (unit === ' ' ? 'x' : '')

  const growth = steps(expression, text(2000)) / steps(expression, text(250))

  expect(growth).toBeGreaterThan(least - 4)
  expect(growth).toBeLessThan(most)
})

test('a match ends where that of the engine does', () => {
  const atom = fc.constantFrom(
    'a',
    'b',
    '.',
    '[ab]',
    '\\w',
    '\\b',
    '^',
    '$',
    '(?=a)',
    '(?!b)',
    '(?<=a)',
    '(?<!ab)',
  )
  const { expression } = fc.letrec((tie) => ({
    expression: fc.oneof(
      { maxDepth: 4 },
      atom,
      fc.tuple(tie('expression'), tie('expression')).map(([a, b]) => `${String(a)}${String(b)}`),
      fc
        .tuple(tie('expression'), tie('expression'))
        .map(([a, b]) => `(?:${String(a)}|${String(b)})`),
      tie('expression').map((inner) => `(${String(inner)})\\1`.replace('\\1', '')),
      fc
        .tuple(tie('expression'), fc.constantFrom('*', '+', '?', '*?', '+?', '{1,3}', '{2}'))
        .map(([inner, times]) => `(?:${String(inner)})${times}`),
    ),
  }))
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n', ' '), maxLength: 8 })

  fc.assert(
    fc.property(
      expression.map(String),
      text,
      fc.constantFrom('', 'm', 's', 'i', 'u'),
      (source, value, flags) => {
        const match = new RegExp(source, flags).exec(value)

        const [end] = searchSteps(new RegExp(source, flags), value, 0)

        expect(end).toBe(match === null ? -1 : match.index + match[0].length)
      },
    ),
    { numRuns: 300 },
  )
})
