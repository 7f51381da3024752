import {
  assertChunkInvariant,
  describeContract,
  guardrailContract,
  middlewareContract,
} from '@lamella/testing'
import type { JudgedStage, GuardrailViolation } from '@lamella/testing'
import * as fc from 'fast-check'
import { describe, it, test } from 'vitest'
import { contentFilter } from './content-filter.ts'
import type { ContentFilterOptions } from './content-filter-options.ts'

const stages: readonly JudgedStage[] = ['input', 'output', 'arguments', 'result']
const words = ['swordfish', 'Moby', 'mother in law', 'fish*']
const allow = ['Moby Dick']
const harmless = ['A tuna.', 'fis', 'Moby Dick', 'sword, fish-less', 'mother in', 'mobydick']
const dirty = [
  'It is swordfish, yes',
  'swo\u200brdfish',
  'ѕwordfish',
  'fishy',
  'a mother-in-law x',
  'Moby D',
]

for (const action of ['block', 'replace'] as const) {
  const create = () => contentFilter({ words, allow, action, leet: true, applyTo: stages })
  describeContract(
    guardrailContract({
      name: `words, with ${action}`,
      create,
      harmless: harmless.filter((text) => !text.includes('fish')),
      violations: dirty.flatMap((text) =>
        stages.map(
          (stage): GuardrailViolation => ({
            stage,
            action,
            text,
            forbidden: /\S*fish\S*|mother-in-law|Moby/.exec(text.replace(',', ' '))![0],
          }),
        ),
      ),
    }),
    { describe, it },
  )
  // A block leaves early, so that a stream knows of no usage.
  const texts = action === 'replace' ? [...dirty, ...harmless] : []
  describeContract(
    middlewareContract({ name: `a content filter that is to ${action}`, create, texts }),
    { describe, it },
  )
}

const pieces = [
  'swordfish',
  'sword',
  'fish',
  'Moby',
  'Dick',
  ' ',
  '-',
  'mother',
  'in',
  'law',
  'ѕ',
  'o',
  's w o',
  ' r d f',
  '\u200b',
  'バカ',
  'ｆ',
  '1',
  '.',
  '\n',
  '😀',
  'e\u0301',
  '#12',
  '345',
]
const all: ContentFilterOptions = { words: [...words, 'バカ'], allow, leet: true }

test.each<[string, ContentFilterOptions]>([
  ['words', all],
  ['parts of words', { ...all, wholeWord: false }],
  ['patterns', { patterns: [/#\d{3,5}/, 'sword ?fish'], stream: { holdChars: 20 } }],
  ['words of several actions', { ...all, words: { a: words, b: ['in'] }, actions: { b: 'flag' } }],
])('any cut of a stream comes to the same: %s', async (_, options) => {
  const texts = fc
    .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 14 })
    .map((list) => list.join(''))

  await fc.assert(
    fc.asyncProperty(texts, fc.integer(), (text, seed) =>
      assertChunkInvariant(() => contentFilter({ ...options, action: 'replace' }), {
        replies: [text],
        chunkings: ['char', { seed }],
      }),
    ),
    { numRuns: 150 },
  )
})
