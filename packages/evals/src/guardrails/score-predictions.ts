import type { LabelledSpan, Prediction, Truth } from './labelled-line.ts'

/** Figures by name. `precision`, `recall`, `f1` and `exact` are good when high, all others when low. */
export type Figures = Readonly<Record<string, number>>

interface Counts {
  found: number
  missed: number
  exact: number
  wrong: number
  negatives: number
}

/** Sums predictions up: of all lines, and `figure:kind` or `figure:group` for the parts. */
export class GuardrailScores {
  readonly #parts = new Map<string, Counts>()
  readonly #groups = new Set<string>()
  readonly #values = { count: 0, total: 0, off: 0, low: 0 }

  /** @throws TypeError for a prediction that does not fit the truth */
  add(text: string, truth: Truth, prediction: Prediction): void {
    if ('value' in truth) {
      if (!('value' in prediction)) throw new TypeError('a value was expected as the prediction')
      const { value: predicted } = prediction
      this.#values.count++
      this.#values.total += truth.value
      this.#values.off += Math.abs(predicted - truth.value)
      if (predicted < truth.value * 0.8) this.#values.low++
    } else if ('flag' in truth) {
      const flag = isFlagged(prediction)
      const part = truth.group ?? ''
      if (part !== '') this.#groups.add(part)
      if (truth.flag) this.#count(part, flag ? 'found' : 'missed')
      else {
        this.#count(part, 'negatives')
        if (flag) this.#count(part, 'wrong')
      }
    } else {
      if (!('preds' in prediction)) throw new TypeError('spans were expected as the prediction')
      this.#countSpans(text, truth, prediction.preds)
    }
  }

  figures(): Figures {
    const figures = [...this.#parts].flatMap(([part, counts]) =>
      Object.entries(ratios(counts))
        .filter(
          ([name]) => !this.#groups.has(part) || name === 'recall' || name === 'falsePositiveRate',
        )
        .map(([name, value]) => [part ? `${name}:${part}` : name, value]),
    )
    const { count, total, off, low } = this.#values
    return {
      ...Object.fromEntries(figures),
      // How far counts are off in all, and how many lines get less than four fifths of the truth.
      ...(count > 0 && { meanError: off / total, tooLow: low / count }),
    }
  }

  #count(part: string, figure: keyof Counts): void {
    for (const name of new Set(['', part])) {
      const counts = this.#parts.get(name) ?? none()
      this.#parts.set(name, counts)
      counts[figure]++
    }
  }

  /** A span is found where a prediction of its kind overlaps it; one that overlaps none is wrong. */
  #countSpans(
    text: string,
    { spans, scope, whole, weak }: Extract<Truth, { spans: unknown }>,
    preds: readonly LabelledSpan[],
  ): void {
    for (const kind of new Set(scope)) {
      const ofKind = (span: LabelledSpan): boolean => span.kind === kind
      const actual = spans.filter(ofKind)
      const predicted = preds.filter(ofKind)
      for (const span of actual) {
        const hits = predicted.filter((other) => overlaps(span, other))
        if (hits.length > 0) this.#count(kind, 'found')
        else if (!weak) this.#count(kind, 'missed')
        if (hits.some(({ start, end }) => start === span.start && end === span.end)) {
          this.#count(kind, 'exact')
        }
      }
      for (const span of apart(predicted)) {
        if (actual.some((other) => overlaps(span, other))) continue
        if (!whole || text.slice(span.start, span.end).trim() === text.trim())
          this.#count(kind, 'wrong')
      }
    }
  }
}

/** Tells whether a higher figure of this name is better. */
export function isGoodWhenHigh(figure: string): boolean {
  return /^(precision|recall|f1|exact)\b/.test(figure)
}

function none(): Counts {
  return { found: 0, missed: 0, exact: 0, wrong: 0, negatives: 0 }
}

function isFlagged(prediction: Prediction): boolean {
  if ('flag' in prediction) return prediction.flag
  if ('preds' in prediction) return prediction.preds.length > 0
  throw new TypeError('a flag or spans were expected as the prediction')
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
