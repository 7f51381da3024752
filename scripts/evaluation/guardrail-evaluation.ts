/** One labelled line of a corpus. */
export interface EvaluationRow {
  readonly id: string
  readonly text: string
  readonly [field: string]: unknown
}

/** A stretch of a row's text, in UTF-16 units. */
export interface LabelledSpan {
  readonly kind: string
  readonly start: number
  readonly end: number
}

/** Prediction of a guardrail for a row: that it trips, what it finds, or how much it counts. */
export type Prediction =
  | { readonly flag: boolean; readonly score?: number | undefined }
  | { readonly preds: readonly LabelledSpan[] }
  | { readonly value: number }

/** Truth about a row, in the words of the predictions. */
export type Truth =
  | {
      readonly flag: boolean
      /** Its recall, or its false positives, are told apart from the others'. */
      readonly group?: string | undefined
    }
  | {
      readonly spans: readonly LabelledSpan[]
      /** The kinds that are labelled completely in this row; others do not count. */
      readonly scope: readonly string[]
      /** Only a prediction of all the text counts as false. */
      readonly whole?: boolean | undefined
      /** A span that is not found does not count. */
      readonly weak?: boolean | undefined
    }
  | { readonly value: number }

/** Exported as `evaluation` by the `eval/predict.ts` of a guardrail. */
export interface GuardrailEvaluation {
  predict(row: EvaluationRow): Prediction | Promise<Prediction>
  /**
   * Reads what is true of a row; a row without a truth is left out.
   * @default `readTruth`
   */
  truth?(row: EvaluationRow): Truth | undefined
}

const positive: readonly unknown[] = ['positive', 'harmful', 'attack', true]

/**
 * The truth of a row with `spans` and `scope`, else of one with a `label`. A positive row is grouped by
 * `tier`, any other by the first word of `family`, and either else by `type`.
 */
export function readTruth(row: EvaluationRow): Truth {
  if (Array.isArray(row['spans'])) {
    const spans: readonly LabelledSpan[] = row['spans']
    const scope = (row['scope'] as readonly string[] | undefined) ?? spans.map(({ kind }) => kind)
    return { spans, scope, whole: row['match'] === 'whole', weak: row['weak'] === true }
  }
  const flag = positive.includes(row['label'])
  const { tier, family, type } = row as Partial<Record<string, string>>
  return { flag, group: (flag ? tier : family?.split(':')[0]) ?? type }
}
