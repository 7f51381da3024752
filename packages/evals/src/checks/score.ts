import { checkOptions, wrongOption } from '@lamella/core/authoring'
import type { EvaluatedRun } from '../runs/evaluated-run.ts'
import { transcriptOf } from '../runs/evaluated-run.ts'
import type { Check, Given } from './check.ts'

/** A measure of quality. Its mean has an interval, and is compared with a threshold and a baseline. */
export interface Score {
  /** Name in tables and reports, unique in an evaluation. */
  readonly name: string
  /** Lowest mean that passes, from 0 to 1. @default none: only compared with the baseline */
  readonly threshold?: number | undefined
  /** Returns a number from 0 to 1, the higher the better, or `undefined` if the score does not apply to the case. */
  score(run: EvaluatedRun): number | undefined | Promise<number | undefined>
}

/** Options that all scores share. */
export interface ScoreOptions {
  /** Lowest mean that passes, from 0 to 1. @default none: only compared with the baseline */
  readonly threshold?: number | undefined
}

/**
 * Creates a score from a function.
 * @throws TypeError or RangeError that names the value
 * @example
 * ```ts
 * import { score } from '@lamella/evals'
 *
 * const brevity = score('brevity', ({ text }) => 1 / (1 + text.length / 400), { threshold: 0.5 })
 * console.log(brevity.threshold) // 0.5
 * ```
 */
export function score(
  name: string,
  measure: Score['score'],
  { threshold }: ScoreOptions = {},
): Score {
  const own: Score = { name, threshold, score: measure }
  checkOptions('score', own, { name: 'string', threshold: 'any', score: 'function' })
  if (threshold !== undefined && !(threshold >= 0 && threshold <= 1))
    throw wrongOption('score', 'threshold', 'a number from 0 to 1', threshold)
  return own
}

/** Scores how many runs pass a check: for what a model does most of the time, and not always. */
export function rate(check: Check, options: ScoreOptions = {}): Score {
  return score(
    check.name,
    async (run) => {
      const result = await check.run(run)
      return result === undefined ? undefined : Number(result === true)
    },
    options,
  )
}

/** Options of {@link judged}. */
export interface JudgedOptions extends ScoreOptions {
  /** Text that is judged. @default the conversation, as paragraphs that begin with `User:` or `Assistant:` */
  readonly text?: ((run: EvaluatedRun) => string | undefined) | undefined
}

/**
 * Scores with a judge: a function from a text to a number from 0 to 1, such as `judgeScore()` of
 * `@lamella/guardrail-judge`.
 */
export function judged(
  name: string,
  judge: (text: string, context: { readonly signal: AbortSignal }) => Promise<number> | number,
  { text = transcriptOf, threshold }: JudgedOptions = {},
): Score {
  return score(
    name,
    (run) => {
      const subject = text(run)
      return subject === undefined ? undefined : judge(subject, { signal: run.signal })
    },
    { threshold },
  )
}

/** Options of {@link similarity}. */
export interface SimilarityOptions extends ScoreOptions {
  /** Name of the score. @default 'similarity' */
  readonly name?: string | undefined
  /** Text that the answer is compared with. @default `expected` of the case, if it is a text */
  readonly to?: Given<string> | undefined
  /**
   * Returns the vector of a text, for similarity by meaning: the cosine, 0 if it is negative.
   * @default none: common words, as in SQuAD
   */
  readonly embed?:
    | ((
        text: string,
        context: { readonly signal: AbortSignal },
      ) => Promise<readonly number[]> | readonly number[])
    | undefined
}

/**
 * Scores how similar the answer is to an expected one. Without `embed`, it is the harmonic mean of precision
 * and recall of words (Rajpurkar and others, SQuAD, 2016).
 * @example
 * ```ts
 * import { similarity } from '@lamella/evals'
 *
 * const scores = [similarity({ threshold: 0.6 })]
 * console.log(scores[0]?.name) // similarity
 * ```
 */
export function similarity(options: SimilarityOptions = {}): Score {
  checkOptions('similarity', options, {
    name: 'string?',
    to: 'any',
    embed: 'function?',
    threshold: 'any',
  })
  const { name = 'similarity', to = ({ expected }) => expected, embed, threshold } = options
  return score(
    name,
    async ({ case: of, text, signal }) => {
      const wanted: unknown = typeof to === 'function' ? to(of) : to
      if (typeof wanted !== 'string') return undefined
      if (embed === undefined) return commonWords(text, wanted)
      const [left, right] = await Promise.all([embed(text, { signal }), embed(wanted, { signal })])
      return cosine(left, right)
    },
    { threshold },
  )
}

function commonWords(text: string, wanted: string): number {
  const words = (of: string): string[] => of.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const [said, expected] = [words(text), words(wanted)]
  const left = new Map<string, number>()
  for (const word of expected) left.set(word, (left.get(word) ?? 0) + 1)
  let common = 0
  for (const word of said) {
    const count = left.get(word) ?? 0
    if (count === 0) continue
    common++
    left.set(word, count - 1)
  }
  return said.length + expected.length === 0 ? 1 : (2 * common) / (said.length + expected.length)
}

function cosine(left: readonly number[], right: readonly number[]): number {
  const dot = (a: readonly number[], b: readonly number[]): number =>
    a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0)
  const length = Math.sqrt(dot(left, left) * dot(right, right))
  return length === 0 ? 0 : Math.min(1, Math.max(0, dot(left, right) / length))
}
