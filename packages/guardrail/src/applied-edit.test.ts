import { expect, test } from 'vitest'
import type { AppliedEdit } from './applied-edit.ts'
import { edited, insert } from './applied-edit.ts'

const edit = (start: number, end: number, replacement: string): AppliedEdit => ({
  start,
  end,
  replacement,
})

test.each<[string, readonly AppliedEdit[], string]>([
  ['apart, in any order', [edit(0, 1, 'a'), edit(8, 9, 'c'), edit(4, 5, 'b')], 'a123b567c9'],
  ['that touch stay two', [edit(3, 6, 'b'), edit(0, 3, 'a')], 'ab6789'],
  ['that overlap become one', [edit(2, 5, 'a'), edit(4, 8, 'b')], '01a89'],
  ['that overlap have the replacement of the first', [edit(4, 8, 'b'), edit(2, 5, 'a')], '01a89'],
  [
    'that begin together have that of the earlier one',
    [edit(2, 4, 'a'), edit(2, 6, 'b')],
    '01a6789',
  ],
])('edits %s', (_, made, expected) => {
  const edits: AppliedEdit[] = []

  for (const each of made) insert(edits, each)

  expect(edited('0123456789', 0, 0, 10, edits)).toBe(expected)
})

test('a piece of a text has the replacements that begin in it', () => {
  const edits = [edit(0, 2, 'a'), edit(3, 5, 'b'), edit(7, 9, 'c')]

  const pieces = [edited('0123', 0, 0, 4, edits), edited('45678', 4, 4, 8, edits)]

  expect(pieces).toEqual(['a2b', '56c'])
})
