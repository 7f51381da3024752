import type { ChatContext, Message } from '@lamella/core'
import type { CountTokens, MiddlewareOptions } from '@lamella/core/authoring'
import { checkOptions, middlewareRules, wrongOption } from '@lamella/core/authoring'

/** Data of an event about a call that was cut, or could not be. It holds no content. */
export interface HistoryEvent {
  /** Name of the middleware. */
  readonly middleware: string
  /** Change that was made, or that it failed. */
  readonly action: 'clear' | 'cut' | 'overflow'
  /** `context_length`: the provider had refused the call. */
  readonly reason: 'limit' | 'context_length'
  /** Messages of the call before. */
  readonly messagesBefore: number
  /** Messages of the call after. */
  readonly messagesAfter: number
  /** Estimated, of what is sent; only with a limit in tokens. */
  readonly tokens?: number | undefined
  /** Limit that was exceeded. */
  readonly limit?: number | undefined
}

/** Options of `historyTruncator`. */
export interface HistoryTruncatorOptions extends MiddlewareOptions<ChatContext, HistoryEvent> {
  /**
   * Messages of a call, system messages included. What must stay stays, also beyond it.
   * @default 30, if there is no `maxTokens`
   */
  readonly maxMessages?: number | undefined
  /**
   * Tokens of a call's input: messages, instructions, tools, media and the schema of the answer. A
   * function may tell it by the model. @default no limit
   */
  readonly maxTokens?: number | ((context: ChatContext) => number) | undefined
  /** Counts the tokens of a text. @default an estimate by the kinds of characters */
  readonly countTokens?: CountTokens | undefined
  /**
   * Corrects counts by the usage that the provider reported for earlier calls of the model.
   * @default true, unless there is a `countTokens`
   */
  readonly calibrate?: boolean | undefined
  /** Messages to keep besides system messages and the current run. */
  readonly keep?:
    | {
        /** The first message of a user, often the task. @default false */
        readonly firstUser?: boolean | undefined
        /** Messages that stay, with their calls, results and the question before them. */
        readonly pinned?: ((message: Message) => boolean) | undefined
        /**
         * All calls of the current run and their results. Otherwise its oldest ones may go, and its
         * input and its last ones stay. @default true
         */
        readonly currentRun?: boolean | undefined
      }
    | undefined
  /**
   * Old results of tools that give way to a placeholder before anything is cut: all but those of the
   * last `keep` rounds (by default 3), and of the tools in `exclude`. @default none
   */
  readonly clearResults?:
    | {
        /** Number of latest results to keep. */
        readonly keep?: number | undefined
        /** Names of tools whose results stay. */
        readonly exclude?: readonly string[] | undefined
        /**
         * Text that replaces a result.
         * @default '[This result was left out. Call the tool again if it is needed.]'
         */
        readonly placeholder?: string | undefined
      }
    | undefined
  /**
   * The share of a limit that is cut beyond it, at once. With 0.25 the cut stays where it is, and the
   * provider's prompt cache with it, until the conversation has grown by a quarter of the limit.
   * @default 0
   */
  readonly headroom?: number | undefined
  /**
   * A sentence that is added to the instructions of a call that was cut, always the same; or none.
   * @default 'Earlier messages of this conversation are not shown.'
   */
  readonly notice?: string | false | undefined
  /**
   * Removes messages from the session too, not only from the call.
   * @default false
   */
  readonly persist?: boolean | undefined
  /**
   * Behavior when the provider rejects a call as too long: cut it to this share of its tokens and call
   * once more, or `false` to fail.
   * @default 0.7
   */
  readonly onContextLength?: number | false | undefined
}

/** @throws TypeError or RangeError that names the option and the value */
export function checkHistoryOptions(options: HistoryTruncatorOptions): void {
  const owner = 'historyTruncator'
  checkOptions(owner, options, {
    ...middlewareRules,
    maxMessages: 1,
    maxTokens: typeof options.maxTokens === 'function' ? 'any' : 1,
    countTokens: 'function?',
    calibrate: [true, false],
    keep: { firstUser: [true, false], pinned: 'function?', currentRun: [true, false] },
    clearResults: { keep: 0, exclude: 'any', placeholder: 'string?' },
    headroom: 'any',
    notice: 'any',
    persist: [true, false],
    onContextLength: 'any',
  })
  const { headroom = 0, notice = '', onContextLength = 0.7, clearResults } = options
  const { exclude = [] } = clearResults ?? {}
  if (!Array.isArray(exclude)) {
    throw wrongOption(owner, 'clearResults.exclude', 'a list of names', exclude)
  }
  if (!(headroom >= 0 && headroom < 1)) {
    throw wrongOption(owner, 'headroom', 'from 0 up and below 1', headroom)
  }
  if (notice !== false && typeof notice !== 'string') {
    throw wrongOption(owner, 'notice', 'a string or false', notice)
  }
  if (onContextLength !== false && !(onContextLength > 0 && onContextLength < 1)) {
    throw wrongOption(owner, 'onContextLength', 'above 0 and below 1, or false', onContextLength)
  }
}
