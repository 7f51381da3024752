import type { ChatOptions } from './chat-options.ts'
import type { ChatResponse, ChatResponseUpdate } from './chat-response.ts'
import type { Message, MessageInput } from './message.ts'
import type { ChatMiddleware, FunctionMiddleware } from './middleware.ts'
import type { ResponseStream } from './response-stream.ts'
import type { RunContext } from './run-context.ts'

/** What a provider gets: everything that one model call needs. */
export interface ChatRequest {
  readonly messages: readonly Message[]
  readonly instructions: string | undefined
  /** `toolChoice` is resolved: never a function here. */
  readonly options: ChatOptions
  readonly signal: AbortSignal
}

/** Options of a model call without an agent. */
export interface GetResponseOptions extends ChatOptions {
  readonly instructions?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** The run that the call is made for: the client's layers see its tenant, session and data. */
  readonly parent?: RunContext | undefined
  readonly stream?: boolean | undefined
}

/** What would be lost or changed if another provider's history went on here. */
export interface ContinuationReport {
  readonly ok: boolean
  readonly losses: readonly string[]
}

/** A model behind a provider. Nothing above a client knows which provider it is. */
export interface ChatClient {
  /** Such as `openai`; the origin of what it makes. */
  readonly provider: string
  readonly model?: string | undefined
  /**
   * What of this client shows in no request and changes its answers, such as its server and its
   * defaults, as a text without secrets. Caches keep clients apart by it.
   */
  readonly fingerprint?: string | undefined
  /** Layers that every call through this client has, outermost first. */
  readonly middleware: readonly (ChatMiddleware | FunctionMiddleware)[]
  /** One model call, without layers. */
  respond(request: ChatRequest): Promise<ChatResponse>
  /** One streamed model call, without layers. Its iterator settles when `request.signal` aborts. */
  stream(request: ChatRequest): AsyncIterable<ChatResponseUpdate>
  /** One model call through this client's layers. Tool calls are returned, not executed. */
  getResponse(
    input: MessageInput,
    options: GetResponseOptions & { readonly stream: true },
  ): ResponseStream<ChatResponseUpdate, ChatResponse>
  getResponse(
    input: MessageInput,
    options?: GetResponseOptions & { readonly stream?: false | undefined },
  ): Promise<ChatResponse>
  /** Makes any history valid for this provider. */
  prepareHistory?(messages: readonly Message[]): readonly Message[]
  canContinue?(messages: readonly Message[]): ContinuationReport
}
