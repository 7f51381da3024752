import { expect, test } from 'vitest'
import { growthExponent, hostilePieces } from '../../../scripts/test-support/growth-exponent.ts'
import { injectionAssessor } from './index.ts'
import { findImages } from './outgoing/find-images.ts'

const work = { injectionAssessor: injectionAssessor(), findImages }

test.each(Object.entries(work))(
  'the time of %s grows with the length of a hostile text, and no faster',
  (_, read) => {
    for (const piece of hostilePieces) {
      const exponent = growthExponent(read, piece)
      expect(`${piece} ${exponent <= 1.2 ? 'linear' : exponent}`).toBe(`${piece} linear`)
    }
  },
  120_000,
)
