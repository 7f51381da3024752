import { expect, test } from 'vitest'
import { copyPlain, freezePlain } from './plain-data.ts'

class Client {
  calls = 0
}

function data() {
  const bare: { a: object[] } = Object.assign(Object.create(null), { a: [{ b: 1 }] })
  return { list: [{ deep: [1] }], bare, client: new Client() }
}

test('plain objects and lists are frozen at every depth, instances of classes are not', () => {
  const { list, bare, client } = freezePlain(data())

  const plain = [list, list[0], list[0]?.deep, bare, bare.a, bare.a[0]]
  expect(plain.map((part) => Object.isFrozen(part))).toEqual(plain.map(() => true))
  expect(Object.isFrozen(client)).toBe(false)
})

test('plain objects and lists are copied at every depth, instances of classes are shared', () => {
  const original = freezePlain(data())

  const copy = copyPlain(original)
  copy.list[0]?.deep.push(2)
  copy.bare.a.push({})

  expect([copy.list, copy.bare.a]).toEqual([[{ deep: [1, 2] }], [{ b: 1 }, {}]])
  expect([original.list, original.bare.a]).toEqual([[{ deep: [1] }], [{ b: 1 }]])
  expect(copy.client).toBe(original.client)
})

test('a copy can be edited, and has its parts as often as the original and in the same places', () => {
  const shared = { a: 1 }
  const original: Record<string, unknown> = { first: shared, second: shared }
  original['self'] = original

  const copy = copyPlain(original)

  expect(copy['first']).toBe(copy['second'])
  expect(copy['self']).toBe(copy)
  copy['first'] = 2
  delete copy['second']
  expect(copy).toEqual({ first: 2, self: copy })
})
