import * as fc from 'fast-check'
import { test } from 'vitest'
import type { MiddlewareInput } from '../../packages/core/src/index.ts'
import { guardrail } from '../../packages/guardrail/src/index.ts'
import { contentFilter } from '../../packages/guardrail-content/src/index.ts'
import { promptInjection } from '../../packages/guardrail-injection/src/index.ts'
import { llmJudge } from '../../packages/guardrail-judge/src/index.ts'
import { pii } from '../../packages/guardrail-pii/src/index.ts'
import { maxTokens } from '../../packages/guardrail-tokens/src/index.ts'
import {
  assertChunkInvariant,
  assertSealed,
  scriptedClient,
} from '../../packages/testing/src/index.ts'
import { runs } from '../support/runs.ts'

// Guardrails of all release policies in one list, in any order, over answers that are cut anywhere.

/** A new one for each list, since it keeps the requests. */
const judge = () =>
  scriptedClient(({ instructions = '', messages }) => {
    const [ticket] = instructions.match(/verdict_\w+/) ?? []
    const isRude = JSON.stringify(messages).includes('nincompoop')
    return JSON.stringify({ ticket, scores: { rude: isRude ? 1 : 0 } })
  })

const guardrails: Readonly<Record<string, () => MiddlewareInput>> = {
  'words, window': () =>
    contentFilter({
      words: { sea: ['swordfish', 'red herring'] },
      action: 'replace',
      applyTo: ['output'],
    }),
  'words, passthrough': () => contentFilter({ name: 'seen', words: ['trout'], action: 'flag' }),
  'words that block': () => contentFilter({ name: 'no', words: ['anathema'] }),
  'pii, window': () => pii(),
  'pii, sentence': () => pii({ name: 'pii-2', strategy: 'mask', release: 'sentence' }),
  'images, window': () => promptInjection(),
  'judge, full': () =>
    llmJudge({
      client: judge(),
      criteria: [{ id: 'rude', question: 'Is it rude?', failIf: 'yes' }],
    }),
  'async, sentence': () =>
    guardrail({
      name: 'async',
      applyTo: ['output'],
      stream: { release: 'sentence' },
      check: async ({ text }) => {
        await Promise.resolve()
        const spans = [...text.matchAll(/blub/g)].map(({ index }) => ({
          start: index,
          end: index + 4,
        }))
        return spans.length > 0
          ? { action: 'replace', replacement: '~', spans }
          : { action: 'allow' }
      },
    }),
  tokens: () => maxTokens({ maxOutputTokens: 30 }),
}
const pieces = [
  'A ',
  'swordfish',
  'red ',
  'herring',
  '\n',
  '. ',
  '! ',
  'trout ',
  'ann@example',
  '.com ',
  '+1 415 ',
  '555-0132',
  ' the end',
  '![i](https://',
  'evil.example/x',
  ')',
  ' blub',
  ', ',
  'é',
  '😀',
  '\u200b',
  '4111 1111 ',
  '1111 1111',
  'word ',
]
const ends = ['', 'anathema', ' nincompoop.']
const answers = fc
  .tuple(
    fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 16 }),
    fc.constantFrom(...ends),
  )
  .map(([all, end]) => all.join('') + end)
const lists = fc.shuffledSubarray(Object.keys(guardrails), { minLength: 2 })

test('all comes to the same, however an answer is cut', async () => {
  await fc.assert(
    fc.asyncProperty(answers, lists, fc.integer(), (reply, names, seed) =>
      assertChunkInvariant(() => names.map((name) => guardrails[name]!()), {
        replies: [reply],
        chunkings: ['char', { seed, maxChars: 3 }, { seed: seed + 1 }, 'word'],
      }),
    ),
    { numRuns: runs(150) },
  )
})

test.each([
  ['swordfish', 'replace'],
  ['ann@example.com', 'replace'],
  ['blub', 'replace'],
  ['anathema', 'block'],
  ['nincompoop', 'block'],
] as const)('%s is sealed, whoever stands inside and outside', async (forbidden, action) => {
  const names = Object.keys(guardrails).filter((name) => name !== 'tokens')
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(names, { minLength: names.length }), (order) =>
      assertSealed(() => order.map((name) => guardrails[name]!()), {
        text: `The first. One trout and ${forbidden}, as they say. The end`,
        forbidden,
        action,
        chunkings: ['char', 'word', { seed: 1, maxChars: 3 }, { seed: 2 }],
      }),
    ),
    { numRuns: Math.ceil(runs(15) / 2) },
  )
})
