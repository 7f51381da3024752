import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { CallIds } from './call-ids.ts'

test.each([
  ['an id of its own stays', 'D681PevKs', true, 'D681PevKs'],
  ['the end of a foreign one stays', 'call_PTLP8aAbBcCdD', false, '8aAbBcCdD'],
  ['a short one is filled', 'x', false, '00000000x'],
  ['one without letters is filled', '…', false, '000000000'],
  ['its own in another form is rewritten', 'D681-PevKs', true, 'D681PevKs'],
])('in an exact form, %s', (_, id, isOwn, legal) => {
  expect(new CallIds(9, true).legal(id, isOwn)).toBe(legal)
})

test('ids in an exact form are legal, and no two are the same', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string(), fc.boolean())), (calls) => {
      const ids = new CallIds(9, true)
      const legal = calls.map(([id, isOwn]) => ids.legal(id, isOwn))

      for (const id of legal) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/)
      expect(new Set(legal).size).toBe(legal.length)
    }),
  )
})
