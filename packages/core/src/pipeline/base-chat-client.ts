import type { FormatOption } from '../contract/chat-options.ts'
import type {
  ChatClient,
  ChatMiddleware,
  ChatRequest,
  GetResponseOptions,
} from '../contract/chat.ts'
import type { ClientMiddlewareInput } from '../contract/middleware.ts'
import type { FunctionMiddleware } from '../contract/run.ts'
import type { ChatResponse, ChatResponseUpdate } from '../messages/chat-response.ts'
import type { MessageInput } from '../messages/message.ts'
import type { ResponseStream } from '../stream/response-stream.ts'
import type { CallModel } from './chat-call.ts'
import { composeModelCall } from './model-call.ts'
import { getResponse } from './get-response.ts'
import { sortClientMiddlewares, sortMiddlewares } from './sort-middleware.ts'

/** Options of every client. */
export interface ChatClientOptions {
  /**
   * Name that tells this client from others of its provider, such as `'east'`: in attempts, circuits, spans
   * and pictures.
   * @default the provider's
   */
  readonly name?: string | undefined
  /** Default model for calls that name none. @default none */
  readonly model?: string | undefined
  /** Middleware of every call through this client, outermost first. */
  readonly middleware?: ClientMiddlewareInput | undefined
}

/** Gives a provider its pipelines: a subclass implements `respond` and `stream`, and maps errors. */
export abstract class BaseChatClient implements ChatClient {
  abstract readonly provider: string
  readonly name: string | undefined
  readonly model: string | undefined
  readonly middleware: readonly (ChatMiddleware | FunctionMiddleware)[]

  #callModel: CallModel | undefined

  constructor(options: ChatClientOptions = {}) {
    this.name = options.name
    this.model = options.model
    this.middleware = sortClientMiddlewares(options.middleware)
  }

  abstract respond(request: ChatRequest): Promise<ChatResponse>
  abstract stream(request: ChatRequest): AsyncIterable<ChatResponseUpdate>

  getResponse(
    input: MessageInput,
    options: GetResponseOptions & { readonly stream: true },
  ): ResponseStream<ChatResponseUpdate, ChatResponse>
  getResponse<Value = unknown>(
    input: MessageInput,
    options?: GetResponseOptions & FormatOption<Value> & { readonly stream?: false | undefined },
  ): Promise<ChatResponse<Value>>
  getResponse(
    input: MessageInput,
    options: GetResponseOptions = {},
  ): Promise<ChatResponse> | ResponseStream<ChatResponseUpdate, ChatResponse> {
    this.#callModel ??= composeModelCall(sortMiddlewares(this.middleware, 'client').chat)
    return getResponse(this, this.#callModel, input, options)
  }
}
