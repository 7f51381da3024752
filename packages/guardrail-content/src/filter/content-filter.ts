import type { ChatMiddleware } from '@lamella/core'
import type { GuardrailMiddleware, ReleasePolicy } from '@lamella/guardrail'
import { guardrail, guardrailOptions } from '@lamella/guardrail'
import type { ContentAction } from './content-action.ts'
import { contentActions, worstAction } from './content-action.ts'
import type { ContentFilterOptions } from './content-filter-options.ts'
import { byCategory, checkContentFilter, toPattern } from './content-filter-options.ts'
import { ContentSearch } from '../words/content-search.ts'
import { contentVerdict } from './content-verdict.ts'
import { moderationVerdict } from './moderation-verdict.ts'
import { profanity } from '../words/profanity.ts'
import { providerFilter } from './provider-filter.ts'

/**
 * Filters unwanted content: words, matches of patterns, findings of moderators and of the provider's own
 * filter.
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { contentFilter } from '@lamella/guardrail-content'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const agent = new Agent({
 *   client: scriptedClient(['Call Project Nightjar. Scunthorpe is nice.']),
 *   middleware: contentFilter({ words: { secret: ['project nightjar'] }, action: 'replace' }),
 * })
 *
 * console.log((await agent.run('Whom should I call?')).text) // Call ***. Scunthorpe is nice.
 * ```
 * @throws TypeError or RangeError that names the option and the value
 */
export function contentFilter<Level extends 'agent' | 'chat' = 'agent' | 'chat'>(
  options: ContentFilterOptions<Level> = {},
): readonly (GuardrailMiddleware<Level> | ChatMiddleware)[] {
  checkContentFilter(options)
  const {
    name = 'content',
    mode,
    native = 'block',
    refusals = 'flag',
    onError = 'closed',
  } = options
  if (mode === 'off') return []
  const { thresholds = {}, replacement = '***', combine = 'any' } = options
  const moderators = [options.moderation ?? []].flat()
  const actionOf = actionsBy(options)
  const { applyTo = ['input', 'output'], stream = {} } = options
  const common = guardrailOptions(options)
  const middlewares: (GuardrailMiddleware<Level> | ChatMiddleware)[] = []

  if (native !== 'off') {
    const rules = { filtered: native, refusals, thresholds, onError }
    const ofProvider = providerFilter({ ...options, ...rules, name: `${name}-provider` })
    middlewares.push({ ...ofProvider, inherited: true })
  }
  if (moderators.length > 0) {
    const { release = moderationRelease(options) } = stream
    const checkEveryChars = stream.checkEveryChars ?? (release === 'sentence' ? 400 : undefined)
    const text = typeof replacement === 'string' ? replacement : '***'
    const rules = { moderators, combine, thresholds, actionOf, replacement: text }
    middlewares.push(
      ...guardrail<Level>({
        ...common,
        name: `${name}-moderation`,
        role: 'content',
        applyTo,
        check: moderationVerdict(rules),
        stream: { ...stream, release, checkEveryChars },
      }),
    )
  }
  const readable = applyTo.filter((stage) => stage !== 'file')
  for (const action of readable.length > 0 ? contentActions : []) {
    const search = searchFor(action, options, actionOf)
    if (search === undefined) continue
    middlewares.push(
      ...guardrail<Level>({
        ...common,
        name: action === 'block' ? name : `${name}-${action}`,
        role: 'content',
        applyTo: readable,
        check: contentVerdict(search, action, replacement),
        stream: {
          release: releaseFor(action),
          ...stream,
          checkEveryChars: undefined,
          pending: (text, from) => search.pending(text, from),
        },
      }),
    )
  }
  return middlewares
}

function actionsBy({ action = 'block', actions = {} }: ContentFilterOptions) {
  return (category: string): ContentAction =>
    (Object.hasOwn(actions, category) ? actions[category] : undefined) ?? action
}

/** Returns the release policy of moderators: a `retry` needs text of which nothing has passed. */
function moderationRelease({
  action = 'block',
  actions = {},
}: ContentFilterOptions): ReleasePolicy {
  const all = [action, ...Object.values(actions)]
  if (all.includes('retry')) return 'full'
  return worstAction(all) === 'flag' ? 'passthrough' : 'sentence'
}

function releaseFor(action: ContentAction): ReleasePolicy {
  if (action === 'retry') return 'full'
  return action === 'flag' ? 'passthrough' : 'window'
}

/** Creates the search for the words and patterns of the categories of an action. */
function searchFor(
  action: ContentAction,
  options: ContentFilterOptions,
  actionOf: (category: string) => ContentAction,
): ContentSearch | undefined {
  const { patterns, moderation, allow = [], wholeWord = true, leet = false, stream } = options
  const isBare = options.words === undefined && patterns === undefined && moderation === undefined
  const words = isBare ? { profanity } : options.words
  const isOf = ([category]: readonly [string, unknown]): boolean => actionOf(category) === action
  const rules = {
    words: byCategory(words, 'words').filter(isOf),
    patterns: byCategory(patterns, 'patterns')
      .filter(isOf)
      .map(([category, list]) => [category, list.map(toPattern)] as const),
  }
  if (rules.words.length + rules.patterns.length === 0) return undefined
  return new ContentSearch({
    ...rules,
    allow,
    wholeWord,
    leet,
    holdChars: stream?.holdChars ?? 256,
  })
}
