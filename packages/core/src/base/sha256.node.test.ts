import { expect, test } from 'vitest'
import { sha256 } from './sha256.ts'

test('on Node a hash is there at once', () => {
  expect(sha256('abc')).toBeTypeOf('string')
})
