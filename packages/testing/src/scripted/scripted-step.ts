import type {
  ChatRequest,
  ChatResponse,
  ChatResponseUpdate,
  Content,
  FinishReason,
  FunctionCallContent,
  Message,
  MessageInput,
  Usage,
} from '@lamella/core'
import type { ChatResponseInit } from '@lamella/core/authoring'
import { chatResponse } from '@lamella/core'
import { toMessages } from '@lamella/core/authoring'

/** A recorded call. `messages`, `instructions` and `options` are frozen copies. */
export interface ScriptedRequest extends ChatRequest {
  /** Number of the call, from 0. */
  readonly index: number
  /** True for a streamed call. */
  readonly stream: boolean
}

/** An exact stream. A complete one ends with an update that has `finishReason` and `usage`. */
export interface ScriptedStream {
  /** Strings and contents become updates of an assistant message; the others pass as they are. */
  readonly updates: readonly (string | Content | Partial<ChatResponseUpdate>)[]
  /** Thrown after the last update. Without it, a stream without a `finishReason` counts as cut. */
  readonly error?: unknown
  /** Milliseconds before each update, by the client's `clock`. */
  readonly delayMs?: number | undefined
  /** After the last update, the stream hangs until the call is aborted. */
  readonly hang?: boolean | undefined
}

/** Reply to a call. */
export type ScriptedReply =
  | string
  | Content
  | readonly (string | Content)[]
  | ChatResponseInit
  | ScriptedStream
  | Error

/** Makes a reply from a request. An error that it throws fails the call. */
export type ScriptedAnswer = (request: ScriptedRequest) => ScriptedReply | Promise<ScriptedReply>

/** Answer to one call. An error is thrown. */
export type ScriptedStep = ScriptedReply | ScriptedAnswer

/**
 * A step in which the model calls a tool; several in a list are parallel calls. Arguments that are
 * a string stay unchanged, so that they may be broken JSON.
 * @param callId by default the client counts: `call_1`, `call_2` …
 * @example
 * ```ts
 * import { callFunction, scriptedClient } from '@lamella/testing'
 *
 * const client = scriptedClient([callFunction('weather', { city: 'Rome' }), 'It is sunny.'])
 * ```
 */
export function callFunction(
  name: string,
  args: Readonly<Record<string, unknown>> | string = {},
  callId = '',
): FunctionCallContent {
  const text = typeof args === 'string' ? args : JSON.stringify(args)
  return { type: 'function-call', callId, name, arguments: text }
}

/** Fields that a client adds to a reply without them. */
export interface ReplyDefaults {
  readonly id: string
  readonly messageId: string
  readonly model: string
  readonly usage: Usage
  nextCallId(): string
}

export function isScriptedStream(reply: ScriptedReply): reply is ScriptedStream {
  return typeof reply === 'object' && 'updates' in reply
}

/** Makes the complete response of a reply that is neither a stream nor an error. */
export function toScriptedResponse(
  reply: Exclude<ScriptedReply, ScriptedStream | Error>,
  defaults: ReplyDefaults,
): ChatResponse {
  const init: ChatResponseInit = isResponseInit(reply) ? reply : { messages: reply }
  const givenIds = messageIds(init.messages)
  const messages = toMessages(init.messages, 'assistant').map((message, index): Message => {
    const ownId = index === 0 ? defaults.messageId : `${defaults.messageId}_${index + 1}`
    return {
      ...message,
      id: givenIds.has(message.id) ? message.id : ownId,
      contents: message.contents.map((content) => withCallId(content, defaults)),
    }
  })
  const response = chatResponse({
    ...init,
    messages,
    id: init.id ?? defaults.id,
    model: init.model ?? defaults.model,
    usage: init.usage ?? defaults.usage,
  })
  return { ...response, finishReason: init.finishReason ?? finishReasonOf(response) }
}

/** Makes the updates of a scripted stream. */
export function toScriptedUpdates(
  step: ScriptedStream,
  defaults: ReplyDefaults,
): readonly ChatResponseUpdate[] {
  const { messageId } = defaults
  return step.updates.map((entry): ChatResponseUpdate => {
    if (typeof entry === 'string') {
      return { role: 'assistant', messageId, contents: [{ type: 'text', text: entry }] }
    }
    if ('type' in entry) {
      return { role: 'assistant', messageId, contents: [withCallId(entry, defaults)] }
    }
    const contents = (entry.contents ?? []).map((content) => withCallId(content, defaults))
    return contents.length === 0 ? { ...entry, contents } : { messageId, ...entry, contents }
  })
}

function withCallId(content: Content, defaults: ReplyDefaults): Content {
  return content.type === 'function-call' && content.callId === ''
    ? { ...content, callId: defaults.nextCallId() }
    : content
}

function finishReasonOf(response: ChatResponse): FinishReason {
  if (response.functionCalls.length > 0) return 'tool-calls'
  const refused = response.messages.some(({ contents }) =>
    contents.some(({ type }) => type === 'refusal'),
  )
  return refused ? 'refusal' : 'stop'
}

function isResponseInit(reply: object | string): reply is ChatResponseInit {
  return typeof reply === 'object' && 'messages' in reply
}

function messageIds(input: MessageInput): ReadonlySet<unknown> {
  const entries = Array.isArray(input) ? (input as readonly unknown[]) : [input]
  return new Set(
    entries.map((entry) =>
      typeof entry === 'object' && entry !== null && 'role' in entry && 'id' in entry
        ? entry.id
        : undefined,
    ),
  )
}
