import { assertChunkInvariant } from '@lamella/testing'
import { array, assert, asyncProperty, constantFrom } from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../tests/support/runs.ts'
import { promptInjection } from '../index.ts'

test('however an answer is cut, the same comes of it', { timeout: 120_000 }, async () => {
  const pieces = array(
    constantFrom(
      '!',
      '[',
      ']',
      '(',
      ')',
      '<img ',
      'src="//e.example"',
      '>',
      'https://e.example/',
      'a',
      '\\',
      '\n',
      ' canary-',
      '0f',
      ':',
      'x, y',
      '![x, y]',
    ),
    { maxLength: 24 },
  )
  const holds = asyncProperty(pieces, (parts) =>
    assertChunkInvariant(() => promptInjection(), { replies: [parts.join('')], randomCuts: 3 }),
  )

  await expect(assert(holds, { numRuns: runs(60) })).resolves.toBeUndefined()
})
