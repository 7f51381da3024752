import type {
  ChatResponse,
  ChatResponseInit,
  ChatResponseUpdate,
} from '../messages/chat-response.ts'
import type { Message, MessageInput } from '../messages/message.ts'
import type { ResponseStream } from '../stream/response-stream.ts'
import type { UpdateTransformer } from '../stream/update-transformer.ts'
import type { ChatOptions, FormatOption } from './chat-options.ts'
import type { RunEventInit } from './events.ts'
import type { CallNext, FunctionMiddleware, MiddlewareBase, Returned, RunContext } from './run.ts'

/** The complete input of one model call. */
export interface ChatRequest {
  /** Conversation to answer, oldest first. */
  readonly messages: readonly Message[]
  /** System instructions, separate from the messages. */
  readonly instructions: string | undefined
  /** `toolChoice` is resolved: never a function here. */
  readonly options: ChatOptions
  /** Aborted when the response is no longer needed. */
  readonly signal: AbortSignal
  /** Sends an event of the run that the call belongs to. Events must not contain text of users or models. */
  readonly emit?: ((event: RunEventInit) => void) | undefined
}

/** Options of a model call without an agent. */
export interface GetResponseOptions extends ChatOptions {
  /** System instructions. @default none */
  readonly instructions?: string | undefined
  /** Aborts the call. @default none */
  readonly signal?: AbortSignal | undefined
  /** The run that the call is made for: the client's middleware sees its tenant, session and data. */
  readonly parent?: RunContext | undefined
  /** Tenant that the call is made for. @default the parent's */
  readonly tenant?: string | undefined
  /** User that the call is made for. @default the parent's */
  readonly principal?: string | undefined
  /** Value for the client's middleware, as `context.run.data`. @default the parent's */
  readonly data?: unknown
  /** Returns a stream instead of a promise. @default false */
  readonly stream?: boolean | undefined
}

/** Information that would be lost if another provider's history were continued here. */
export interface ContinuationReport {
  /** True if nothing is lost. */
  readonly ok: boolean
  /** One description per loss. */
  readonly losses: readonly string[]
}

/** A model behind a provider. Nothing above a client knows which provider it is. */
export interface ChatClient {
  /** Name of the provider, such as `openai`; the origin of its content. */
  readonly provider: string
  /**
   * Name of this client, to tell servers of one provider apart in attempts, circuits, spans and pictures.
   * @default the provider's
   */
  readonly name?: string | undefined
  /** Default model of the client. Undefined if each call must name one. */
  readonly model?: string | undefined
  /**
   * Configuration that affects responses but is not part of the request, such as the server and
   * defaults. A cache keys answers by it, and a circuit breaker circuits. Contains no secrets.
   */
  readonly fingerprint?: string | undefined
  /** Middleware that every call through this client has, outermost first. */
  readonly middleware: readonly (ChatMiddleware | FunctionMiddleware)[]
  /** One model call, without middleware. */
  respond(request: ChatRequest): Promise<ChatResponse>
  /** One streamed model call, without middleware. Its iterator settles when `request.signal` aborts. */
  stream(request: ChatRequest): AsyncIterable<ChatResponseUpdate>
  /**
   * One model call through this client's middleware. Tool calls are returned, not executed; a client
   * of `withFunctionInvocation` executes them.
   */
  getResponse(
    input: MessageInput,
    options: GetResponseOptions & { readonly stream: true },
  ): ResponseStream<ChatResponseUpdate, ChatResponse>
  getResponse<Value = unknown>(
    input: MessageInput,
    options?: GetResponseOptions & FormatOption<Value> & { readonly stream?: false | undefined },
  ): Promise<ChatResponse<Value>>
  /** Makes any history valid for this provider. */
  prepareHistory?(messages: readonly Message[]): readonly Message[]
  /** Reports whether this client can continue with the given history, and what would be lost. */
  canContinue?(messages: readonly Message[]): ContinuationReport
}

/** One model call. Only the middleware further inside sees assignments to its fields. */
export interface ChatContext<Data = unknown> {
  /** Data and controls that all contexts of the run share. */
  readonly run: RunContext<Data>
  /** Values that the middleware of this call shares. */
  readonly metadata: Record<string, unknown>
  /**
   * Aborted when the run ends early. A middleware that may cancel the call, such as a timeout,
   * assigns its own signal (`AbortSignal.any([context.signal, own])`), so that the request ends
   * too.
   */
  signal: AbortSignal
  /** True if the caller requested a stream. Middleware works the same either way. */
  readonly stream: boolean
  /** 0 for the first model call of the run. */
  readonly iteration: number
  /** True once content of this call has reached the caller. */
  readonly released: boolean
  /**
   * True while the caller waits for the next update. False while the reader of a stream does other
   * work.
   */
  readonly awaited: boolean
  /** Client that the call goes to. */
  client: ChatClient
  /** Conversation that is sent, oldest first. */
  messages: readonly Message[]
  /** System instructions that are sent. Undefined without any. */
  instructions: string | undefined
  /** Model options of the call. */
  options: ChatOptions
  /** Response of the call, after `callNext()`. Assigning a value replaces it. */
  get result(): ChatResponse | undefined
  set result(value: ChatResponse | ChatResponseInit | string | undefined)
  /** Registers a transformer for the updates of this call. Call it before `callNext()`. */
  transformUpdates(transformer: UpdateTransformer<ChatResponseUpdate>): void
  /**
   * Repeats this call as a separate call through all middleware, with the outermost middleware's
   * input and `options` merged in. Its updates and usage are not part of this run, and it continues
   * when the run ends; `signal` cancels it. For a middleware that refreshes stored responses.
   */
  repeat(options?: ChatOptions, signal?: AbortSignal): Promise<ChatResponse>
}

/** A middleware around every model call. */
export interface ChatMiddleware extends MiddlewareBase {
  readonly level: 'chat'
  /**
   * Roles of middleware that must stand outside this one, because it passes content on by itself, such as to
   * a model of its own. Creating an agent with one of them further inside throws.
   * @default none
   */
  readonly inside?: readonly string[] | undefined
  /**
   * Handles one model call. Calls `callNext()` to run everything inside, or sets `context.result`. A response or
   * text that it returns counts as if it were assigned there, unless `callNext()` resolved to it.
   */
  process(
    context: ChatContext,
    callNext: CallNext<ChatResponse>,
  ): Returned<ChatResponse | ChatResponseInit | string>
  /**
   * Handles an answer of the run that no model call gave: of a `returnDirect` tool, `run.stop()`, a termination, or
   * a hook that skips the model call. `callNext()` resolves to it, and transforms of its updates apply.
   * @default it passes
   */
  processAnswer?(
    context: ChatContext,
    callNext: CallNext<ChatResponse>,
  ): Returned<ChatResponse | ChatResponseInit | string>
}
