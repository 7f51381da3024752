import type { ChatContext, Message } from '@lamella/core'
import type { CountTokens } from '@lamella/text'
import type { MiddlewareOptions } from '@lamella/core/authoring'
import { checkOptions, middlewareRules, wrongOption } from '@lamella/core/authoring'
import type { WindowShare } from '../texts/window-share.ts'
import { checkWindowShare } from '../texts/window-share.ts'

/** Data of an event about a call that was shortened, or could not be. It has no content. */
export interface HistoryEvent {
  /** Name of the middleware. */
  readonly middleware: string
  /** Change that was made, or that it failed. */
  readonly action: 'clear' | 'cut' | 'overflow'
  /** `context_length`: the provider had refused the call. */
  readonly reason: 'limit' | 'context_length'
  /** Number of messages before the change. */
  readonly messagesBefore: number
  /** Number of messages after the change. */
  readonly messagesAfter: number
  /** Estimated tokens of the request; only with a limit in tokens. */
  readonly tokens?: number | undefined
  /** Limit that was exceeded. */
  readonly limit?: number | undefined
}

/** Options of `historyTruncator`. */
export interface HistoryTruncatorOptions extends MiddlewareOptions<ChatContext, HistoryEvent> {
  /**
   * Maximum number of messages in a call, system messages included. Messages that must stay may
   * exceed it.
   * @default 30, if there is no `maxTokens`
   */
  readonly maxMessages?: number | undefined
  /**
   * Maximum tokens of a call's input: messages, instructions, tools, media and the schema of the
   * answer. A function may return it by model, or it is a share of the model's window.
   * @default no limit
   */
  readonly maxTokens?: number | WindowShare | ((context: ChatContext) => number) | undefined
  /** Counts the tokens of a text. @default an estimate by kinds of characters */
  readonly countTokens?: CountTokens | undefined
  /**
   * Corrects counts by the usage that the provider reported for earlier calls of the model.
   * @default true, unless there is a `countTokens`
   */
  readonly calibrate?: boolean | undefined
  /** Messages to keep besides system messages and the current run. */
  readonly keep?:
    | {
        /** Keeps the first message of a user, which is often the task. @default false */
        readonly firstUser?: boolean | undefined
        /**
         * Returns true for messages to keep, with their calls, results and the question before
         * them.
         */
        readonly pinned?: ((message: Message) => boolean) | undefined
        /**
         * Keeps all calls of the current run and their results. Otherwise its oldest calls may be
         * removed; its input and its last calls stay.
         * @default true
         */
        readonly currentRun?: boolean | undefined
      }
    | undefined
  /**
   * Replaces old tool results with a placeholder before messages are removed: all but those of the
   * last `keep` iterations (by default 3), of the tools in `exclude`, and those that the model has not read.
   * @default none
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
   * Share of a limit that is removed in addition. With 0.25, the cut and the provider's prompt
   * cache stay until the conversation has grown by a quarter of the limit.
   * @default 0
   */
  readonly headroom?: number | undefined
  /**
   * Sentence that is added to the instructions of a shortened call, always the same; `false` adds
   * none.
   * @default 'Earlier messages of this conversation are not shown.'
   */
  readonly notice?: string | false | undefined
  /**
   * Removes messages from the session too, not only from the call.
   * @default false
   */
  readonly persist?: boolean | undefined
  /**
   * Behavior when the provider rejects a call as too long: shortens it to this share of its tokens
   * and calls once more; `false` fails.
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
    maxTokens: ['function', 'object'].includes(typeof options?.maxTokens) ? 'any' : 1,
    countTokens: 'function?',
    calibrate: [true, false],
    keep: { firstUser: [true, false], pinned: 'function?', currentRun: [true, false] },
    clearResults: { keep: 0, exclude: 'any', placeholder: 'string?' },
    headroom: 'any',
    notice: 'any',
    persist: [true, false],
    onContextLength: 'any',
  })
  const { headroom = 0, notice = '', onContextLength = 0.7, clearResults, maxTokens } = options
  if (typeof maxTokens === 'object') checkWindowShare(owner, Object(maxTokens))
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
