import { testGrowthOfExports } from '../../../scripts/test-support/growth-of-exports.ts'
import * as exports from './index.ts'

const { maxTokens } = exports

testGrowthOfExports(exports, {
  middlewares: {
    maxTokens: () => maxTokens({ maxInputTokens: 1e6, maxOutputTokens: 1000 }),
    'maxTokens (of texts)': () =>
      maxTokens({
        maxMessageTokens: 1000,
        maxToolArgumentsTokens: 1000,
        maxToolResultTokens: 1000,
      }),
  },
})
