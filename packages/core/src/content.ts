import type { Usage } from './usage.ts'

/** Where a piece of content was made. Opaque provider data is replayed only to the same origin. */
export interface Origin {
  readonly provider: string
  readonly model?: string | undefined
}

/** A citation or another mark that a provider puts on a stretch of content. */
export interface Annotation {
  readonly type: string
  readonly uri?: string | undefined
  readonly title?: string | undefined
  /** Offsets into the text of the part, in UTF-16 code units. */
  readonly start?: number | undefined
  readonly end?: number | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** What every kind of content may carry. */
export interface ContentFields {
  readonly annotations?: readonly Annotation[] | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  readonly origin?: Origin | undefined
  /** Data only its origin understands (item ids, signatures). JSON; never shown to another provider. */
  readonly providerData?: unknown
}

export interface TextContent extends ContentFields {
  readonly type: 'text'
  readonly text: string
}

export interface ReasoningContent extends ContentFields {
  readonly type: 'reasoning'
  readonly text: string
  readonly id?: string | undefined
  /** `summary` is a provider's digest of its thinking, `raw` the thinking itself. */
  readonly kind?: 'summary' | 'raw' | undefined
  /** Signed or encrypted thinking, replayed as it came and only to its origin. */
  readonly protected?: string | undefined
}

export interface DataContent extends ContentFields {
  readonly type: 'data'
  readonly mediaType: string
  /** Bytes, or the same bytes in base64. */
  readonly data: string | Uint8Array
  readonly name?: string | undefined
}

export interface UriContent extends ContentFields {
  readonly type: 'uri'
  readonly uri: string
  readonly mediaType?: string | undefined
  readonly name?: string | undefined
}

/** The model asks for a tool. In an update, `arguments` may be a fragment of the text. */
export interface FunctionCallContent extends ContentFields {
  readonly type: 'function-call'
  readonly callId: string
  readonly name: string
  /** The raw text as it came, JSON for tools with a schema. It is parsed once, when the call runs. */
  readonly arguments: string
  /** In updates: the provider's index of this call among the calls of its message. */
  readonly index?: number | undefined
  /** A transcript of something that ran elsewhere. It is never executed here. */
  readonly informational?: boolean | undefined
}

/** Why a tool gave no result. `message` is for the application, not for the model. */
export interface FunctionError {
  readonly code:
    | 'tool_failed'
    | 'invalid_arguments'
    | 'unknown_tool'
    | 'timeout'
    | 'rejected'
    | 'denied'
    | 'budget'
    | 'cancelled'
  readonly message: string
}

export interface FunctionResultContent extends ContentFields {
  readonly type: 'function-result'
  readonly callId: string
  readonly name?: string | undefined
  /** What the model reads. */
  readonly contents: readonly Content[]
  readonly error?: FunctionError | undefined
}

/** Asks a person to allow a call. The `id` cannot be guessed and can be used once. */
export interface ApprovalRequestContent extends ContentFields {
  readonly type: 'approval-request'
  readonly id: string
  readonly call: FunctionCallContent
  readonly reason?: string | undefined
  /** The provider runs this tool itself: request and answer are passed through untouched. */
  readonly hosted?: boolean | undefined
}

export interface ApprovalResponseContent extends ContentFields {
  readonly type: 'approval-response'
  readonly id: string
  readonly approved: boolean
  /** Edited arguments. They are validated again. */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined
  readonly reason?: string | undefined
  readonly hosted?: boolean | undefined
}

export interface RefusalContent extends ContentFields {
  readonly type: 'refusal'
  readonly text: string
}

export interface ErrorContent extends ContentFields {
  readonly type: 'error'
  readonly message: string
  readonly code?: string | undefined
}

/** In updates only: counted into the response's usage, not kept as content. */
export interface UsageContent extends ContentFields {
  readonly type: 'usage'
  readonly usage: Usage
}

/** What the provider ran itself (web search, code interpreter, remote tools). Never executed here. */
export interface HostedContent extends ContentFields {
  readonly type: 'hosted'
  readonly name: string
  readonly id?: string | undefined
  readonly data?: unknown
}

/** One part of a message. Parts of a type that this version does not know are kept as they are. */
export type Content =
  | TextContent
  | ReasoningContent
  | DataContent
  | UriContent
  | FunctionCallContent
  | FunctionResultContent
  | ApprovalRequestContent
  | ApprovalResponseContent
  | RefusalContent
  | ErrorContent
  | UsageContent
  | HostedContent

/** Makes a text part. */
export function text(value: string): TextContent {
  return { type: 'text', text: value }
}

/** The text parts of a list of contents, joined without a separator. */
export function textOf(contents: readonly Content[]): string {
  let joined = ''
  for (const content of contents) if (content.type === 'text') joined += content.text
  return joined
}
