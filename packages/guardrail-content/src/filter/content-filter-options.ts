import type { GuardrailOptions, GuardrailStreamOptions } from '@lamella/guardrail'
import { checkOptions, wrongOption } from '@lamella/core/authoring'
import { guardrailCheckRules } from '@lamella/guardrail'
import type { ContentAction } from './content-action.ts'
import { contentActions } from './content-action.ts'
import type { Moderator } from '../moderators/moderator.ts'

/** A list, or lists by category. */
export type ByCategory<Entry> = readonly Entry[] | Readonly<Record<string, readonly Entry[]>>

/** Options of {@link contentFilter}. */
export interface ContentFilterOptions<Level extends 'agent' | 'chat' = 'agent' | 'chat'>
  extends Omit<
    GuardrailOptions<Level>,
    'name' | 'check' | 'role' | 'applyTo' | 'readAs' | 'stream'
  > {
  /** Name, unique in a pipeline. @default 'content' */
  readonly name?: string | undefined
  /** Kinds of content that are checked. @default ['input', 'output'] */
  readonly applyTo?: GuardrailOptions['applyTo'] | undefined
  /**
   * Unwanted words and phrases, in any case. A `*` at the end matches further letters. The category of a
   * plain list is `words`.
   * @default `profanity`, if there are neither words nor patterns nor moderators
   */
  readonly words?: ByCategory<string> | undefined
  /**
   * Unwanted patterns. A string is a pattern that ignores case. The category of a plain list is `patterns`.
   * @default none
   */
  readonly patterns?: ByCategory<RegExp | string> | undefined
  /** Allowed words and phrases, such as `Moby Dick`. @default none */
  readonly allow?: readonly string[] | undefined
  /**
   * Matches whole words only, so that `Scunthorpe` passes.
   * @default true
   */
  readonly wholeWord?: boolean | undefined
  /**
   * Reads `sh1t`, `s.h.i.t`, `shiiit` and `shît` as `shit`.
   * @default false
   */
  readonly leet?: boolean | undefined
  /**
   * Services or functions that judge the content, such as an endpoint or a classifier.
   * @default none
   */
  readonly moderation?: Moderator | readonly Moderator[] | undefined
  /**
   * `any`: one moderator is enough to flag; `all`: all of them have to; `first`: the next one is asked only
   * if one fails.
   * @default 'any'
   */
  readonly combine?: 'any' | 'all' | 'first' | undefined
  /**
   * Lowest score from 0 to 1 that counts, by category. `self_harm` also applies to `self_harm/intent`.
   * @default the moderator's or provider's own decision
   */
  readonly thresholds?: Readonly<Record<string, number>> | undefined
  /** Action for unwanted content. @default 'block' */
  readonly action?: ContentAction | undefined
  /** Actions by category. @default `action` */
  readonly actions?: Readonly<Record<string, ContentAction>> | undefined
  /**
   * Replacement of a match, or a function that returns it.
   * @default '***'
   */
  readonly replacement?: string | ((match: string, category: string) => string) | undefined
  /**
   * Action after the provider's own filter has acted.
   * @default 'block'
   */
  readonly native?: 'block' | 'flag' | 'off' | undefined
  /**
   * Action after a refusal of the model.
   * @default 'flag'
   */
  readonly refusals?: 'block' | 'flag' | 'allow' | undefined
  /**
   * Settings for held-back text in streams: `release` for all checks; `holdChars`, the length of
   * the longest match, for patterns; `checkEveryChars` for moderators.
   * @default a window for words and patterns, sentences of at least 400 characters for moderators
   */
  readonly stream?: Omit<GuardrailStreamOptions, 'pending'> | undefined
}

/** @throws TypeError or RangeError that names the option and the value */
export function checkContentFilter(options: ContentFilterOptions): void {
  const owner = 'contentFilter'
  const { words, patterns, allow = [], actions = {}, thresholds = {}, stream } = options ?? {}
  checkOptions(owner, options, {
    ...guardrailCheckRules,
    name: 'string?',
    maxRetries: 'any',
    applyTo: 'any',
    words: 'any',
    patterns: 'any',
    allow: 'any',
    wholeWord: 'any',
    leet: 'any',
    moderation: 'any',
    combine: ['any', 'all', 'first'],
    thresholds: 'any',
    action: contentActions,
    actions: 'any',
    replacement: 'any',
    native: ['block', 'flag', 'off'],
    refusals: ['block', 'flag', 'allow'],
    stream: { release: 'any', holdChars: 0, checkEveryChars: 'any' },
  })
  for (const [category, action] of Object.entries(actions)) {
    if (!contentActions.includes(action)) {
      throw wrongOption(owner, `actions.${category}`, `one of ${contentActions.join(', ')}`, action)
    }
  }
  for (const [category, threshold] of Object.entries(thresholds)) {
    if (!(threshold >= 0 && threshold <= 1)) {
      throw wrongOption(owner, `thresholds.${category}`, 'a number from 0 to 1', threshold)
    }
  }
  for (const option of ['allow', 'applyTo'] as const) {
    const list: unknown = options[option] ?? []
    if (!Array.isArray(list)) throw wrongOption(owner, option, 'a list', list)
  }
  checkLists('words', words)
  checkLists('patterns', patterns)
  const texts = [...byCategory(words, '').flatMap(([, list]) => list), ...allow]
  const bad = texts.find((word) => typeof word !== 'string' || word.replace('*', '').trim() === '')
  if (bad !== undefined) throw wrongOption(owner, 'words', 'texts that are not empty', bad)
  for (const [, list] of byCategory(patterns, '')) list.forEach(toPattern)
  const isRetried = [options.action, ...Object.values(actions)].includes('retry')
  if (isRetried && (stream?.release ?? 'full') !== 'full') {
    throw wrongOption(owner, 'stream.release', "'full' for `retry`", stream?.release)
  }
  if (options.applyTo?.length === 0) throw wrongOption(owner, 'applyTo', 'at least one stage', [])
  const moderators = [options.moderation ?? []].flat()
  if (options.applyTo?.includes('file') && !moderators.some(({ images }) => images)) {
    throw wrongOption(
      owner,
      'moderation',
      "a moderator of images for `applyTo: ['file']`",
      undefined,
    )
  }
}

/** Rejects a single text or pattern: it would be read letter by letter, or not at all. */
function checkLists(option: string, lists: unknown = []): void {
  const isOne = typeof lists !== 'object' || Array.isArray(lists) || lists instanceof RegExp
  const wrong = (isOne ? [lists] : Object.values(lists ?? {})).find((list) => !Array.isArray(list))
  if (wrong !== undefined) {
    throw wrongOption('contentFilter', option, 'a list, or lists by category', wrong)
  }
}

/** Returns lists by category. A plain list has the given category. */
export function byCategory<Entry>(
  lists: ByCategory<Entry> | undefined,
  category: string,
): readonly (readonly [string, readonly Entry[]])[] {
  if (lists === undefined) return []
  return Array.isArray(lists) ? [[category, lists]] : Object.entries(lists)
}

/** @throws TypeError if it is not a pattern */
export function toPattern(pattern: RegExp | string): RegExp {
  if (pattern instanceof RegExp) return pattern
  try {
    return new RegExp(pattern, 'iu')
  } catch {
    throw wrongOption('contentFilter', 'patterns', 'patterns', pattern)
  }
}
