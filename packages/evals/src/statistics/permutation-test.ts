import { randomNumbers } from './random-numbers.ts'
import { meanOf } from './score-interval.ts'

/** Scores of one case in both evaluations, at least one each. */
export interface PairedScores {
  readonly before: readonly number[]
  readonly after: readonly number[]
}

/** Difference of two evaluations of the same cases. */
export interface ScoreChange {
  /** Mean of the cases' differences, after less before. */
  readonly difference: number
  /** Probability of a fall at least as large if nothing has changed. */
  readonly worseP: number
  /** Probability of a rise at least as large if nothing has changed. */
  readonly betterP: number
}

const permutations = 9_999

/**
 * Tests if the runs of each case could have been drawn from one agent: permutes runs within their case. It
 * assumes no distribution, and with one run per case it is the sign-flip test of Fisher (1935). The count
 * includes the observed order, so that p is never too small (Phipson and Smyth, 2010).
 */
export function permutationTest(cases: readonly PairedScores[], seed: number): ScoreChange {
  const differenceOf = ({ before, after }: PairedScores): number => meanOf(after) - meanOf(before)
  const observed = cases.reduce((sum, pair) => sum + differenceOf(pair), 0)
  // A case whose runs all have the same score has the same difference in every order.
  const varying = cases
    .map(({ before, after }) => ({ all: [...before, ...after], before: before.length }))
    .filter(({ all }) => all.some((score) => score !== all[0]))
  const random = randomNumbers(seed)
  let worse = 1
  let better = 1
  for (let at = 0; at < permutations; at++) {
    let sum = 0
    for (const { all, before } of varying) sum += shuffledDifference(all, before, random)
    if (sum <= observed + tiny) worse++
    if (sum >= observed - tiny) better++
  }
  return {
    difference: observed / cases.length,
    worseP: worse / (permutations + 1),
    betterP: better / (permutations + 1),
  }
}

const tiny = 1e-9

/** Draws the first `before` of all scores at random, in place, and returns the difference of both parts. */
function shuffledDifference(all: number[], before: number, random: () => number): number {
  let first = 0
  let rest = 0
  for (let at = 0; at < all.length; at++) {
    if (at < before) {
      const other = at + Math.floor(random() * (all.length - at))
      const score = all[other]!
      all[other] = all[at]!
      all[at] = score
      first += score
    } else rest += all[at]!
  }
  return rest / (all.length - before) - first / before
}
