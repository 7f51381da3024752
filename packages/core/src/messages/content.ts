import type { Usage } from './usage.ts'

/**
 * Provider and model that made a piece of content. Opaque provider data is replayed only to the
 * same origin.
 */
export interface Origin {
  /** Name of the provider, such as `openai`. */
  readonly provider: string
  /** Model, as the provider names it. */
  readonly model?: string | undefined
}

/** A citation or another mark that a provider puts on a range of content. */
export interface Annotation {
  /** Kind of annotation, such as `citation`. */
  readonly type: string
  /** Address of the source. */
  readonly uri?: string | undefined
  /** Title of the source. */
  readonly title?: string | undefined
  /** Start offset in the text of the part, in UTF-16 code units. */
  readonly start?: number | undefined
  /** End offset in the text of the part, exclusive, in UTF-16 code units. */
  readonly end?: number | undefined
  /** Additional values from the provider. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** Fields that every kind of content may have. */
export interface ContentFields {
  /** Citations and other marks on the content. */
  readonly annotations?: readonly Annotation[] | undefined
  /** Additional values for middleware and clients, by name. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** Provider and model that made the content. */
  readonly origin?: Origin | undefined
  /** Data for its origin only (item ids, signatures). JSON; never sent to another provider. */
  readonly providerData?: unknown
}

/** Text. */
export interface TextContent extends ContentFields {
  readonly type: 'text'
  /** The text; in an update, a fragment of it. */
  readonly text: string
}

/** Reasoning of the model. */
export interface ReasoningContent extends ContentFields {
  readonly type: 'reasoning'
  /** The reasoning; in an update, a fragment of it. */
  readonly text: string
  /** Provider's id of the part. */
  readonly id?: string | undefined
  /** `summary` is a provider's digest of its thinking, `raw` the thinking itself. */
  readonly kind?: 'summary' | 'raw' | undefined
  /** Signed or encrypted thinking, sent back unchanged and only to its origin. */
  readonly protected?: string | undefined
}

/** A file as bytes. */
export interface DataContent extends ContentFields {
  readonly type: 'data'
  /** Media type, such as `image/png`. */
  readonly mediaType: string
  /** Bytes, or the same bytes in base64. */
  readonly data: string | Uint8Array
  /** File name. */
  readonly name?: string | undefined
}

/** A file at an address. */
export interface UriContent extends ContentFields {
  readonly type: 'uri'
  /** Address of the file. */
  readonly uri: string
  /** Media type, such as `image/png`. */
  readonly mediaType?: string | undefined
  /** File name. */
  readonly name?: string | undefined
}

/** A tool call of the model. In an update, `arguments` may be a fragment of the text. */
export interface FunctionCallContent extends ContentFields {
  readonly type: 'function-call'
  /** Id of the call; its result has the same. */
  readonly callId: string
  /** Name of the tool. */
  readonly name: string
  /** Arguments as the model wrote them, JSON text. Parsed once, when the call runs. */
  readonly arguments: string
  /** In updates: the provider's index of this call among the calls of its message. */
  readonly index?: number | undefined
  /** True for a record of a call that ran elsewhere. Never executed here. @default false */
  readonly informational?: boolean | undefined
}

/** Error of a tool call. `message` is for the application, not for the model. */
export interface FunctionError {
  /** Category of the error. */
  readonly code:
    | 'tool_failed'
    | 'invalid_arguments'
    | 'unknown_tool'
    | 'timeout'
    | 'rejected'
    | 'denied'
    | 'budget'
    | 'cancelled'
    | 'uncertain'
    | 'withheld'
  /** Description for the application. The model does not read it. */
  readonly message: string
}

/** The result of a tool call. */
export interface FunctionResultContent extends ContentFields {
  readonly type: 'function-result'
  /** Id of the call. */
  readonly callId: string
  /** Name of the tool. */
  readonly name?: string | undefined
  /** Content that the model reads. */
  readonly contents: readonly Content[]
  /** Error of the call, if it failed. */
  readonly error?: FunctionError | undefined
}

/** Asks a person to allow a call. The `id` cannot be guessed and can be used once. */
export interface ApprovalRequestContent extends ContentFields {
  readonly type: 'approval-request'
  /** Id of the request, the key for its answer. */
  readonly id: string
  /** The call that needs approval. */
  readonly call: FunctionCallContent
  /** Reason for the request, for the person who decides. */
  readonly reason?: string | undefined
  /**
   * True if the provider runs the tool; request and answer are passed through unchanged.
   * @default false
   */
  readonly hosted?: boolean | undefined
}

/** Answers a request for approval. */
export interface ApprovalResponseContent extends ContentFields {
  readonly type: 'approval-response'
  /** Id of the request. */
  readonly id: string
  /** True allows the call, false rejects it. */
  readonly approved: boolean
  /** Edited arguments, validated again. @default the call's */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined
  /** Reason for the decision. The model reads it if the call is rejected. */
  readonly reason?: string | undefined
  /** True if the provider runs the tool. @default false */
  readonly hosted?: boolean | undefined
}

/** The model's refusal to answer. */
export interface RefusalContent extends ContentFields {
  readonly type: 'refusal'
  /** The refusal; in an update, a fragment of it. */
  readonly text: string
}

/** An error that the provider reported inside a response. */
export interface ErrorContent extends ContentFields {
  readonly type: 'error'
  /** Description of the error. */
  readonly message: string
  /** Provider's code of the error. */
  readonly code?: string | undefined
}

/** In updates only: counted into the response's usage, not kept as content. */
export interface UsageContent extends ContentFields {
  readonly type: 'usage'
  /** Tokens used. */
  readonly usage: Usage
}

/**
 * Work that the provider ran itself (web search, code interpreter, remote tools). Never executed
 * here.
 */
export interface HostedContent extends ContentFields {
  readonly type: 'hosted'
  /** Kind of item, as the provider names it. */
  readonly name: string
  /** Provider's id of the item. */
  readonly id?: string | undefined
  /** The item in the provider's format. */
  readonly data?: unknown
}

/** One part of a message. Parts of unknown types are kept unchanged. */
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
