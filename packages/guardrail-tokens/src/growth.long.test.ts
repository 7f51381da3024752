import { tokenWeight } from '@lamella/text'
import { expect, test } from 'vitest'
import { testGrowthOfExports, tooFast } from '../../../tests/support/growth-of-exports.ts'
import { gptEncodingNames, loadEncoding } from './gpt-encoding.ts'
import * as exports from './index.ts'
import { fittingChars } from './text-pieces.ts'

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

const hostile = ['a', ' ', '\n', '-', 'é', '😀', '你好', '\u0301', '<|endoftext|>', 'word ']

test.each(gptEncodingNames)('the work of counting with %s is linear', async (name) => {
  const count = (await loadEncoding(name))!

  expect(await tooFast(count, hostile)).toEqual([])
  expect(await tooFast((text) => fittingChars(text, count, Infinity), hostile)).toEqual([])
})

test('the work of weighing is linear', async () => {
  expect(await tooFast((text) => fittingChars(text, tokenWeight, Infinity), hostile)).toEqual([])
})
