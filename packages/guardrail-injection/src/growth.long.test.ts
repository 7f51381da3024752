import { hostilePieces } from '../../../tests/support/growth-exponent.ts'
import { testGrowthOfExports, tooFast } from '../../../tests/support/growth-of-exports.ts'
import { expect, test } from 'vitest'
import * as exports from './index.ts'
import { findImages } from './outgoing/find-images.ts'

const { injectionAssessor, promptInjection } = exports

testGrowthOfExports(exports, {
  texts: { injectionAssessor: injectionAssessor() },
  middlewares: {
    promptInjection: () => promptInjection({ action: 'flag', taint: {} }),
    'promptInjection (marking gaps)': () => promptInjection({ spotlight: 'datamark' }),
  },
})

test('the time of the search for images is linear', async () => {
  expect(await tooFast(findImages, hostilePieces)).toEqual([])
})
