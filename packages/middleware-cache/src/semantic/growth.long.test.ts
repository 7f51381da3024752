import { expect, test } from 'vitest'
import { tooFast } from '../../../../tests/support/growth-of-exports.ts'
import { sameFacts } from './same-facts.ts'

test.each(['@', 'a.', 'A-', '"', "n't ", '1,000', '-1', '«', 'é\u0301'])(
  'the work of comparing the facts of %j is linear',
  async (unit) => {
    expect(await tooFast((text) => sameFacts(text, text), [unit])).toEqual([])
  },
)
