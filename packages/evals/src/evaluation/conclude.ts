import { permutationTest } from '../statistics/permutation-test.ts'
import { meanOf, scoreInterval } from '../statistics/score-interval.ts'
import type { Evaluation, Latency, ScoreComparison, ScoreSummary, Verdict } from './evaluation.ts'
import type { Tally } from './tally.ts'

/** Facts that a verdict depends on, besides the runs. */
export interface Yardstick {
  readonly name: string
  readonly checks: readonly string[]
  readonly scores: readonly { readonly name: string; readonly threshold?: number | undefined }[]
  /** Probability, for an agent that has not changed, that no score is reported as worse. */
  readonly confidence: number
  /** Fall of a score that is not worth a report, if it may be noise. */
  readonly tolerance: number
  /** Seed of the permutations. */
  readonly seed: number
}

/** Draws the conclusion from the runs so far. */
export function conclude(
  yardstick: Yardstick,
  tally: Tally,
  baseline?: Tally,
  ended?: 'budget',
): Evaluation {
  const checks = yardstick.checks.map((name) => tally.checkSummary(name))
  const scores = yardstick.scores.map((score) => summaryOf(score, yardstick, tally, baseline))
  const reasons: [Verdict, string][] = []
  if (tally.errors > 0) reasons.push(['failed', `${ofRuns(tally.errors, tally.runs)} threw.`])
  for (const { name, runs, failed } of checks) {
    if (failed > 0) reasons.push(['failed', `${name} failed in ${ofRuns(failed, runs)}.`])
  }
  for (const score of scores) reasons.push(...reasonsOf(score, yardstick))
  if (ended !== undefined)
    reasons.push(['undecided', `The budget ended the evaluation after ${tally.runs} runs.`])
  const isCompared = scores.some((score) => score.baseline !== undefined)
  if (baseline !== undefined && scores.length > 0 && !isCompared)
    reasons.push(['undecided', 'The baseline has none of these cases with these scores.'])
  const verdict = order.find((one) => reasons.some(([kind]) => kind === one)) ?? 'passed'
  return {
    name: yardstick.name,
    verdict,
    reasons: order.flatMap((one) =>
      reasons.filter(([kind]) => kind === one).map(([, reason]) => reason),
    ),
    runs: tally.runs,
    ended,
    checks,
    scores,
    cases: tally.ids.map((id) => tally.caseSummary(id, baseline)),
    tokens: tally.tokens,
    costUsd: tally.costUsd,
    latencyMs: latencyOf(tally.latencies),
  }
}

/** The most severe first. */
const order = ['failed', 'worse', 'undecided'] as const

function summaryOf(
  { name, threshold }: Yardstick['scores'][number],
  { confidence, tolerance, scores, seed }: Yardstick,
  tally: Tally,
  before: Tally | undefined,
): ScoreSummary {
  const cases = tally.ids.map((id) => tally.scoresOf(id, name)).filter(({ length }) => length > 0)
  const runs = cases.reduce((sum, { length }) => sum + length, 0)
  const interval =
    runs === 0 ? { mean: Number.NaN, low: 0, high: 1 } : scoreInterval(cases, confidence)
  // Bonferroni: all scores together raise a false alarm with the chosen probability at most.
  const alpha = (1 - confidence) / scores.length
  const baseline = before && comparison(name, tally, before, { alpha, seed })
  const verdict = verdictOf({ ...interval, threshold, baseline }, tolerance)
  return { name, ...interval, runs, threshold, baseline, verdict }
}

function comparison(
  name: string,
  tally: Tally,
  before: Tally,
  { alpha, seed }: { readonly alpha: number; readonly seed: number },
): ScoreComparison | undefined {
  const pairs = tally.ids
    .map((id) => ({ before: before.scoresOf(id, name, tally), after: tally.scoresOf(id, name) }))
    .filter((pair) => pair.before.length > 0 && pair.after.length > 0)
  if (pairs.length === 0) return undefined
  const { difference, worseP, betterP } = permutationTest(pairs, seed)
  const change = worseP <= alpha ? 'worse' : betterP <= alpha ? 'better' : 'none'
  return {
    mean: meanOf(pairs.map((pair) => meanOf(pair.before))),
    difference,
    p: difference < 0 ? worseP : betterP,
    cases: pairs.length,
    change,
  }
}

function verdictOf(
  {
    mean,
    high,
    threshold = 0,
    baseline,
  }: Pick<ScoreSummary, 'mean' | 'high' | 'threshold' | 'baseline'>,
  tolerance: number,
): Verdict {
  if (high < threshold) return 'failed'
  if (baseline?.change === 'worse') return 'worse'
  const fell = baseline !== undefined && baseline.difference < -tolerance
  return mean < threshold || fell ? 'undecided' : 'passed'
}

function reasonsOf(score: ScoreSummary, { tolerance }: Yardstick): [Verdict, string][] {
  const { name, mean, low, high, threshold, baseline } = score
  const interval = `${mean.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`
  const reasons: [Verdict, string][] = []
  if (threshold !== undefined && mean < threshold) {
    const isSure = high < threshold
    const below = `${name} is ${interval}, below its threshold ${threshold}`
    reasons.push(isSure ? ['failed', `${below}.`] : ['undecided', `${below}, ${few}.`])
  }
  if (baseline !== undefined && (baseline.change === 'worse' || baseline.difference < -tolerance)) {
    const fell = `${name} fell by ${(-baseline.difference).toFixed(3)} against the baseline (p = ${baseline.p.toFixed(4)})`
    const isSure = baseline.change === 'worse'
    reasons.push(isSure ? ['worse', `${fell}.`] : ['undecided', `${fell}, ${few}.`])
  }
  return reasons
}

const few = 'which with so few runs may be noise'

function ofRuns(count: number, all: number): string {
  return `${count} of ${all} ${all === 1 ? 'run' : 'runs'}`
}

function latencyOf(latencies: readonly number[]): Latency {
  const sorted = latencies.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.ceil(sorted.length * share) - 1] ?? 0
  return { median: at(0.5), p95: at(0.95) }
}
