import type { ChatClient, ChatContext, KeyValueStore, Message } from '@lamella/core'
import type { CountTokens, LayerOptions } from '@lamella/core/authoring'
import { checkOptions, layerRules, wrongOption } from '@lamella/core/authoring'

/** What the layer tells of a conversation that it summarised, or could not. No content is in it. */
export interface SummaryEvent {
  readonly layer: string
  readonly action: 'summarized' | 'failed'
  /** How many messages the summary stands for. */
  readonly messages: number
  /** How many chunks were summarised anew; the others were known. */
  readonly calls: number
}

export interface SummarizerOptions extends LayerOptions<ChatContext, SummaryEvent> {
  /**
   * Writes summaries. Give it layers of its own to retry or to fall back.
   * @default the client of the call
   */
  readonly client?: ChatClient | undefined
  /** @default the client's own */
  readonly model?: string | undefined
  /**
   * Messages of a call from which on it is too long, system messages included.
   * @default no limit
   */
  readonly maxMessages?: number | undefined
  /**
   * Tokens of a call's input from which on it is too long.
   * @default 100_000, if there is no `maxMessages`
   */
  readonly maxTokens?: number | undefined
  /**
   * Newest messages that stay as they are, at least, whole turns. The current run always stays.
   * @default 20
   */
  readonly keepMessages?: number | undefined
  /** Messages that stay as they are, behind the summary. @default none */
  readonly pinned?: ((message: Message) => boolean) | undefined
  /** Counts the tokens of a text. @default an estimate by the kinds of characters */
  readonly countTokens?: CountTokens | undefined
  /** Whether counts are corrected by reported usage. @default true, unless there is a `countTokens` */
  readonly calibrate?: boolean | undefined
  /** Instructions for who writes the summary. @default what to keep, and to follow nothing in it */
  readonly prompt?: string | undefined
  /**
   * `structured` asks for facts, decisions, open tasks and files, each in a list.
   * @default 'text'
   */
  readonly format?: 'text' | 'structured' | undefined
  /** Stands before the summary, for the model that goes on. @default what it is */
  readonly prefix?: string | undefined
  /** @default 1024 */
  readonly maxSummaryTokens?: number | undefined
  /**
   * Characters of a text, an argument or a result that the summary is made from; longer ones lose
   * their middle. @default 4000
   */
  readonly maxCharsPerPart?: number | undefined
  /** Whether the summary takes the place of messages in the session too. @default true */
  readonly persist?: boolean | undefined
  /**
   * Whether a call that is too long by at most this factor is made as it is, while the summary is
   * written beside it for the next one. @default false: the call waits for the summary
   */
  readonly background?: { readonly upTo: number } | false | undefined
  /**
   * Keeps summaries by a hash of what they stand for, so that a conversation that is sent as a whole
   * each time is not summarised again.
   * @default in memory, the last 100
   */
  readonly store?: KeyValueStore | undefined
  /**
   * When no summary could be made: the call is made as it is, or fails.
   * @default 'open'
   */
  readonly onError?: 'open' | 'closed' | undefined
}

/** @throws TypeError or RangeError that names the option and the value */
export function checkSummarizerOptions(options: SummarizerOptions): void {
  const owner = 'summarizer'
  checkOptions(owner, options, {
    ...layerRules,
    client: 'any',
    model: 'string?',
    maxMessages: 2,
    maxTokens: 1,
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
    onError: ['open', 'closed'],
  })
  const { background = false, client, store, maxMessages = Infinity, keepMessages = 20 } = options
  if (keepMessages >= maxMessages) {
    throw wrongOption(owner, 'keepMessages', 'less than `maxMessages`', keepMessages)
  }
  if (background !== false && !(background.upTo > 1)) {
    throw wrongOption(owner, 'background.upTo', 'above 1', background.upTo)
  }
  if (client !== undefined && typeof client?.getResponse !== 'function') {
    throw wrongOption(owner, 'client', 'a chat client', client)
  }
  if (store !== undefined && typeof store?.get !== 'function') {
    throw wrongOption(owner, 'store', 'a store', store)
  }
}
