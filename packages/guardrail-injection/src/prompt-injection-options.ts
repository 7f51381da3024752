import type { CheckContext, GuardrailOptions } from '@lamella/guardrail'
import { checkOptions, wrongOption } from '@lamella/core/authoring'
import { guardrailCheckRules } from '@lamella/guardrail'
import type { AssessOptions } from './assess/assess-text.ts'
import { assessRules, injectionSignals } from './assess/assess-text.ts'
import type { InjectionCategory } from './signals/injection-signal.ts'
import type { ExfiltrationOptions } from './outgoing/judge-output.ts'
import type { Spotlighting } from './incoming/spotlight.ts'
import type { TaintOptions } from './taint.ts'

/** Kind of content that is checked. */
export type InjectionStage = 'input' | 'result' | 'file' | 'tools' | 'arguments' | 'instructions'

/** Action for an attack: ends the run, removes its lines, or only reports it. */
export type InjectionAction = 'block' | 'strip' | 'flag'

/** Returns the certainty that a text is an attack, from 0 to 1. If it throws, `onError` decides. */
export type InjectionClassifier = (text: string, context: CheckContext) => number | Promise<number>

/** A model or a service that judges every text which the patterns let through. */
export interface InjectionClassify {
  /** Returns the certainty that a text is an attack, from 0 to 1. */
  readonly assess: InjectionClassifier
  /** Lowest score that counts as an attack, from 0 to 1. @default 0.5 */
  readonly threshold?: number | undefined
  /** Maximum duration for a text in milliseconds. @default 5000 */
  readonly timeoutMs?: number | undefined
  /**
   * Blocks (`closed`) or continues (`open`) if `assess` fails or takes too long. The patterns have judged the
   * text already.
   * @default 'closed'
   */
  readonly onError?: 'closed' | 'open' | undefined
  /** Content to judge. @default that of `applyTo`, without tool definitions */
  readonly stages?: readonly Exclude<InjectionStage, 'tools'>[] | undefined
}

type Shared<Level extends 'agent' | 'chat'> = Omit<
  GuardrailOptions<Level>,
  'name' | 'readAs' | 'check' | 'applyTo' | 'role' | 'stream' | 'maxRetries'
>

/** Options of `promptInjection`. */
export interface PromptInjectionOptions<Level extends 'agent' | 'chat' = 'agent' | 'chat'>
  extends Shared<Level>,
    Omit<AssessOptions, 'source'> {
  /**
   * Name, unique in a pipeline.
   * @default 'prompt-injection'
   */
  readonly name?: string | undefined
  /**
   * Content to check: messages, tool results, files in either, tool definitions …
   * @default ['input', 'result', 'file', 'tools']
   */
  readonly applyTo?: readonly InjectionStage[] | undefined
  /**
   * Lowest score that counts as an attack, from 0 to 1.
   * @default 0.6
   */
  readonly threshold?: number | undefined
  /**
   * Action for an attack, for all stages or by stage.
   * @default 'strip' for results of tools, otherwise 'block'
   */
  readonly action?: InjectionAction | Partial<Record<InjectionStage, InjectionAction>> | undefined
  /** Asked if the score of the patterns is uncertain, see `escalate`. */
  readonly classifier?: InjectionClassifier | undefined
  /** Judges every text that the patterns let through, see `InjectionClassify`. @default none */
  readonly classify?: InjectionClassify | undefined
  /** Asked if the patterns and the classifier are uncertain. */
  readonly judge?: InjectionClassifier | undefined
  /**
   * Uncertain scores: from the first number to just below the second. Used only with `classifier`
   * or `judge`.
   * @default [0.3, 0.8]
   */
  readonly escalate?: readonly [low: number, high: number] | undefined
  /**
   * Marking of tool results for the model.
   * @default 'delimit'
   */
  readonly spotlight?: Spotlighting | 'none' | undefined
  /**
   * Secret from which the marks of `delimit` are made, 16 characters or more. Agents with the same one mark
   * a result in the same way, so that they can share cached answers.
   * @default one in the agent's store, otherwise one of this process
   */
  readonly spotlightKey?: string | undefined
  /**
   * Puts a marker before the instructions; an answer that contains it is blocked.
   * @default true
   */
  readonly canary?: boolean | undefined
  /**
   * Removes images of other hosts from answers; `false` leaves them.
   * @default { allowHosts: [], replacement: '(image removed)' }
   */
  readonly exfiltration?: ExfiltrationOptions | false | undefined
  /**
   * Requires approval for tool calls with side effects once untrusted content is in the
   * conversation.
   * @default none
   */
  readonly taint?: TaintOptions | undefined
}

