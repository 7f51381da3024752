import type {
  ChatContext,
  ChatOptions,
  ChatResponse,
  FunctionInvocationContext,
  Message,
} from '@lamella/core'

/** A model call that failed. */
export interface RetryFailure {
  /** 1 for the first try. */
  readonly attempt: number
  readonly error: unknown
  readonly context: ChatContext
}

/** A model call that was answered. */
export interface RetryReply {
  /** 1 for the first try. */
  readonly attempt: number
  readonly response: ChatResponse
  readonly context: ChatContext
}

/** A tool call that failed. */
export interface ToolRetryFailure {
  /** 1 for the first try. */
  readonly attempt: number
  readonly error: unknown
  readonly context: FunctionInvocationContext
}

/** What to do differently in the next try, and in those after it. */
export interface RetryChange {
  /** One word for events and attempts. */
  readonly reason?: string | undefined
  /** In place of the wait that would be. */
  readonly delayMs?: number | undefined
  readonly messages?: readonly Message[] | undefined
  readonly instructions?: string | undefined
  /** Laid over the options of the call. */
  readonly options?: ChatOptions | undefined
}

/** Whether to call again, and how. `undefined` leaves it to what is usual. */
export type RetryDecision = boolean | RetryChange | undefined
