import { expect, test } from 'vitest'
import { growthExponent, hostilePieces } from '../../../../scripts/test-support/growth-exponent.ts'
import { readMarkup } from '../authoring.ts'

const pieces = [...hostilePieces, '<!--', '<!-- -', '&#0', '&lt;b&gt;', '<a b', '<a>']

test.each(pieces)('the time to read markup is linear in a text of %s', async (piece) => {
  for (const final of [true, false]) {
    // oxlint-disable-next-line no-await-in-loop
    expect(await growthExponent((text) => readMarkup(text, final), piece)).toBeLessThan(1.2)
  }
})
