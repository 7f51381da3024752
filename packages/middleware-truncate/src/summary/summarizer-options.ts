import type { ChatClient, ChatContext, KeyValueStore, Message } from '@lamella/core'
import type { Clock, MiddlewareOptions } from '@lamella/core/authoring'
import type { CountTokens } from '@lamella/text'
import { checkOptions, checkStore, middlewareRules, wrongOption } from '@lamella/core/authoring'
import type { WindowShare } from '../texts/window-share.ts'
import { checkWindowShare } from '../texts/window-share.ts'

/** Data of an event about a summary. It has no content. */
export interface SummaryEvent {
  /** Name of the middleware. */
  readonly middleware: string
  /** Outcome of the summary. */
  readonly action: 'summarized' | 'failed'
  /** Number of summarized messages. */
  readonly messages: number
  /** Number of chunks that were summarized now; the others were stored. */
  readonly calls: number
}

/** Condition for a summary in the background. */
interface BackgroundSummary {
  /** Factor of the limit, above 1. */
  readonly upTo: number
}

/** Options of `summarizer`. */
export interface SummarizerOptions extends MiddlewareOptions<ChatContext, SummaryEvent> {
  /**
   * Client that writes summaries. Its own middleware applies, such as a retry or a fallback.
   * @default the client of the call
   */
  readonly client?: ChatClient | undefined
  /**
   * Model that writes summaries.
   * @default the client's own
   */
  readonly model?: string | undefined
  /**
   * Number of messages at which a call is too long, system messages included.
   * @default no limit
   */
  readonly maxMessages?: number | undefined
  /**
   * Tokens of a call's input at which it is too long, or a share of the window of the model that is called.
   * @default 100_000, if there is no `maxMessages`
   */
  readonly maxTokens?: number | WindowShare | undefined
  /**
   * Minimum number of newest messages that stay unchanged, in whole turns. The current run always
   * stays.
   * @default 20
   */
  readonly keepMessages?: number | undefined
  /** Returns true for messages that stay unchanged, after the summary. @default none */
  readonly pinned?: ((message: Message) => boolean) | undefined
  /** Counts the tokens of a text. @default an estimate by the kinds of characters */
  readonly countTokens?: CountTokens | undefined
  /**
   * Corrects counts by reported usage.
   * @default true, unless there is a `countTokens`
   */
  readonly calibrate?: boolean | undefined
  /**
   * Instructions for the summarizing model.
   * @default the facts to keep, and a prohibition to follow
   * the text
   */
  readonly prompt?: string | undefined
  /**
   * `structured` asks for facts, decisions, open tasks and files, each in a list.
   * @default 'text'
   */
  readonly format?: 'text' | 'structured' | undefined
  /**
   * Text before the summary, for the model that continues.
   * @default says that a summary follows
   */
  readonly prefix?: string | undefined
  /**
   * Maximum tokens of a summary.
   * @default 1024
   */
  readonly maxSummaryTokens?: number | undefined
  /**
   * Maximum characters of a text, an argument or a result that the summarizing model reads; longer
   * ones lose their middle.
   * @default 4000
   */
  readonly maxCharsPerPart?: number | undefined
  /**
   * Replaces messages with the summary in the session too.
   * @default true
   */
  readonly persist?: boolean | undefined
  /**
   * Makes a call that exceeds the limit by at most the factor `upTo` without waiting: its summary is
   * written in the background for the next call.
   * @default false: the call waits for the summary
   */
  readonly background?: BackgroundSummary | false | undefined
  /**
   * Stores summaries by a hash of the summarized messages, so that a conversation that is sent as a
   * whole each time is summarized once.
   * @default the agent's, otherwise this process, the last 100
   */
  readonly store?: KeyValueStore | undefined
  /**
   * Milliseconds to wait for each answer of the store. After that, the summary is written again and
   * not stored.
   * @default 1000
   */
  readonly storeTimeoutMs?: number | undefined
  /** Tells the time. @default the clock of this machine */
  readonly clock?: Clock | undefined
  /**
   * Behavior without a summary: makes the call unchanged (`open`), or fails it (`closed`).
   * @default 'open'
   */
  readonly onError?: 'open' | 'closed' | undefined
}

/** @throws TypeError or RangeError that names the option and the value */
export function checkSummarizerOptions(options: SummarizerOptions): void {
  const owner = 'summarizer'
  const maxTokens = options?.maxTokens
  checkOptions(owner, options, {
    ...middlewareRules,
    client: 'any',
    model: 'string?',
    maxMessages: 2,
    maxTokens: typeof maxTokens === 'object' ? 'any' : 1,
    keepMessages: 0,
    pinned: 'function?',
    countTokens: 'function?',
    calibrate: [true, false],
    prompt: 'string?',
    format: ['text', 'structured'],
    prefix: 'string?',
    maxSummaryTokens: 1,
    maxCharsPerPart: 1,
    persist: [true, false],
    background: { upTo: 'any' },
    store: 'any',
    storeTimeoutMs: 'ms',
    clock: 'any',
    onError: ['open', 'closed'],
  })
  const { background = false, client, store, maxMessages = Infinity, keepMessages = 20 } = options
  if (typeof maxTokens === 'object') checkWindowShare(owner, maxTokens)
  if (keepMessages >= maxMessages) {
    throw wrongOption(owner, 'keepMessages', 'less than `maxMessages`', keepMessages)
  }
  if (background !== false && !(background.upTo > 1)) {
    throw wrongOption(owner, 'background.upTo', 'above 1', background.upTo)
  }
  if (client !== undefined && typeof client?.getResponse !== 'function') {
    throw wrongOption(owner, 'client', 'a chat client', client)
  }
  if (store !== undefined) checkStore(owner, store)
}
