import { checkOptions, wrongOption } from '@lamella/core/authoring'
import type { LabelledLine, Prediction, Truth } from './labelled-line.ts'
import { readTruth } from './labelled-line.ts'
import type { Figures } from './score-predictions.ts'
import { GuardrailScores, isGoodWhenHigh } from './score-predictions.ts'

/** Options of {@link evaluateGuardrail}. */
export interface EvaluateGuardrailOptions {
  /** Name of the evaluation. @default 'guardrail' */
  readonly name?: string | undefined
  /** Labeled lines, read one after another. */
  readonly lines: Iterable<LabelledLine> | AsyncIterable<LabelledLine>
  /** Predicts a line; see `predictWith` for a guardrail as it is used. */
  readonly predict: (line: LabelledLine) => Prediction | Promise<Prediction>
  /** Reads what is true of a line. A line without a truth is left out. @default `readTruth` */
  readonly truth?: ((line: LabelledLine) => Truth | undefined) | undefined
  /** Figures that must not get worse. @default none */
  readonly baseline?: Figures | undefined
  /** Receives each prediction. @default none */
  readonly onPrediction?: ((id: string, prediction: Prediction) => void) | undefined
  /** Source of the times, in milliseconds. @default `performance.now` */
  readonly now?: (() => number) | undefined
}

/** Durations of predictions in milliseconds. */
export interface GuardrailLatency {
  /** Half of the lines took at most this. */
  readonly median: number
  /** 99 of 100 lines took at most this. */
  readonly p99: number
  /** The slowest line took this. */
  readonly slowest: number
}

/** Result of an evaluation of a guardrail. */
export interface GuardrailEvaluation {
  /** Name of the evaluation. */
  readonly name: string
  /** `worse` if a figure got worse than the baseline, or is missing. */
  readonly verdict: 'passed' | 'worse'
  /** A sentence for each figure that got worse. */
  readonly reasons: readonly string[]
  /** Precision, recall and others, by name. */
  readonly figures: Figures
  /** Number of lines with a truth. */
  readonly lines: number
  /** Number of lines without one. */
  readonly unlabelled: number
  /** Milliseconds for a line. */
  readonly latencyMs: GuardrailLatency
}

/**
 * Measures precision, recall and latency of a guardrail on labeled lines. It is deterministic for a
 * deterministic guardrail: any figure that is worse than the baseline counts.
 * @throws TypeError that names the option and the value
 * @example
 * ```ts
 * import { evaluateGuardrail } from '@lamella/evals'
 *
 * const { figures } = await evaluateGuardrail({
 *   lines: [
 *     { id: '1', text: 'my card is 4111', label: 'positive' },
 *     { id: '2', text: 'my name is Ada', label: 'benign' },
 *   ],
 *   predict: ({ text }) => ({ flag: /\d{4}/.test(text) }),
 * })
 * console.log(figures['recall'], figures['falsePositiveRate']) // 1 0
 * ```
 */
export async function evaluateGuardrail(
  options: EvaluateGuardrailOptions,
): Promise<GuardrailEvaluation> {
  checkOptions('evaluateGuardrail', options, {
    name: 'string?',
    lines: 'any',
    predict: 'function',
    truth: 'function?',
    baseline: 'any',
    onPrediction: 'function?',
    now: 'function?',
  })
  const { name = 'guardrail', lines, predict, truth = readTruth, baseline = {} } = options
  const { now = () => performance.now(), onPrediction } = options
  const scores = new GuardrailScores()
  const times: number[] = []
  let unlabelled = 0
  for await (const line of lines) {
    if (typeof line?.id !== 'string' || typeof line.text !== 'string')
      throw wrongOption(
        'evaluateGuardrail',
        'lines',
        'objects with the texts `id` and `text`',
        line,
      )
    const actual = truth(line)
    if (actual === undefined) {
      unlabelled++
      continue
    }
    const start = now()
    const prediction = await predict(line)
    times.push(now() - start)
    onPrediction?.(line.id, prediction)
    scores.add(line.text, actual, prediction)
  }
  if (times.length === 0) throw new RangeError(`${name}: \`lines\` has no labeled line`)
  const figures = scores.figures()
  const worse = Object.entries(baseline).filter(([figure, limit]) => {
    const value = figures[figure]
    if (value === undefined) return true
    return isGoodWhenHigh(figure) ? value < limit - rounding : value > limit + rounding
  })
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.ceil(sorted.length * share) - 1]!
  return {
    name,
    verdict: worse.length > 0 ? 'worse' : 'passed',
    reasons: worse.map(
      ([figure, limit]) => `${figure} is ${shownFigure(figures[figure])}, was ${limit}.`,
    ),
    figures,
    lines: times.length,
    unlabelled,
    latencyMs: { median: at(0.5), p99: at(0.99), slowest: at(1) },
  }
}

/** Draws an evaluation of a guardrail as text for a terminal or a log. */
export function guardrailTable(evaluation: GuardrailEvaluation): string {
  const { name, verdict, reasons, figures, lines, unlabelled, latencyMs } = evaluation
  const { median, p99, slowest } = latencyMs
  return [
    `${name}: ${verdict}`,
    `  ${lines} labeled lines${unlabelled === 0 ? '' : `, ${unlabelled} without a label`}`,
    ...reasons.map((reason) => `  ${reason}`),
    ...Object.entries(figures).map(
      ([figure, value]) => `  ${figure.padEnd(44)} ${shownFigure(value)}`,
    ),
    `  latency of a line: median ${median.toFixed(3)} ms, p99 ${p99.toFixed(3)} ms, slowest ${slowest.toFixed(3)} ms`,
  ].join('\n')
}

/** Figures of a baseline are rounded to four digits. */
const rounding = 0.0001

function shownFigure(value: number | undefined): string {
  return value === undefined ? 'missing' : value.toFixed(4)
}
