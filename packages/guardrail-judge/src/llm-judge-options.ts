import type { GuardrailOptions, GuardrailStage } from '@lamella/guardrail'
import type { Clock, OptionRules } from '@lamella/core/authoring'
import { checkOptions, wrongOption } from '@lamella/core/authoring'
import { guardrailCheckRules } from '@lamella/guardrail'
import type { JudgeBudget } from './judge-budget.ts'
import type { JudgeCriterion } from './judge-criterion.ts'
import { safetyCriteria } from './judge-criterion.ts'
import type { JudgeOptions } from './judge.ts'
import type { VerdictCacheOptions } from './verdict-cache.ts'

type Shared<Level extends 'agent' | 'chat'> = Omit<
  GuardrailOptions<Level>,
  'name' | 'readAs' | 'check' | 'applyTo' | 'role'
>

/** Options of {@link llmJudge}. */
export interface LlmJudgeOptions<Level extends 'agent' | 'chat' = 'agent' | 'chat'>
  extends Shared<Level>,
    JudgeOptions {
  /**
   * Name, unique in a pipeline.
   * @default 'judge'
   */
  readonly name?: string | undefined
  /** Stages whose texts are judged. @default ['output'] */
  readonly applyTo?: readonly Exclude<GuardrailStage, 'file'>[] | undefined
  /**
   * Action for a text that does not pass; `retry` tells the model why and calls it again.
   * @default 'block'
   */
  readonly action?: 'block' | 'flag' | 'replace' | 'retry' | undefined
  /**
   * Replacement for a text that does not pass, with `action: 'replace'`.
   * @default '[removed]'
   */
  readonly replacement?: string | undefined
  /**
   * Number of messages before the text that the judge reads, of users and of the model.
   * @default 1
   */
  readonly contextTurns?: number | undefined
  /**
   * Hides the instructions of the agent from the judge.
   * @default true
   */
  readonly blind?: boolean | undefined
  /**
   * Share of the model calls that are judged, 0 to 1. The others pass unread.
   * @default 1
   */
  readonly sampleRate?: number | undefined
  /** Cache of verdicts; `false` judges every text again. @default { ttlMs: 3_600_000 } */
  readonly cacheVerdicts?: VerdictCacheOptions | false | undefined
  /** Limits in one run; beyond them `onError` decides. @default no limit */
  readonly budget?: JudgeBudget | undefined
  /** Clock, for tests. @default the machine's */
  readonly clock?: Clock | undefined
  /** Random numbers for `sampleRate`, from 0 to 1. @default the run's random numbers */
  readonly random?: (() => number) | undefined
}

type Verdict = 'criteria' | 'threshold' | 'combine' | 'reasoning'

export const judgeRules: OptionRules<Omit<JudgeOptions, Verdict>> = {
  client: 'any',
  model: 'any',
  options: 'any',
  temperature: 'any',
  samples: 1,
  arbiter: 'any',
  attempts: 1,
  maxChars: 100,
}

export const verdictRules: OptionRules<Pick<JudgeOptions, Verdict>> = {
  criteria: 'any',
  threshold: 'any',
  combine: ['every', 'weighted'],
  reasoning: 'any',
}

export const budgetRules: OptionRules<JudgeBudget> = { maxCalls: 1, maxTokens: 1 }

/** @throws TypeError or RangeError that names the option and the value */
export function checkLlmJudgeOptions(options: LlmJudgeOptions): void {
  const owner = 'llmJudge'
  checkOptions(owner, options, {
    ...guardrailCheckRules,
    ...judgeRules,
    name: 'string?',
    stream: { release: 'any', holdChars: 'any', checkEveryChars: 'any', pending: 'function?' },
    maxRetries: 'any',
    applyTo: 'any',
    ...verdictRules,
    action: ['block', 'flag', 'replace', 'retry'],
    replacement: 'any',
    contextTurns: 0,
    blind: 'any',
    sampleRate: 'any',
    cacheVerdicts: { ttlMs: 1, store: 'any', storeTimeoutMs: 'ms' },
    budget: budgetRules,
    clock: 'any',
    random: 'function?',
  })
  for (const stage of options.applyTo ?? []) {
    checkOptions(owner, { applyTo: stage }, { applyTo: stages })
  }
  checkShare(owner, 'sampleRate', options.sampleRate)
  const { action, stream } = options
  if (action === 'retry' && stream?.release !== undefined && stream.release !== 'full') {
    throw wrongOption(owner, 'stream.release', "'full' where `action` is 'retry'", stream.release)
  }
}

/**
 * Returns the criteria of the options.
 * @throws TypeError or RangeError that names the option and the value
 */
export function criteriaOf(owner: string, options: JudgeOptions): readonly JudgeCriterion[] {
  const { client, criteria = safetyCriteria } = options
  if (typeof (client as Partial<typeof client> | undefined)?.getResponse !== 'function') {
    throw wrongOption(owner, 'client', 'a chat client', client)
  }
  checkShare(owner, 'threshold', options.threshold)
  const asked = typeof criteria === 'string' ? [rubric(criteria)] : criteria
  const ids = new Set<string>()
  for (const { failIf, id, question, weight = 1 } of asked) {
    if (!/^[\w-]{1,64}$/.test(id) || id === '__proto__' || ids.has(id)) {
      throw wrongOption(owner, 'criteria', 'a list with an id of its own for each', id)
    }
    ids.add(id)
    if (typeof question !== 'string' || question.trim() === '') {
      throw wrongOption(owner, 'criteria', 'a list with a question each', question)
    }
    if (!(weight > 0 && weight < Infinity)) {
      throw wrongOption(owner, 'criteria', 'a list with weights above 0', weight)
    }
    checkOptions(owner, { criteria: failIf }, { criteria: [undefined, 'yes', 'no'] })
  }
  if (ids.size === 0) throw wrongOption(owner, 'criteria', 'a list of at least one', criteria)
  return asked
}

const rubric = (text: string): JudgeCriterion => ({
  id: 'rubric',
  question: text.trim() === '' ? '' : `Does the text meet this rubric? ${text}`,
})

function checkShare(owner: string, option: string, value: unknown): void {
  const isShare = typeof value === 'number' && value >= 0 && value <= 1
  if (value !== undefined && !isShare)
    throw wrongOption(owner, option, 'a number from 0 to 1', value)
}

const stages: readonly GuardrailStage[] = [
  'input',
  'output',
  'arguments',
  'result',
  'instructions',
  'reasoning',
]
