import { expect, test } from 'vitest'
import { recordOf, stringOf } from './wire.ts'

test.each([null, undefined, 'text', 1, true])('%j has no fields', (value) => {
  expect(recordOf(value)).toEqual({})
})

test.each<[unknown, string | undefined]>([
  ['text', 'text'],
  ['', undefined],
  [1, undefined],
  [null, undefined],
])('%j holds the text %j', (value, text) => {
  expect(stringOf(value)).toBe(text)
})
