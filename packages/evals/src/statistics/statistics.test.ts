import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { permutationTest } from './permutation-test.ts'
import { randomNumbers } from './random-numbers.ts'
import { scoreInterval, studentQuantile } from './score-interval.ts'

it.each([
  [0.975, 1, 12.706],
  [0.975, 2, 4.303],
  [0.975, 3, 3.182],
  [0.995, 4, 4.604],
  [0.975, 10, 2.228],
  [0.995, 29, 2.756],
  [0.995, 100, 2.626],
])('the quantile of t for %d with %d degrees of freedom is that of the tables', (p, freedom, t) => {
  expect(studentQuantile(p, freedom)).toBeCloseTo(t, 2)
})

it('the interval of repeated runs has the true mean of the cases as often as it says', () => {
  const random = randomNumbers(3)
  const chances = Array.from({ length: 10 }, (_, at) => (at + 0.5) / 10)
  const mean = 0.5
  let covered = 0
  for (let at = 0; at < 1_000; at++) {
    const cases = chances.map((chance) =>
      Array.from({ length: 8 }, () => Number(random() < chance)),
    )
    const { low, high } = scoreInterval(cases, 0.95)
    if (low <= mean && mean <= high) covered++
  }

  expect(covered).toBeGreaterThan(920)
  expect(covered).toBeLessThan(980)
})

it('the interval contains the mean and stays between 0 and 1', () => {
  const score = fc.double({ min: 0, max: 1, noNaN: true })
  const cases = fc.array(fc.array(score, { minLength: 1, maxLength: 5 }), { minLength: 1 })
  fc.assert(
    fc.property(cases, (scores) => {
      const { mean, low, high } = scoreInterval(scores, 0.99)
      expect(low).toBeGreaterThanOrEqual(0)
      expect(high).toBeLessThanOrEqual(1)
      expect(low).toBeLessThanOrEqual(mean + 1e-9)
      expect(high).toBeGreaterThanOrEqual(mean - 1e-9)
    }),
  )
})

it('one case that always passed and never passes now is worse, if it ran often enough', () => {
  const same = { before: [1, 1], after: [1, 1] }
  const pairs = (runs: number) => [
    same,
    { before: Array.from({ length: runs }, () => 1), after: Array.from({ length: runs }, () => 0) },
  ]

  expect(permutationTest(pairs(2), 1).worseP).toBeGreaterThan(0.1)
  expect(permutationTest(pairs(6), 1)).toMatchObject({ difference: -0.5 })
  expect(permutationTest(pairs(6), 1).worseP).toBeLessThan(0.005)
})

it('the same scores are no change, whatever they are', () => {
  const score = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(fc.array(score, { minLength: 1, maxLength: 8 }), (scores) => {
      const pairs = scores.map((one) => ({ before: [one], after: [one] }))
      expect(permutationTest(pairs, 1)).toEqual({ difference: 0, worseP: 1, betterP: 1 })
    }),
    { numRuns: 20 },
  )
})
