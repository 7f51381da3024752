import type { Content, FunctionCallContent, Origin } from './content.ts'
import type { Message, MessageInput, Role } from './message.ts'
import { toMessages } from './message.ts'
import type { Usage } from './usage.ts'

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
  readonly id?: string | undefined
  readonly messages: readonly Message[]
  /** The text of all assistant messages, joined without a separator. */
  readonly text: string
  /** Calls in the order in which the model made them. */
  readonly functionCalls: readonly FunctionCallContent[]
  readonly usage: Usage
  readonly finishReason?: FinishReason | undefined
  readonly model?: string | undefined
  /** The provider's name for a conversation it keeps itself. */
  readonly conversationId?: string | undefined
  /** The structured output, where a schema was asked for and the answer fits it. */
  readonly value?: Value | undefined
  readonly metadata: Readonly<Record<string, unknown>>
  /** What the SDK returned. Gone as soon as a layer changed the content. */
  readonly raw?: unknown
}

/** What a response is made from: messages, and whatever else is known. */
export interface ChatResponseInit<Value = unknown>
  extends Partial<Omit<ChatResponse<Value>, 'messages' | 'text' | 'functionCalls'>> {
  readonly messages: MessageInput
}

/** A piece of a response on its way. */
export interface ChatResponseUpdate {
  readonly contents: readonly Content[]
  readonly role?: Role | undefined
  readonly messageId?: string | undefined
  readonly authorName?: string | undefined
  readonly createdAt?: string | undefined
  readonly responseId?: string | undefined
  readonly conversationId?: string | undefined
  readonly model?: string | undefined
  readonly finishReason?: FinishReason | undefined
  readonly usage?: Usage | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** Where the message is from. */
  readonly origin?: Origin | undefined
  readonly raw?: unknown
  /**
   * What came before is void. From a model call: everything since the last tool results (or the
   * start); with `scope: 'run'`: everything.
   */
  readonly restart?: true | undefined
  readonly scope?: 'call' | 'run' | undefined
}

/** Makes a response. Strings and loose contents become an assistant message. */
export function chatResponse<Value = unknown>(
  init: string | ChatResponseInit<Value>,
): ChatResponse<Value> {
  const given: ChatResponseInit<Value> = typeof init === 'string' ? { messages: init } : init
  const { usage = {}, metadata = {} } = given
  const messages = toMessages(given.messages, 'assistant')
  const { text, functionCalls } = contentFields(messages)
  return { ...given, messages, text, functionCalls, usage, metadata }
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
  return { text, functionCalls: functionCalls ?? noCalls }
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

const noCalls: readonly FunctionCallContent[] = Object.freeze([])

function isCall(content: Content): content is FunctionCallContent {
  return content.type === 'function-call'
}
