import { testGrowthOfExports } from '../../../scripts/test-support/growth-of-exports.ts'
import * as exports from './index.ts'

const { fileValidator } = exports

testGrowthOfExports(exports, {
  middlewares: {
    fileValidator: () => fileValidator({ paths: { roots: ['/srv'] }, contents: true }),
  },
})
