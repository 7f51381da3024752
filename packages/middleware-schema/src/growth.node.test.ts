import { expect, test } from 'vitest'
import { growthExponent, hostilePieces } from '../../../scripts/test-support/growth-exponent.ts'
import { parsePartialJson, repairJson } from './index.ts'

test.each(Object.entries({ parsePartialJson, repairJson }))(
  'the time of %s grows with the length of a hostile text, and no faster',
  (_, read) => {
    for (const piece of hostilePieces) {
      for (const start of ['', '{"a":']) {
        const exponent = growthExponent((text) => read(start + text), piece)
        expect(`${start}${piece} ${exponent <= 1.2 ? 'linear' : exponent}`).toBe(
          `${start}${piece} linear`,
        )
      }
    }
  },
  120_000,
)
