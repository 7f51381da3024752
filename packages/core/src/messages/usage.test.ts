import { expect, test } from 'vitest'
import { addUsage, laterUsage, usageSince } from './usage.ts'

test('counts are added, those of zero too', () => {
  expect(addUsage({ inputTokens: 1, own: 2 }, { inputTokens: 2, outputTokens: 0 })).toEqual({
    inputTokens: 3,
    own: 2,
    outputTokens: 0,
  })
  expect(addUsage({ inputTokens: 1 }, undefined)).toEqual({ inputTokens: 1 })
})

test('a total is the total, also of calls that reported only input and output', () => {
  const told = { inputTokens: 10, outputTokens: 5, totalTokens: 15 }
  const untold = { inputTokens: 1000, outputTokens: 500 }

  expect(addUsage(untold, told).totalTokens).toBe(1515)
  expect(addUsage(told, untold).totalTokens).toBe(1515)
  expect(addUsage(untold, untold).totalTokens).toBeUndefined()
  expect(usageSince(addUsage(untold, told), untold)).toEqual(told)
})

test.each([-1, 2 ** 53, Infinity, NaN, '1', null, undefined])('%o is no count', (value) => {
  expect(addUsage({ inputTokens: 1 }, { inputTokens: value as never })).toEqual({ inputTokens: 1 })
})

test('a counter without a value has not changed', () => {
  expect(usageSince({ inputTokens: undefined, outputTokens: 3 }, { outputTokens: 1 })).toEqual({
    outputTokens: 2,
  })
})

test.each([0, -1, NaN, undefined])('a later %o does not erase what a stream reported', (value) => {
  const before = { inputTokens: 40, outputTokens: 1 }

  const usage = laterUsage(before, { inputTokens: value, outputTokens: 9, totalTokens: 0 })

  expect(usage).toEqual({ inputTokens: 40, outputTokens: 9, totalTokens: 0 })
})
