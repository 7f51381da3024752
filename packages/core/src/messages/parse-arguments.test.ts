import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseArguments } from './parse-arguments.ts'

test.each(['', ' ', '\n\t', 'null'])('%j is an object without properties', (text) => {
  expect(parseArguments(text)).toEqual({ value: {} })
})

test('a JSON object is read, explicit nulls included', () => {
  expect(parseArguments('{"city":"Paris","days":null}')).toEqual({
    value: { city: 'Paris', days: null },
  })
})

test.each(['1', '"text"', '[{"city":"Paris"}]', 'true'])(
  'JSON that is no object, %s, is an error',
  (text) => {
    expect(parseArguments(text)).toEqual({ error: 'the arguments are not a JSON object' })
  },
)

test('text that is no JSON is an error that does not quote the text', () => {
  expect(parseArguments('{"password":"hunter2"')).toEqual({
    error: 'the arguments are not valid JSON',
  })
})

test('a `__proto__` in the text is an own property and changes no prototype', () => {
  const { value } = parseArguments('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{}}}')

  expect(Object.keys(value!)).toEqual(['__proto__', 'constructor'])
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  expect(value).not.toHaveProperty('isAdmin')
  expect({}).not.toHaveProperty('isAdmin')
})

test('any JSON object goes through unchanged', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
      const text = JSON.stringify(object)
      expect(JSON.stringify(parseArguments(text).value)).toBe(text)
    }),
  )
})

test('any text is either an object or an error', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      const { value, error } = parseArguments(text)
      expect(typeof error === 'string' || (typeof value === 'object' && value !== null)).toBe(true)
    }),
  )
})
