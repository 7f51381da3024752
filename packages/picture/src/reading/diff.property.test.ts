import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { diff, diffLines, diffWords } from './diff.ts'
import { runs } from '../../../../tests/support/runs.ts'

const list = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 })

it('tells both lists, for any two', () => {
  fc.assert(
    fc.property(list, list, (before, after) => {
      const parts = diff(before, after)
      const of = (kind: string) =>
        parts
          .filter((part) => part.kind === 'same' || part.kind === kind)
          .flatMap(({ items }) => items)

      expect(of('removed')).toEqual(before)
      expect(of('added')).toEqual(after)
    }),
    { numRuns: runs(500) },
  )
})

it('finds the least that differs', () => {
  expect(diffWords('write to a@b.c today', 'write to [email] today')).toEqual([
    { kind: 'same', items: ['write', ' ', 'to', ' '] },
    { kind: 'removed', items: ['a@b.c'] },
    { kind: 'added', items: ['[email]'] },
    { kind: 'same', items: [' ', 'today'] },
  ])
  expect(diffLines('a\nb\n', 'a\nc\nb\n').map(({ kind }) => kind)).toEqual([
    'same',
    'added',
    'same',
  ])
})

it('does not compare lists that have nothing in common, and still tells both', () => {
  const before = Array.from({ length: 3000 }, (_, at) => `a${at}`)
  const after = Array.from({ length: 3000 }, (_, at) => `b${at}`)

  expect(diff(before, after).map(({ kind, items }) => [kind, items.length])).toEqual([
    ['removed', 3000],
    ['added', 3000],
  ])
})
