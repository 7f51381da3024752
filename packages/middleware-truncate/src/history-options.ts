import type { ChatContext, Message } from '@lamella/core'
import type { CountTokens, LayerOptions } from '@lamella/core/authoring'
import { checkOptions, layerRules, wrongOption } from '@lamella/core/authoring'

/** What the layer tells of a call that it cut, or could not. No content is in it. */
export interface HistoryEvent {
  readonly layer: string
  readonly action: 'clear' | 'cut' | 'overflow'
  /** `context_length`: the provider had refused the call. */
  readonly reason: 'limit' | 'context_length'
  readonly messagesBefore: number
  readonly messagesAfter: number
  /** Estimated, of what is sent; only with a limit in tokens. */
  readonly tokens?: number | undefined
  readonly limit?: number | undefined
}

export interface HistoryTruncatorOptions extends LayerOptions<ChatContext, HistoryEvent> {
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
   * Whether counts are corrected by what the provider reported for earlier calls of the model.
   * @default true, unless there is a `countTokens`
   */
  readonly calibrate?: boolean | undefined
  /** What stays besides system messages and the current run. */
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
        readonly keep?: number | undefined
        readonly exclude?: readonly string[] | undefined
        /** @default '[This result was left out. Call the tool again if it is needed.]' */
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
  /** Whether what is cut is gone for the session too, and not only for the call. @default false */
  readonly persist?: boolean | undefined
  /**
   * What to do when the provider finds a call too long: cut it to this share of what was sent and call
   * once more, or `false` to let the failure pass. @default 0.7
   */
  readonly onContextLength?: number | false | undefined
}

/** @throws TypeError or RangeError that names the option and the value */
export function checkHistoryOptions(options: HistoryTruncatorOptions): void {
  const owner = 'historyTruncator'
  checkOptions(owner, options, {
    ...layerRules,
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
