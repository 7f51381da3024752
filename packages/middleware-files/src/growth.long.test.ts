import { expect, test } from 'vitest'
import { testGrowthOfExports, tooFast } from '../../../tests/support/growth-of-exports.ts'
import * as exports from './index.ts'
import { pathFault } from './path-escape.ts'

const { fileValidator } = exports

testGrowthOfExports(exports, {
  middlewares: {
    fileValidator: () => fileValidator({ paths: { roots: ['/srv'] }, contents: true }),
  },
})

test('the work of judging a path is linear', async () => {
  const units = ['../', '..\\', '%2e', '.', ' ', '%', 'a/', '~', '%25', '. ']

  expect(await tooFast((text) => pathFault(text, ['posix', 'win32'], 2), units)).toEqual([])
})
