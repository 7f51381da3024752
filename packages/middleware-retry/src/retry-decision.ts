import type {
  ChatContext,
  ChatOptions,
  ChatResponse,
  FunctionInvocationContext,
  Message,
} from '@lamella/core'

/** A failed model call, as `retryOn` gets it. */
export interface RetryFailure {
  /** Number of the try, from 1. */
  readonly attempt: number
  /** The error that the call failed with. */
  readonly error: unknown
  /** Context of the model call. */
  readonly context: ChatContext
}

/** An answered model call, as `rejectReply` gets it. */
export interface RetryReply {
  /** Number of the try, from 1. */
  readonly attempt: number
  /** The reply to judge. */
  readonly response: ChatResponse
  /** Context of the model call. */
  readonly context: ChatContext
}

/** A failed tool call, as `tools.retryOn` gets it. */
export interface ToolRetryFailure {
  /** Number of the try, from 1. */
  readonly attempt: number
  /** The error that the tool failed with. */
  readonly error: unknown
  /** Context of the tool call. */
  readonly context: FunctionInvocationContext
}

/** Changes for the next try and those after it. */
export interface RetryChange {
  /** One word for events and attempts. */
  readonly reason?: string | undefined
  /** Milliseconds to wait, overriding the computed wait. */
  readonly delayMs?: number | undefined
  /** Messages to send instead. */
  readonly messages?: readonly Message[] | undefined
  /** Instructions to send instead. */
  readonly instructions?: string | undefined
  /** Options merged over those of the call. */
  readonly options?: ChatOptions | undefined
}

/**
 * Decides on a retry: `true` retries, `false` does not, a change retries with it. `undefined` leaves the
 * decision to the default.
 */
export type RetryDecision = boolean | RetryChange | undefined
