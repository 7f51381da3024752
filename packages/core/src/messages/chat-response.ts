import { described } from '../base/check-options.ts'
import type { IdSource } from '../base/create-id.ts'
import { platformIds } from '../base/create-id.ts'
import { none } from '../base/none.ts'
import type { Content, FunctionCallContent, Origin } from './content.ts'
import type { Message, MessageInput, Role } from './message.ts'
import { isCompleteMessage, toMessages } from './message.ts'
import type { Usage } from './usage.ts'

/** Reason why the model stopped: one of the common ones, or the provider's own. */
export type FinishReason =
  | 'stop'
  | 'length'
  | 'tool-calls'
  | 'content-filter'
  | 'refusal'
  | 'error'
  | (string & {})

/** The complete answer of one model call. */
export interface ChatResponse<Value = unknown> {
  /** Provider's id of the response. */
  readonly id?: string | undefined
  /** Messages of the response, in order. */
  readonly messages: readonly Message[]
  /** The text of all assistant messages, joined without a separator. */
  readonly text: string
  /** Calls in the order in which the model made them. */
  readonly functionCalls: readonly FunctionCallContent[]
  /** Tokens used. Empty if the provider did not report any. */
  readonly usage: Usage
  /** Reason why the model stopped. */
  readonly finishReason?: FinishReason | undefined
  /** Model that answered, as the provider names it. */
  readonly model?: string | undefined
  /** Id of a conversation that the provider stores. */
  readonly conversationId?: string | undefined
  /**
   * Structured output: the answer as its reader gets it, read by the schema. Undefined if no schema was
   * requested or the answer does not fit it.
   */
  readonly value?: Value | undefined
  /** Additional values from the provider or from middleware. Empty by default. */
  readonly metadata: Readonly<Record<string, unknown>>
  /**
   * The provider's own response, as the SDK returned it. Undefined once a middleware has changed
   * the content.
   */
  readonly raw?: unknown
}

/** Input for a response: messages, and any other fields. */
export interface ChatResponseInit<Value = unknown>
  extends Partial<Omit<ChatResponse<Value>, 'messages' | 'text' | 'functionCalls'>> {
  /** Messages of the response; strings and loose contents become an assistant message. */
  readonly messages: MessageInput
}

/** One update of a streamed response. */
export interface ChatResponseUpdate {
  /** Content that this update adds. May be empty. */
  readonly contents: readonly Content[]
  /** Role of the message. @default 'assistant' */
  readonly role?: Role | undefined
  /** Id of the message that the content belongs to. */
  readonly messageId?: string | undefined
  /** Name of the message's author. */
  readonly authorName?: string | undefined
  /** Time of the message, ISO 8601. */
  readonly createdAt?: string | undefined
  /** Provider's id of the response. */
  readonly responseId?: string | undefined
  /** Id of a conversation that the provider stores. */
  readonly conversationId?: string | undefined
  /** Model that answers, as the provider names it. */
  readonly model?: string | undefined
  /** Reason why the model stopped. Comes with one of the last updates. */
  readonly finishReason?: FinishReason | undefined
  /** Tokens used, as far as known. Comes with one of the last updates. */
  readonly usage?: Usage | undefined
  /** Additional values for the message or response. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** Provider and model that made the message. */
  readonly origin?: Origin | undefined
  /** The provider's own event, as the SDK delivered it. */
  readonly raw?: unknown
  /**
   * Discards earlier updates. From a model call: everything since the last tool results (or the
   * start); with `scope: 'run'`: everything.
   */
  readonly restart?: true | undefined
  /** Extent of a `restart`: the current model call, or the whole run. @default 'call' */
  readonly scope?: 'call' | 'run' | undefined
}

/** Makes a response. Strings and loose contents become an assistant message. */
export function chatResponse<Value = unknown>(
  init: string | ChatResponseInit<Value>,
): ChatResponse<Value> {
  return responseOf(init, platformIds)
}

function responseOf<Value>(
  init: string | ChatResponseInit<Value>,
  ids: IdSource,
): ChatResponse<Value> {
  const given: ChatResponseInit<Value> = typeof init === 'string' ? { messages: init } : init
  const { usage = {}, metadata = {} } = given
  const messages = toMessages(given.messages, 'assistant', ids)
  return { ...given, messages, ...contentFields(messages), usage, metadata }
}

/** `text` and `functionCalls` of a list of messages. */
export function contentFields(
  messages: readonly Message[],
): Pick<ChatResponse, 'text' | 'functionCalls'> {
  let text = ''
  let functionCalls: FunctionCallContent[] | undefined
  for (const { role, contents } of messages) {
    if (role !== 'assistant') continue
    for (const content of contents) {
      if (content.type === 'text') text += content.text
      else if (isCall(content)) (functionCalls ??= []).push(content)
    }
  }
  return { text, functionCalls: functionCalls ?? none }
}

/**
 * Replays a complete response as updates: one for each message, and one with what is known at the
 * end. Calls are counted, so that no fold takes two of one id for pieces of one call.
 */
export function toUpdates(response: ChatResponse): readonly ChatResponseUpdate[] {
  const { messages, id: responseId, conversationId, model, finishReason, usage } = response
  let index = 0
  const count = (content: Content): Content =>
    isCall(content) ? { ...content, index: index++ } : content
  return [
    ...messages.map(({ id: messageId, contents, ...rest }) => ({
      ...rest,
      messageId,
      contents: contents.map(count),
    })),
    { contents: [], responseId, conversationId, model, finishReason, usage },
  ]
}

function isCall(content: Content): content is FunctionCallContent {
  return content.type === 'function-call'
}

/** Converts a value that a middleware assigned to a response. */
export function toChatResponse(value: unknown, ids: IdSource = platformIds): ChatResponse {
  if (typeof value === 'string') return responseOf(value, ids)
  if (typeof value === 'object' && value !== null && 'messages' in value) {
    const response = value as ChatResponse | ChatResponseInit
    return isComplete(response) ? response : responseOf(response, ids)
  }
  throw new TypeError(`context.result: expected a response or a string, got ${described(value)}`)
}

function isComplete(response: ChatResponse | ChatResponseInit): response is ChatResponse {
  const { messages } = response
  // A middleware may have put other messages into a response that it got, in any form they are taken in.
  const isWhole = Array.isArray(messages) && messages.every(isCompleteMessage)
  return isWhole && 'functionCalls' in response && 'usage' in response
}
