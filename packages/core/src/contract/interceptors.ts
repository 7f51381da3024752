import type { ChatResponse, ChatResponseInit } from '../messages/chat-response.ts'
import type { FunctionCallContent, FunctionResultContent } from '../messages/content.ts'
import type { Message, MessageInput } from '../messages/message.ts'
import type { ChatOptions } from './chat-options.ts'
import type { RunEnding } from './outcome.ts'
import type { RunContext } from './run.ts'

/** One iteration of the loop: a model call and the tool calls that it requested. */
export interface IterationContext {
  /** Data and controls that all contexts of the run share. */
  readonly run: RunContext
  /** 0 for the first model call of the run. */
  readonly iteration: number
  /**
   * True if the iteration began before a pause: its model call is done, and its open tool calls run
   * now.
   */
  readonly resumed: boolean
  /**
   * Messages that are sent in this iteration. To change the conversation itself, use
   * `run.messages.rewrite`.
   */
  messages: readonly Message[]
  /** System instructions of this iteration. */
  instructions: string | undefined
  /** Model options of this iteration. */
  options: ChatOptions
  /**
   * Skips the model call if set before `next()`; `overrideResponse` replaces its response.
   * @default false
   */
  skipModelCall: boolean
  /** Response of a skipped model call. Its tool calls are executed. @default an empty response */
  overrideResponse: ChatResponse | ChatResponseInit | string | undefined
  /** The model's response. Undefined until the model call is done. */
  readonly response: ChatResponse | undefined
  /** Results of this iteration's tool calls so far. */
  readonly toolResults: readonly FunctionResultContent[]
  /** How the run ends after this iteration. Undefined before that is known, and if the run continues. */
  readonly ending: RunEnding | undefined
  /**
   * Adds messages of a user or the system to the conversation: before `next()`, ahead of the model call, or after
   * it, behind the tool calls. A run that would be `completed` then continues, within its limits. The messages
   * pass the input gates of the run first, and a message that the conversation has is not added again. Resolves
   * to the added messages, as the gates left them, when the step is recorded, if the run records steps. Rejects with the error of a gate; then none is added.
   * @throws MiddlewareContractError while calls are open: during `next()`, in a resumed iteration before it, and
   * after it if the run ends with another status than `completed`
   * @throws LamellaError `untrusted_input` for an approval or a tool result
   */
  addInput(input: MessageInput): Promise<readonly Message[]>
}

/** The tool calls of one model response, before and after they run. */
export interface BatchContext {
  /** Data and controls that all contexts of the run share. */
  readonly run: RunContext
  /** Iteration that the calls belong to; 0 for the first. */
  readonly iteration: number
  /** The calls, in the model's order. */
  readonly calls: readonly FunctionCallContent[]
  /** True if calls run concurrently: there are two or more, and `maxConcurrency` allows it. */
  readonly parallel: boolean
  /**
   * Skips all calls if set before `next()`; each gets the result of `overrideResult`.
   * @default false
   */
  skipToolExecution: boolean
  /** Returns the result of a skipped call, as a tool would. @default the result of a denied call */
  overrideResult: ((call: FunctionCallContent) => unknown) | undefined
  /**
   * Results in call order. Calls that wait for an answer have none. Undefined until the calls are
   * done.
   */
  readonly results: readonly FunctionResultContent[] | undefined
}

/** A middleware around an iteration or a batch of tool calls. */
export type InterceptorMiddleware<Context> = (
  context: Context,
  next: () => Promise<void>,
) => Promise<void>

/** Interceptors that an agent middleware adds to the loop of its run. */
export interface LoopInterceptor {
  /** Name for error messages. */
  readonly name: string
  /**
   * Runs around each iteration. `next()` rejects if the run pauses in this iteration. It cannot pause the
   * run after `next()` itself.
   */
  readonly iteration?: InterceptorMiddleware<IterationContext> | undefined
  /** Runs after each model call of the loop, when its response is in the conversation. */
  readonly response?: ((context: IterationContext) => void | Promise<void>) | undefined
  /** Runs around the tool calls of one response. */
  readonly batch?: InterceptorMiddleware<BatchContext> | undefined
}
