import type { ChatPipeline } from './chat-call.ts'
import { chatPipeline } from './chat-call.ts'
import type { ChatClient, ChatRequest, GetResponseOptions } from './chat-client.ts'
import type { ChatResponse, ChatResponseUpdate } from './chat-response.ts'
import { getResponse } from './get-response.ts'
import type { MessageInput } from './message.ts'
import type { ChatMiddleware, ClientMiddlewareInput, FunctionMiddleware } from './middleware.ts'
import { sortClientLayers } from './middleware.ts'
import type { ResponseStream } from './response-stream.ts'

/** What every client can be given. */
export interface ChatClientOptions {
  /** The model that is used where a call names none. */
  readonly model?: string | undefined
  /** Layers that every call through this client has, outermost first. */
  readonly middleware?: ClientMiddlewareInput | undefined
}

/** Gives a provider its pipelines: a subclass implements `respond` and `stream`, and maps errors. */
export abstract class BaseChatClient implements ChatClient {
  abstract readonly provider: string
  readonly model: string | undefined
  readonly middleware: readonly (ChatMiddleware | FunctionMiddleware)[]

  #callModel: ChatPipeline | undefined

  constructor(options: ChatClientOptions = {}) {
    this.model = options.model
    this.middleware = sortClientLayers(options.middleware)
  }

  abstract respond(request: ChatRequest): Promise<ChatResponse>
  abstract stream(request: ChatRequest): AsyncIterable<ChatResponseUpdate>

  getResponse(
    input: MessageInput,
    options: GetResponseOptions & { readonly stream: true },
  ): ResponseStream<ChatResponseUpdate, ChatResponse>
  getResponse(
    input: MessageInput,
    options?: GetResponseOptions & { readonly stream?: false | undefined },
  ): Promise<ChatResponse>
  getResponse(
    input: MessageInput,
    options: GetResponseOptions = {},
  ): Promise<ChatResponse> | ResponseStream<ChatResponseUpdate, ChatResponse> {
    this.#callModel ??= chatPipeline(this.middleware.filter(isChatLayer))
    return getResponse(this, this.#callModel, input, options)
  }
}

function isChatLayer(layer: ChatMiddleware | FunctionMiddleware): layer is ChatMiddleware {
  return layer.level === 'chat'
}
