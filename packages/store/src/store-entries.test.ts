import { describe, expect, test } from 'vitest'
import { storeEntries } from './store-entries.ts'

const entries = storeEntries({ owner: 'myStore', maxValueBytes: 12 })

describe('storeEntries', () => {
  test('keeps a number as a number, and every other value as JSON', () => {
    expect(entries.value(1.5)).toEqual({ number: 1.5, text: null })
    expect(entries.value('1.5')).toEqual({ number: null, text: '"1.5"' })
    expect(entries.value({ n: [1] })).toEqual({ number: null, text: '{"n":[1]}' })
    expect(entries.value(Number.NaN)).toEqual({ number: null, text: 'null' })
  })

  test('reads what it kept', () => {
    for (const value of [0, 1.5, '1.5', null, { n: [1] }]) {
      const { text, number } = entries.value(value)
      expect(entries.read(text, number)).toEqual(value)
    }
  })

  test.each([undefined, () => 1])('refuses a value that JSON cannot hold: %s', (value) => {
    expect(() => entries.value(value)).toThrow('myStore: `value` must be JSON')
  })

  test('expects a value as it is kept, and nothing as nothing', () => {
    expect(entries.expected({ n: 1 })).toEqual({ number: null, text: '{"n":1}' })
    expect(entries.expected(2)).toEqual({ number: 2, text: null })
    expect(entries.expected(undefined)).toBeUndefined()
  })

  test.each(['', 'session:1', 'a'.repeat(1024), 'é'.repeat(512), '🙂'])(
    'takes a key of Unicode text of up to 1024 bytes',
    (key) => {
      expect(entries.key(key)).toBe(key)
    },
  )

  test.each(['a'.repeat(1025), `${'é'.repeat(512)}a`])('refuses a larger key', (key) => {
    expect(() => entries.key(key)).toThrow('myStore: a key is larger than 1024 bytes')
    expect(() => entries.key(key)).toThrow(expect.objectContaining({ code: 'store_limit' }))
  })

  test.each([
    ['a number', 1],
    ['U+0000', 'a\0b'],
    ['half of a character', '\ud83d'],
  ])('refuses %s as a key, without showing it', (_, key) => {
    const problem = 'myStore: `key` must be Unicode text without U+0000'
    expect(() => entries.key(key as string)).toThrow(new TypeError(problem))
  })

  test.each(['x'.repeat(10), 'é'.repeat(5)])('takes a value of maxValueBytes', (value) => {
    expect(entries.value(value).text).toBe(JSON.stringify(value))
  })

  test.each(['x'.repeat(11), 'é'.repeat(6)])('refuses a larger value', (value) => {
    expect(() => entries.value(value)).toThrow('myStore: a value is larger than 12 bytes')
  })

  test('an entry lives for a whole number of milliseconds, up to a thousand years', () => {
    const thousandYearsMs = 31_556_952_000_000

    expect(entries.ttl({ ttlMs: 0.5 })).toBe(1)
    expect(entries.ttl({ ttlMs: thousandYearsMs })).toBe(thousandYearsMs)
    expect(entries.ttl({ ttlMs: thousandYearsMs + 1 })).toBeUndefined()
    expect(entries.ttl(undefined)).toBeUndefined()
  })

  test.each([0, -1, Number.NaN])('refuses %s as time to live', (ttlMs) => {
    expect(() => entries.ttl({ ttlMs })).toThrow('myStore: `ttlMs` must be above 0')
  })

  test('adds finite numbers only', () => {
    expect(entries.addend(-2)).toBe(-2)
    expect(() => entries.addend(Infinity)).toThrow('myStore: `by` must be a finite number')
  })

  test.each(['{"n":', null])('an entry that is not JSON is invalid: %s', (text) => {
    const invalid = expect.objectContaining({ code: 'store_invalid' })
    expect(() => entries.read(text, null)).toThrow(invalid)
  })
})
