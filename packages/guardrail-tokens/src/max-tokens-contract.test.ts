import {
  assertChunkInvariant,
  describeContract,
  guardrailContract,
  middlewareContract,
} from '@lamella/testing'
import type { GuardrailViolation } from '@lamella/testing'
import * as fc from 'fast-check'
import { describe, it, test } from 'vitest'
import { maxTokens } from './max-tokens.ts'

const long = 'one two three four five six seven eight nine ten'

for (const action of ['block', 'replace'] as const) {
  describeContract(
    guardrailContract({
      name: `token limits that ${action}`,
      create: () =>
        maxTokens({
          maxMessageTokens: 6,
          maxOutputTokens: 6,
          maxToolArgumentsTokens: 12,
          maxToolResultTokens: 6,
          encoding: 'o200k_base',
          onExceed: action === 'block' ? 'block' : 'truncate',
        }),
      harmless: ['one two three', 'a'],
      violations: (action === 'block'
        ? (['input', 'arguments', 'result'] as const)
        : (['input', 'output', 'result'] as const)
      ).map((stage): GuardrailViolation => ({ stage, action, text: long, forbidden: 'nine' })),
      // What the application says itself has no limit.
      except:
        action === 'block' ? [] : ['output: replaces violation 2 as the response of run.stop()'],
    }),
    { describe, it },
  )
}

describeContract(
  middlewareContract({
    name: 'token limits',
    create: () =>
      maxTokens({
        maxInputTokens: 100,
        maxOutputTokens: 20,
        maxToolResultTokens: 20,
        encoding: 'o200k_base',
      }),
    texts: [`${long} ${long} ${long}`, 'one two', `a  b\n\nc   d ${long} ${long} ${long}`],
  }),
  { describe, it },
)

test.each(['o200k_base', 'estimate'] as const)(
  'any cut of a stream comes to the same: %s',
  async (encoding) => {
    const pieces = [
      'word',
      ' ',
      '  ',
      '\n',
      'é',
      '😀',
      '你好',
      'x'.repeat(70),
      '12345',
      '. ',
      '\ud83d',
    ]
    const texts = fc
      .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 40 })
      .map((list) => list.join(''))

    await fc.assert(
      fc.asyncProperty(texts, fc.integer(), fc.integer({ min: 1, max: 700 }), (text, seed, limit) =>
        assertChunkInvariant(() => maxTokens({ maxOutputTokens: limit, encoding }), {
          replies: [text],
          chunkings: ['char', { seed }],
        }),
      ),
      { numRuns: 150 },
    )
  },
)
