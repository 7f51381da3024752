/** Mean of a score and the interval in which it would be found again. */
export interface ScoreInterval {
  readonly mean: number
  readonly low: number
  readonly high: number
}

/**
 * Interval of the mean of the cases' means. If every case ran twice or more, only the repetitions vary: the
 * variance of a stratified mean (Cochran, Sampling Techniques, 1977, 5.9). Otherwise the cases count as
 * repetitions, which gives a wider interval (Miller, Adding Error Bars to Evals, arXiv:2411.00640, 2024).
 * @param cases scores of the runs of each case, at least one each
 */
export function scoreInterval(
  cases: readonly (readonly number[])[],
  confidence: number,
): ScoreInterval {
  const means = cases.map(meanOf)
  const mean = meanOf(means)
  const isRepeated = cases.every((runs) => runs.length > 1)
  const variance = isRepeated
    ? sumOf(cases.map((runs) => varianceOf(runs) / runs.length)) / cases.length ** 2
    : varianceOf(means) / cases.length
  const freedom = isRepeated ? sumOf(cases.map((runs) => runs.length - 1)) : cases.length - 1
  if (freedom < 1) return { mean, low: 0, high: 1 }
  const half = studentQuantile((1 + confidence) / 2, freedom) * Math.sqrt(variance)
  return { mean, low: Math.max(0, mean - half), high: Math.min(1, mean + half) }
}

export function meanOf(values: readonly number[]): number {
  return sumOf(values) / values.length
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}

function varianceOf(values: readonly number[]): number {
  if (values.length < 2) return 0
  const mean = meanOf(values)
  return sumOf(values.map((value) => (value - mean) ** 2)) / (values.length - 1)
}

/** Quantile of Student's t: exact for one and two degrees of freedom, else by Hill, CACM 13(10), 1970, algorithm 396. */
export function studentQuantile(p: number, freedom: number): number {
  const tails = 2 * (1 - p)
  if (freedom === 1) return 1 / Math.tan((tails * Math.PI) / 2)
  if (freedom === 2) return Math.sqrt(2 / (tails * (2 - tails)) - 2)
  const a = 1 / (freedom - 0.5)
  const b = 48 / a ** 2
  let c = ((20700 * a) / b - 98) * a - 16 * a + 96.36
  const d = ((94.5 / (b + c) - 3) / b + 1) * Math.sqrt((a * Math.PI) / 2) * freedom
  let y = (d * tails) ** (2 / freedom)
  if (y > 0.05 + a) {
    const x = normalQuantile(tails / 2)
    y = x ** 2
    if (freedom < 5) c += 0.3 * (freedom - 4.5) * (x + 0.6)
    c += (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b
    y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x
    y = Math.expm1(a * y ** 2)
  } else {
    y =
      ((1 / (((freedom + 6) / (freedom * y) - 0.089 * d - 0.822) * (freedom + 2) * 3) +
        0.5 / (freedom + 4)) *
        y -
        1) *
        ((freedom + 1) / (freedom + 2)) +
      1 / y
  }
  return Math.sqrt(freedom * y)
}

/** Quantile of the normal distribution for p below a half: Abramowitz and Stegun, 26.2.23, off by at most 0.00045. */
function normalQuantile(p: number): number {
  const t = Math.sqrt(-2 * Math.log(p))
  const above = 2.515517 + t * (0.802853 + t * 0.010328)
  const below = 1 + t * (1.432788 + t * (0.189269 + t * 0.001308))
  return -(t - above / below)
}
