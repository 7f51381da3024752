import type { CheckContext, GuardrailSubject, Verdict } from '@lamella/guardrail'
import { isObject } from '@lamella/core/authoring'
import type { ContentAction } from './content-action.ts'
import { worstAction } from './content-action.ts'
import type { ModerationInput, ModerationScore, Moderator } from '../moderators/moderator.ts'
import { moderationFailed, worstScores } from '../moderators/moderator.ts'

/** Rules for asking moderators and for their scores. */
export interface ModerationRules {
  readonly moderators: readonly Moderator[]
  readonly combine: 'any' | 'all' | 'first'
  readonly thresholds: Readonly<Record<string, number>>
  readonly actionOf: (category: string) => ContentAction
  readonly replacement: string
}

type Scores = Readonly<Record<string, ModerationScore>>

/** Creates the check that asks moderators. */
export function moderationVerdict(
  rules: ModerationRules,
): (subject: GuardrailSubject, context: CheckContext) => Promise<Verdict> {
  return async ({ stage, text, contents }, { run, signal }) => {
    const input = stage === 'file' ? imageOf(contents?.[0]) : ({ type: 'text', text } as const)
    const able = rules.moderators.filter(({ images }) => input?.type === 'text' || images)
    if (input === undefined || able.length === 0) return { action: 'unsupported' }
    if (input.type === 'text' && input.text.trim() === '') return { action: 'allow' }
    const flagged = flaggedOf(
      await ask({ ...rules, moderators: able }, input, { run, signal }),
      rules,
    )
    const category = flagged[0]?.category
    if (category === undefined) return { action: 'allow' }
    const action = worstAction(flagged.map(({ category: name }) => rules.actionOf(name)))
    const { replacement } = rules
    return { action, category, severity: flagged[0]!.score, replacement }
  }
}

/** Returns true if a score is too high: by the threshold of its category, or by the moderator's own decision. */
export function isOver(
  category: string,
  { flagged, score }: ModerationScore,
  thresholds: Readonly<Record<string, number>>,
): boolean {
  const threshold = own(thresholds, category) ?? own(thresholds, category.split('/')[0]!)
  return threshold === undefined ? flagged : score >= threshold
}

function own(record: Readonly<Record<string, number>>, key: string): number | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined
}

/** Returns the categories that are too high, worst first. */
function flaggedOf(
  scores: Scores,
  { thresholds }: ModerationRules,
): readonly { readonly category: string; readonly score: number }[] {
  return Object.entries(scores)
    .filter(([category, score]) => isOver(category, score, thresholds))
    .map(([category, { score }]) => ({ category, score }))
    .toSorted((left, right) => right.score - left.score)
}

async function ask(
  rules: ModerationRules,
  input: ModerationInput,
  about: Pick<CheckContext, 'run' | 'signal'>,
): Promise<Scores> {
  const { moderators, combine } = rules
  if (combine === 'first') return firstToAnswer(moderators, input, about)
  const settled = await Promise.allSettled(
    moderators.map((moderator) => scoresOf(moderator, input, about)),
  )
  const scores = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const failed = settled.find(({ status }) => status === 'rejected')
  const over = scores.filter((one) => flaggedOf(one, rules).length > 0)
  // The findings of moderators that answered count also if another one failed.
  if (combine === 'any' && over.length > 0) return worstScores(over)
  if (combine === 'all' && over.length < scores.length) return {}
  if (failed) throw (failed as PromiseRejectedResult).reason
  return worstScores(over)
}

async function firstToAnswer(
  moderators: readonly Moderator[],
  input: ModerationInput,
  { run, signal }: Pick<CheckContext, 'run' | 'signal'>,
): Promise<Scores> {
  let failure: unknown
  for (const moderator of moderators) {
    try {
      return await scoresOf(moderator, input, { run, signal })
    } catch (error) {
      signal.throwIfAborted()
      failure = error
    }
  }
  throw failure
}

/** Asks a moderator. Anything but scores is no verdict, so that it cannot pass for one. */
async function scoresOf(
  moderator: Moderator,
  input: ModerationInput,
  { run, signal }: Pick<CheckContext, 'run' | 'signal'>,
): Promise<Scores> {
  const scores: unknown = await moderator.moderate(input, signal, run)
  if (isObject(scores) && Object.values(scores).every(isScore)) return scores as Scores
  throw moderationFailed(moderator.name, 'must return scores by category, { flagged, score }')
}

function isScore(value: unknown): boolean {
  if (!isObject(value)) return false
  return typeof value['flagged'] === 'boolean' && Number.isFinite(value['score'])
}

function imageOf(
  content: NonNullable<GuardrailSubject['contents']>[number] | undefined,
): ModerationInput | undefined {
  if (content?.type !== 'data' && content?.type !== 'uri') return undefined
  const isImage = content.mediaType?.startsWith('image/') ?? content.type === 'uri'
  return isImage ? { type: 'image', image: content } : undefined
}
