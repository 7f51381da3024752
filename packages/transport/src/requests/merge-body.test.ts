import { expect, test } from 'vitest'
import { mergeBody } from './merge-body.ts'

const body = { model: 'm', reasoning: { effort: 'low' }, stop: ['a'] }

test.each<[string, Record<string, unknown> | undefined, Record<string, unknown>]>([
  ['nothing', undefined, body],
  ['a field', { user: 'u' }, { ...body, user: 'u' }],
  ['a field within', { reasoning: { x: 1 } }, { ...body, reasoning: { effort: 'low', x: 1 } }],
  ['a list in place of a list', { stop: ['b'] }, { ...body, stop: ['b'] }],
  ['null in place of an object', { reasoning: null }, { ...body, reasoning: null }],
  ['undefined, which removes', { reasoning: { effort: undefined } }, { ...body, reasoning: {} }],
])('%s is laid over a body', (_, over, merged) => {
  expect(mergeBody(body, over)).toStrictEqual(merged)
  expect(body).toEqual({ model: 'm', reasoning: { effort: 'low' }, stop: ['a'] })
})

test('a field named `__proto__` is a field like any other', () => {
  const merged = mergeBody({}, JSON.parse('{"__proto__":{"polluted":true}}'))

  expect(JSON.stringify(merged)).toBe('{"__proto__":{"polluted":true}}')
  expect(Object.hasOwn(merged, '__proto__')).toBe(true)
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
})
