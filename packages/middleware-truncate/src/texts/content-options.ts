import type { FunctionInvocationContext } from '@lamella/core'
import type { CountTokens } from '@lamella/text'
import type { MiddlewareOptions } from '@lamella/core/authoring'
import { checkOptions, checkStore, middlewareRules, wrongOption } from '@lamella/core/authoring'
import type { WindowShare } from './window-share.ts'
import { checkWindowShare } from './window-share.ts'
import type { SpillOptions } from './read-more-tool.ts'
import { spillRules } from './read-more-tool.ts'
import type { TruncateStrategy } from './truncate-text.ts'

/** Data of an event about a shortened result. It has no content. */
export interface ContentEvent {
  /** Name of the middleware. */
  readonly middleware: string
  /** Name of the tool. */
  readonly tool: string
  /** Number of characters before the change. */
  readonly charsBefore: number
  /** Number of characters after the change. */
  readonly charsAfter: number
  /** `failed`: the store did not accept the whole result. */
  readonly spill: 'none' | 'kept' | 'failed'
}

/** Shortens a text to a maximum number of characters. */
export type ShortenText = (
  text: string,
  limit: { readonly maxChars: number; readonly context: FunctionInvocationContext },
) => string | Promise<string>

/** Options of `contentTruncator`. */
export interface ContentTruncatorOptions
  extends MiddlewareOptions<FunctionInvocationContext, ContentEvent> {
  /**
   * Maximum characters of all texts of a result together; media do not count and stay. A function
   * may return it by tool.
   * @default 50_000
   */
  readonly maxChars?: number | ((context: FunctionInvocationContext) => number) | undefined
  /**
   * Maximum tokens of all texts of a result together, or a share of the window of the model that called the tool.
   * @default no limit besides `maxChars`
   */
  readonly maxTokens?: number | WindowShare | undefined
  /** Counts the tokens of a text. @default an estimate by the kinds of characters */
  readonly countTokens?: CountTokens | undefined
  /**
   * Way to shorten a text: keep its beginning and end (`head-tail`), keep its beginning, or keep it
   * valid JSON with fewer values (`head-tail` for text that is not JSON). Or your own function.
   * @default 'head-tail'
   */
  readonly strategy?: TruncateStrategy | ShortenText | undefined
  /** Text that replaces removed text. @default '\n\n[...truncated...]\n\n' */
  readonly marker?: string | undefined
  /** Stores complete results, which the model can read with a tool. @default they are not stored */
  readonly spill?: SpillOptions | undefined
}

/** @throws TypeError or RangeError that names the option and the value */
export function checkContentOptions(options: ContentTruncatorOptions): void {
  const owner = 'contentTruncator'
  const { maxChars, maxTokens, strategy, marker = '', spill: spilling } = options ?? {}
  checkOptions(owner, options, {
    ...middlewareRules,
    maxChars: typeof maxChars === 'function' ? 'any' : 1,
    maxTokens: typeof maxTokens === 'object' ? 'any' : 1,
    countTokens: 'function?',
    strategy: typeof strategy === 'function' ? 'any' : ['head-tail', 'head', 'json-aware'],
    marker: 'any',
    spill: spillRules,
  })
  if (typeof maxTokens === 'object') checkWindowShare(owner, maxTokens)
  if (typeof marker !== 'string') throw wrongOption(owner, 'marker', 'a string', marker)
  if (spilling?.store !== undefined) checkStore(owner, spilling.store, [], 'spill.store')
}
