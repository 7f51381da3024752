/** One labeled line of text. Fields besides these may tell a prediction more. */
export interface LabelledLine {
  /** Name of the line. */
  readonly id: string
  /** Text that is judged. */
  readonly text: string
  readonly [field: string]: unknown
}

/** A range of a line's text, in UTF-16 units. */
export interface LabelledSpan {
  /** Kind of what is there, such as `email`. */
  readonly kind: string
  /** Index of the first unit. */
  readonly start: number
  /** Index behind the last unit. */
  readonly end: number
}

/** Prediction of a guardrail for a line: that it trips, its findings, or a count. */
export type Prediction =
  | {
      /** True if it trips. */
      readonly flag: boolean
      /** Certainty, for further analysis. @default none */
      readonly score?: number | undefined
    }
  | {
      /** Findings. */
      readonly preds: readonly LabelledSpan[]
    }
  | {
      /** Count, such as a number of tokens. */
      readonly value: number
    }

/** Truth about a line, in the words of the predictions. */
export type Truth =
  | {
      /** True if the guardrail should trip. */
      readonly flag: boolean
      /** Group whose recall, or false positives, are told apart from the others'. @default none */
      readonly group?: string | undefined
    }
  | {
      /** Findings that are right. */
      readonly spans: readonly LabelledSpan[]
      /** Kinds that are labeled completely in this line; others do not count. */
      readonly scope: readonly string[]
      /** Counts only a prediction of all the text as false. @default false */
      readonly whole?: boolean | undefined
      /** Does not count a span that is not found. @default false */
      readonly weak?: boolean | undefined
    }
  | {
      /** Count that is right. */
      readonly value: number
    }

const positive: readonly unknown[] = ['positive', 'harmful', 'attack', true]

/**
 * Reads the truth of a line with `spans` and `scope`, else of one with a `label`; a line without either has
 * none. The labels `positive`, `harmful`, `attack` and `true` should trip, all others should not. A positive
 * line is grouped by `tier`, any other by the first word of `family`, and either else by `type`.
 */
export function readTruth(line: LabelledLine): Truth | undefined {
  if (Array.isArray(line['spans'])) {
    const spans: readonly LabelledSpan[] = line['spans']
    const scope = (line['scope'] as readonly string[] | undefined) ?? spans.map(({ kind }) => kind)
    return { spans, scope, whole: line['match'] === 'whole', weak: line['weak'] === true }
  }
  if (line['label'] === undefined) return undefined
  const flag = positive.includes(line['label'])
  const { tier, family, type } = line as Partial<Record<string, string>>
  return { flag, group: (flag ? tier : family?.split(':')[0]) ?? type }
}
