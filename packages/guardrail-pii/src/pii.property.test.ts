import { assertChunkInvariant } from '@lamella/testing'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { entityNames } from './recognizers/entities.ts'
import { findPii, patternRecognizer, pii } from './index.ts'
import type { FindPiiOptions, PiiOptions } from './index.ts'
import { runs } from '../../../tests/support/runs.ts'

const pieces = [
  'Mail ',
  'ann@example.com',
  'a.b@c',
  '.org',
  ' ',
  '  ',
  '\n',
  ', ',
  '+1 ',
  '415 ',
  '555-',
  '0132',
  ' x12',
  'phone ',
  '5555 5555 ',
  '5555 4444',
  '123-45-6789',
  '702029921 ',
  '(SSN)',
  'ssn ',
  'GB29 ',
  'NWBK ',
  '6016 1331 9268 19',
  '10.0.0.1',
  '2001:db8::1',
  'AB ',
  '12 34 56 ',
  'C',
  'password = ',
  'hunter2hunter2',
  '-----BEGIN PRIVATE KEY-----\n',
  'MIIEvQIBADAN\n',
  '-----END PRIVATE KEY-----',
  '我的电话',
  '13812345678',
  'the',
  '\u200b',
  'é',
  '😀',
  'key: AKIAQWERTYUIOPASDFGH',
  '<EMAIL_1>',
]
const texts = fc
  .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 14 })
  .map((all) => all.join(''))

describe('a text without any clue', () => {
  // Of a text that is to be denied too, nobody knows what it looks like: so all is looked for.
  const thorough = { deny: ['\u2603'] }
  const hints =
    'password is |token was |secret, |phone |ssn |mac |ab |CD |ee:|f|ghp_|.de|a@b| |-|1|2|A1|c3d|0a|b!'
  const words = fc
    .array(fc.constantFrom(...hints.split('|')), { maxLength: 12 })
    .map((all) => all.join(''))

  // Each has only one clue, and next to nothing else.
  it.for([
    'aa bb cc dd ee ff',
    '5 5 5 - 0 1 3 2',
    'AB123456C',
    'de::ad',
    'a[at]b[dot]io',
    'a@b[dot]io',
    'www.abc',
    'password is Abcde1',
    'token: a1b2c3',
  ])('is not %s', (text) => {
    expect(findPii(text, { entities: entityNames, threshold: 0.3 })).not.toEqual([])
  })

  it('is one in which nothing is found', () => {
    fc.assert(
      fc.property(fc.oneof(texts, words, fc.string(), fc.string({ unit: 'grapheme' })), (text) => {
        for (const threshold of [0.3, 0.6]) {
          const options: FindPiiOptions = { entities: entityNames, threshold, regions: ['US'] }
          expect(findPii(text, options)).toEqual(findPii(text, { ...options, ...thorough }))
        }
      }),
      { numRuns: runs(2000) },
    )
  })
})

describe('however an answer is cut', () => {
  it.for<[string, PiiOptions<undefined>]>([
    [
      'redacted',
      { entities: ['contact', 'financial', 'gov-id-us', 'gov-id-eu', 'network', 'secrets'] },
    ],
    ['masked', { strategy: 'mask' }],
    ['blocked', { strategy: { secrets: 'block', default: 'redact' } }],
    ['denied', { deny: ['the phone', 'Mail the'] }],
    ['by sentence', { release: 'sentence' }],
    ['as a whole', { release: 'full' }],
    [
      'with recognizers of our own',
      {
        entities: [
          patternRecognizer({
            kind: 'article',
            pattern: /\bthe\b/,
            score: 0.3,
            context: /phone|Mail/,
          }),
          'email',
        ],
      },
    ],
  ])('all comes to the same, %s', async ([, options]) => {
    await fc.assert(
      fc.asyncProperty(texts, fc.integer(), (reply, seed) =>
        assertChunkInvariant(() => pii(options), {
          replies: [reply],
          chunkings: ['char', { seed, maxChars: 3 }, { seed: seed + 1 }, 'word'],
        }),
      ),
      { numRuns: runs(50) },
    )
  })

  it('all comes to the same, in a vault', async () => {
    await fc.assert(
      fc.asyncProperty(texts, fc.integer(), (reply, seed) =>
        assertChunkInvariant(() => pii({ vault: true }), {
          replies: [reply],
          chunkings: ['char', { seed, maxChars: 3 }],
        }),
      ),
      { numRuns: runs(50) },
    )
  })
})
