import type { LabelledSpan, Prediction, Truth } from './guardrail-evaluation.ts'

/** A row after its evaluation. */
export interface Scored {
  readonly text: string
  readonly truth: Truth
  readonly prediction: Prediction
}

/** Figures by name. `precision`, `recall`, `f1` and `exact` are good when high, all others when low. */
export type Figures = Readonly<Record<string, number>>

interface Counts {
  found: number
  missed: number
  exact: number
  wrong: number
  negatives: number
}

/** The quality of predictions: of all rows, and `figure:kind` or `figure:group` for the parts. */
export function scorePredictions(rows: readonly Scored[]): Figures {
  const parts = new Map<string, Counts>()
  const groups = new Set<string>()
  const values: { predicted: number; actual: number }[] = []
  const count = (part: string, figure: keyof Counts): void => {
    for (const name of ['', part]) {
      const counts = parts.get(name) ?? { found: 0, missed: 0, exact: 0, wrong: 0, negatives: 0 }
      parts.set(name, counts)
      counts[figure]++
      if (part === '') break
    }
  }
  for (const { text, truth, prediction } of rows) {
    if ('value' in truth) {
      if (!('value' in prediction)) throw new TypeError('a value was expected as the prediction')
      values.push({ predicted: prediction.value, actual: truth.value })
    } else if ('flag' in truth) {
      const flag = isFlagged(prediction)
      const part = truth.group ?? ''
      if (part !== '') groups.add(part)
      if (truth.flag) count(part, flag ? 'found' : 'missed')
      else {
        count(part, 'negatives')
        if (flag) count(part, 'wrong')
      }
    } else {
      if (!('preds' in prediction)) throw new TypeError('spans were expected as the prediction')
      countSpans(text, truth, prediction.preds, count)
    }
  }
  const figures = [...parts].flatMap(([part, counts]) =>
    Object.entries(ratios(counts))
      .filter(([name]) => !groups.has(part) || name === 'recall' || name === 'falsePositiveRate')
      .map(([name, value]) => [part ? `${name}:${part}` : name, value]),
  )
  return { ...Object.fromEntries(figures), ...deviations(values) }
}

/** Tells whether a higher figure of this name is better. */
export function isGoodWhenHigh(figure: string): boolean {
  return /^(precision|recall|f1|exact)\b/.test(figure)
}

function isFlagged(prediction: Prediction): boolean {
  if ('flag' in prediction) return prediction.flag
  if ('preds' in prediction) return prediction.preds.length > 0
  throw new TypeError('a flag or spans were expected as the prediction')
}

/** A span is found where a prediction of its kind overlaps it; one that overlaps none is wrong. */
function countSpans(
  text: string,
  { spans, scope, whole, weak }: Extract<Truth, { spans: unknown }>,
  preds: readonly LabelledSpan[],
  count: (part: string, figure: keyof Counts) => void,
): void {
  for (const kind of new Set(scope)) {
    const ofKind = (span: LabelledSpan): boolean => span.kind === kind
    const actual = spans.filter(ofKind)
    const predicted = preds.filter(ofKind)
    for (const span of actual) {
      const hits = predicted.filter((other) => overlaps(span, other))
      if (hits.length > 0) count(kind, 'found')
      else if (!weak) count(kind, 'missed')
      if (hits.some(({ start, end }) => start === span.start && end === span.end)) {
        count(kind, 'exact')
      }
    }
    for (const span of apart(predicted)) {
      if (actual.some((other) => overlaps(span, other))) continue
      if (!whole || text.slice(span.start, span.end).trim() === text.trim()) count(kind, 'wrong')
    }
  }
}

/** The spans less those that begin within an earlier one. */
function apart(spans: readonly LabelledSpan[]): LabelledSpan[] {
  const kept: LabelledSpan[] = []
  for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (span.start >= (kept.at(-1)?.end ?? 0)) kept.push(span)
  }
  return kept
}

function overlaps(a: LabelledSpan, b: LabelledSpan): boolean {
  return a.start < b.end && b.start < a.end
}

function ratios({ found, missed, exact, wrong, negatives }: Counts): Record<string, number> {
  const recall = found / (found + missed)
  const precision = found / (found + wrong)
  return {
    ...(found + wrong > 0 && { precision }),
    ...(found + missed > 0 && { recall }),
    ...(found > 0 && { f1: (2 * precision * recall) / (precision + recall) }),
    ...(exact > 0 && { exact: exact / (found + missed) }),
    ...(negatives > 0 && { falsePositiveRate: wrong / negatives }),
  }
}

/** How far counts are off: all in all, and how many rows get less than four fifths of what is right. */
function deviations(values: readonly { predicted: number; actual: number }[]): Figures {
  if (values.length === 0) return {}
  const total = values.reduce((sum, { actual }) => sum + actual, 0)
  const off = values.reduce((sum, { predicted, actual }) => sum + Math.abs(predicted - actual), 0)
  const low = values.filter(({ predicted, actual }) => predicted < actual * 0.8)
  return { meanError: off / total, tooLow: low.length / values.length }
}
