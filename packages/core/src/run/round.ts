import type { ChatOptions } from '../contract/chat-options.ts'
import type { LoopInterceptor } from '../contract/interceptors.ts'
import type { PendingRequest, RunEnding } from '../contract/outcome.ts'
import type { MiddlewareTermination } from '../contract/termination.ts'
import type { ChatResponse } from '../messages/chat-response.ts'
import type { FunctionCallContent, FunctionResultContent } from '../messages/content.ts'
import type { FunctionResult } from '../messages/function-result.ts'
import type { Message } from '../messages/message.ts'

export interface BatchOutcome {
  /** In call order; calls that are pending have none. */
  readonly results: readonly FunctionResultContent[]
  readonly pending: readonly PendingRequest[]
  readonly executed: number
  readonly failed: boolean
  /** Termination by a middleware, which ends the loop. */
  readonly terminates: MiddlewareTermination | undefined
  /** A middleware paused the run. */
  readonly interrupted: boolean
  /** Result of a tool with `returnDirect`, the answer of the run. */
  readonly direct: FunctionResult | undefined
}

/** Edits of an iteration by its middlewares, made before the model call. */
export interface RoundEdits {
  readonly messages?: readonly Message[] | undefined
  readonly instructions?: string | undefined
  readonly options?: ChatOptions | undefined
  readonly response?: ChatResponse | undefined
}

/** Input of one iteration. */
export interface Round extends RoundEdits {
  readonly options: ChatOptions
  /** Returns the messages for the model, unless a middleware replaced them. */
  readonly history: () => readonly Message[]
}

/** Runs iterations and tool batches through the interceptors that middleware has added to the run. */
export interface RoundInterceptors {
  add(interceptor: LoopInterceptor): void
  /** The agent middleware at `depth` runs: discards interceptors of those inside it, which will run again. */
  enter(depth: number): void
  /** Runs one iteration. */
  round(
    round: Round,
    core: (edits: RoundEdits) => Promise<RunEnding | undefined>,
  ): Promise<RunEnding | undefined>
  /** Runs the rest of an iteration that began before a pause. */
  resume(core: () => Promise<RunEnding | undefined>): Promise<RunEnding | undefined>
  /** Notifies the interceptors that the model's response is in the conversation. */
  responded(response: ChatResponse): Promise<void>
  /** Runs the tool calls of one response. */
  batch(
    calls: readonly FunctionCallContent[],
    parallel: boolean,
    core: () => Promise<BatchOutcome>,
  ): Promise<BatchOutcome>
}
