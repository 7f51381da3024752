import type { ChatOptions } from '../contract/chat-options.ts'
import type { LoopInterceptor } from '../contract/interceptors.ts'
import type { PendingRequest, RunEnding } from '../contract/outcome.ts'
import type { MiddlewareTermination } from '../contract/termination.ts'
import type { ChatResponse } from '../messages/chat-response.ts'
import type { FunctionCallContent, FunctionResultContent } from '../messages/content.ts'
import type { Message } from '../messages/message.ts'

/** Outcome of the tool calls of one response. */
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
}

/** Input of an iteration, as its middleware finds it. */
export interface IterationInput {
  /** True if the iteration began before a pause: its model call is done. */
  readonly resumed: boolean
  readonly instructions: string | undefined
  readonly options: ChatOptions
  /** Returns the messages for the model, unless a middleware replaced them. */
  readonly history: () => readonly Message[]
}

/** Input of an iteration, as its middleware left it. */
export interface IterationEdits {
  readonly messages?: readonly Message[] | undefined
  readonly instructions?: string | undefined
  readonly options?: ChatOptions | undefined
  /** Replaces the model call. */
  readonly response?: ChatResponse | undefined
}

/** The levels of middleware inside the loop. Only runs that have some carry their code. */
export interface LoopLevels {
  add(interceptor: LoopInterceptor): void
  /** The agent middleware at `depth` runs: discards what those inside it have added, which will run again. */
  enter(depth: number): void
  iteration(
    input: IterationInput,
    work: (edits: IterationEdits) => Promise<RunEnding | undefined>,
  ): Promise<RunEnding | undefined>
  /** The model's response is in the conversation. */
  responded(response: ChatResponse): Promise<void>
  batch(
    calls: readonly FunctionCallContent[],
    parallel: boolean,
    work: () => Promise<BatchOutcome>,
  ): Promise<BatchOutcome>
}
