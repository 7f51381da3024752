import type { Content, FunctionCallContent } from './content.ts'
import { textOf } from './content.ts'
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
  const { messages: input, ...rest } = typeof init === 'string' ? { messages: init } : init
  const messages = toMessages(input, 'assistant')
  return { usage: {}, metadata: {}, ...rest, messages, ...contentFields(messages) }
}

/** `text` and `functionCalls` of a list of messages. */
export function contentFields(
  messages: readonly Message[],
): Pick<ChatResponse, 'text' | 'functionCalls'> {
  let text = ''
  let functionCalls: FunctionCallContent[] | undefined
  for (const entry of messages) {
    if (entry.role !== 'assistant') continue
    text += textOf(entry.contents)
    for (const content of entry.contents) {
      if (content.type === 'function-call') (functionCalls ??= []).push(content)
    }
  }
  return { text, functionCalls: functionCalls ?? noCalls }
}

/** Replays a complete response as updates: one for each message, and one with what is known at the end. */
export function toUpdates(response: ChatResponse): readonly ChatResponseUpdate[] {
  const updates: ChatResponseUpdate[] = []
  const messages = tellCallsApart(response.messages)
  for (const { id, role, contents, authorName, createdAt, metadata } of messages) {
    const update: ChatResponseUpdate = { contents, role, messageId: id }
    updates.push(
      authorName === undefined && createdAt === undefined && metadata === undefined
        ? update
        : { ...update, authorName, createdAt, metadata },
    )
  }
  updates.push({
    contents: [],
    responseId: response.id,
    conversationId: response.conversationId,
    model: response.model,
    finishReason: response.finishReason,
    usage: response.usage,
  })
  return updates
}

/** Complete calls that have one id are counted, so that no fold takes them for pieces of one call. */
export function tellCallsApart(messages: readonly Message[]): readonly Message[] {
  const ids = new Set<string>()
  let calls = 0
  for (const { contents } of messages) {
    for (const content of contents) {
      if (content.type === 'function-call' && ids.size === calls++) ids.add(content.callId)
    }
  }
  if (ids.size === calls) return messages
  let index = 0
  const count = (content: Content): Content =>
    content.type === 'function-call' ? { ...content, index: index++ } : content
  return messages.map((entry) => ({ ...entry, contents: entry.contents.map(count) }))
}

const noCalls: readonly FunctionCallContent[] = Object.freeze([])
