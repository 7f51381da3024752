import type { ChatOptions } from '../contract/chat-options.ts'
import type { ChatClient, ChatContext, ChatMiddleware, ChatRequest } from '../contract/chat.ts'
import type { RunContext } from '../contract/run.ts'
import type {
  ChatResponse,
  ChatResponseInit,
  ChatResponseUpdate,
} from '../messages/chat-response.ts'
import { toChatResponse, toUpdates } from '../messages/chat-response.ts'
import type { MessageInput } from '../messages/message.ts'
import { toMessages } from '../messages/message.ts'
import { ResponseFold } from '../messages/response-fold.ts'
import { engineOf } from '../run/run.ts'
import type { ResponseStream } from '../stream/response-stream.ts'
import type { ChatCallInput, ChatView } from './chat-call.ts'
import { callClient, ChatCall } from './chat-call.ts'
import { composeModelCall } from './model-call.ts'
import { callOnce, streamOnce } from './get-response.ts'
import type { Nested } from './sort-middleware.ts'
import { sortMiddlewares } from './sort-middleware.ts'

/** Input of one model call. */
export interface ChatPipelineInput {
  /** Client that the call goes to. Middleware may replace it. */
  readonly client: ChatClient
  /** Conversation to answer, oldest first. */
  readonly messages: MessageInput
  /** System instructions. @default none */
  readonly instructions?: string | undefined
  /** Model options of the call. @default {} */
  readonly options?: ChatOptions | undefined
  /** Aborts the call. @default the run's signal */
  readonly signal?: AbortSignal | undefined
  /**
   * Run that the call is part of: the `run` of a context. Its state and usage are shared, and if it
   * streams, the updates of the call go to its stream.
   * @default a run of its own
   */
  readonly run?: RunContext | undefined
  /** Run that a call with a run of its own is made for. @default none */
  readonly parent?: RunContext | undefined
}

/**
 * Answers the request that the middleware has made of the context: returns a response, a text or
 * updates, or sets `context.result`.
 */
export type ChatHandler = (
  context: ChatContext,
) => ChatAnswer | Promise<ChatAnswer> | AsyncIterable<ChatResponseUpdate>

/** Answer of a handler. */
export type ChatAnswer =
  | ChatResponse
  | ChatResponseInit
  | string
  | AsyncIterable<ChatResponseUpdate>
  | undefined

/** Runs model calls through chat middleware. */
export interface ChatPipeline {
  /**
   * Runs one model call. Resolves to what the outermost middleware leaves in `context.result`.
   * Without a handler, `context.client` answers.
   * @throws what a middleware or the handler throws, a termination without a result included
   */
  execute(context: ChatPipelineInput, handler?: ChatHandler): Promise<ChatResponse>
  /** Streams one model call that is a run of its own. The call starts with the first pull. */
  stream(
    context: Omit<ChatPipelineInput, 'run'>,
    handler?: ChatHandler,
  ): ResponseStream<ChatResponseUpdate, ChatResponse>
}

/**
 * Composes chat middleware for authors of clients and of loops. An `Agent` uses the same pipeline.
 *
 * @example
 * ```ts
 * import { chatMiddleware } from '@lamella/core'
 * import { chatPipeline } from '@lamella/core/authoring'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const shout = chatMiddleware('shout', async (context, callNext) => {
 *   const { text } = await callNext()
 *   context.result = text.toUpperCase()
 * })
 * const client = scriptedClient(['hello'])
 * const { text } = await chatPipeline(shout).execute({ client, messages: 'Say hello.' })
 * console.log(text) // HELLO
 * ```
 * @throws TypeError for an entry that is not a chat middleware
 */
export function chatPipeline(middleware: Nested<ChatMiddleware>): ChatPipeline {
  const { chat } = sortMiddlewares(middleware, 'chatPipeline', ['chat'])
  const callModel = composeModelCall(chat, (context) => {
    const { handler } = context.call.input as HandledCall
    if (handler !== undefined) context.client = handledBy(handler, context)
    return callClient(context)
  })
  return {
    async execute(context, handler) {
      const { run } = context
      const input = inputOf(context, handler)
      return run === undefined
        ? callOnce(callModel, input)
        : callModel(new ChatCall(engineOf(run), input, callModel))
    },
    stream: (context, handler) => streamOnce(callModel, inputOf(context, handler)),
  }
}

interface HandledCall extends ChatCallInput {
  readonly handler: ChatHandler | undefined
  readonly parent: RunContext | undefined
}

function inputOf(
  { client, messages, instructions, options = {}, signal, parent }: ChatPipelineInput,
  handler: ChatHandler | undefined,
): HandledCall {
  return { client, messages: toMessages(messages), instructions, options, signal, parent, handler }
}

/** A client of the same provider whose requests the handler answers. */
function handledBy(handler: ChatHandler, context: ChatView): ChatClient {
  const { client } = context
  const answer = async ({ options, signal }: ChatRequest): Promise<ChatAnswer> => {
    context.client = client
    context.options = options
    context.signal = signal
    return (await handler(context)) ?? context.result
  }
  return {
    provider: client.provider,
    name: client.name,
    model: client.model,
    fingerprint: client.fingerprint,
    middleware: [],
    getResponse: client.getResponse.bind(client),
    async respond(request) {
      const given = await answer(request)
      if (!isUpdates(given)) return toChatResponse(given)
      const fold = new ResponseFold()
      for await (const update of given) fold.add(update)
      return fold.response()
    },
    async *stream(request) {
      const given = await answer(request)
      if (isUpdates(given)) yield* given
      else yield* toUpdates(toChatResponse(given))
    },
  }
}

function isUpdates(answer: ChatAnswer): answer is AsyncIterable<ChatResponseUpdate> {
  return typeof answer === 'object' && Symbol.asyncIterator in answer
}