/** @throws TypeError or RangeError that names the option and the value */
export function checkInjectionOptions(options: PromptInjectionOptions): void {
  const owner = 'promptInjection'
  const { source: _, ...sharedRules } = assessRules
  checkOptions(owner, options, {
    ...guardrailCheckRules,
    ...sharedRules,
    name: 'string?',
    applyTo: 'any',
    threshold: 'any',
    action: 'any',
    classifier: 'function?',
    judge: 'function?',
    classify: {
      assess: 'function?',
      threshold: 'any',
      timeoutMs: 'ms',
      onError: ['closed', 'open'],
      stages: 'any',
    },
    escalate: 'any',
    spotlight: ['delimit', 'datamark', 'encode', 'none'],
    spotlightKey: 'string?',
    canary: 'any',
    exfiltration: { allowHosts: 'any', replacement: 'any' },
    taint: { untrusted: 'any', restrict: 'any', strict: [true, false] },
  })
  const { action, escalate = [0, 1], extraPatterns = [], languages, threshold = 0 } = options
  const each = (option: string, values: readonly unknown[], known: readonly unknown[]): void => {
    if (!Array.isArray(values)) throw wrongOption(owner, option, 'a list', values)
    for (const value of values) {
      if (!known.includes(value))
        throw wrongOption(owner, option, `one of ${known.join(', ')}`, value)
    }
  }
  each('applyTo', options.applyTo ?? [], stages)
  each('action', typeof action === 'object' ? Object.values(action) : [action], [
    undefined,
    ...actions,
  ])
  each('categories', options.categories ?? [], categories)
  each('strict', options.strict ?? [], categories)
  const known = injectionSignals.map(({ language }) => language)
  if (languages !== 'auto') each('languages', languages ?? [], [...new Set(known)])
  if (!isShare(threshold)) throw wrongOption(owner, 'threshold', 'a number from 0 to 1', threshold)
  const { classify, spotlightKey } = options
  if (classify !== undefined) {
    const { assess, threshold: least = 0, stages: judged = [] } = classify
    if (typeof assess !== 'function')
      throw wrongOption(owner, 'classify.assess', 'a function', assess)
    if (!isShare(least))
      throw wrongOption(owner, 'classify.threshold', 'a number from 0 to 1', least)
    each(
      'classify.stages',
      judged,
      stages.filter((stage) => stage !== 'tools'),
    )
  }
  if (spotlightKey !== undefined && spotlightKey.length < 16) {
    // The key itself never reaches a message.
    throw wrongOption(owner, 'spotlightKey', 'a text of 16 characters or more', spotlightKey.length)
  }
  const { restrict } = options.taint ?? {}
  if (typeof restrict !== 'function') {
    each('taint.restrict', [restrict], [undefined, 'writes', 'all'])
  }
  const [low, high] = escalate
  if (!isShare(low) || !isShare(high) || low >= high) {
    throw wrongOption(owner, 'escalate', 'two rising numbers from 0 to 1', escalate)
  }
  if (options.taint && options.level === 'chat') {
    throw wrongOption(owner, 'level', "'agent' where there is a `taint`", options.level)
  }
  const { replacement = '' } = options.exfiltration || {}
  if (/[[\]<>]/.test(replacement)) {
    throw wrongOption(owner, 'exfiltration.replacement', 'a text without brackets', replacement)
  }
  const wrong = extraPatterns.find((pattern) => !(pattern instanceof RegExp))
  if (wrong !== undefined) throw wrongOption(owner, 'extraPatterns', 'regular expressions', wrong)
}

const stages: readonly InjectionStage[] = [
  'input',
  'result',
  'file',
  'tools',
  'arguments',
  'instructions',
]
const actions: readonly InjectionAction[] = ['block', 'strip', 'flag']
const categories: readonly InjectionCategory[] = [
  'override',
  'leak',
  'fake-turn',
  'persona',
  'role-play',
  'authority',
  'tool-abuse',
  'exfiltration',
  'encoded',
  'hidden-text',
  'classified',
  'custom',
]

const isShare = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= 1
