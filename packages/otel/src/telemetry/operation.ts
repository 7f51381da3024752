import type { RunContext, Usage } from '@lamella/core'
import type { exitOf } from '@lamella/core/authoring'
import type { Context, Link, Span } from '@opentelemetry/api'
import type { Content } from './content-capture.ts'
import type { Facts } from '../base/conventions.ts'

/** Facts at the start of an operation. */
export interface OperationStart {
  /** `middleware` is a middleware that `traced()` has wrapped; the others are those of the conventions. */
  readonly operation: 'invoke_agent' | 'chat' | 'execute_tool' | 'middleware'
  /** Subject of the operation: an agent, a model, a tool. */
  readonly subject: string | undefined
  readonly run: RunContext
  /** Set at the start, so that samplers see them. */
  readonly facts: Facts
  readonly messages?: number | undefined
  readonly links?: readonly Link[] | undefined
}

/** How an operation ended. */
export interface OperationEnd {
  readonly status: string
  readonly error?: unknown
  /** Of an error that was not thrown. */
  readonly errorType?: string | undefined
  readonly facts?: Facts | undefined
  readonly usage?: Usage | undefined
  readonly cost?: number | undefined
  /** Content to capture, if any. */
  readonly content?: (() => Content) | undefined
}

/** How `callNext()` ended: with a result, or with an error. */
export type Ending<Result> =
  | { readonly status: 'completed'; readonly result: Result }
  | {
      readonly status: ReturnType<typeof exitOf>
      readonly error: unknown
      readonly result?: undefined
    }

/** Ends of spans that wait for the end of the run, which tells whether a guardrail sealed it. */
export type HeldEnds = ((isSealed: boolean) => void)[]

/** Empty once the operation has ended: a context may live long, and an operation holds its run. */
export interface ActiveOperation {
  operation: Operation | undefined
}

/** A run, a model call or a tool call in progress. */
export interface Operation {
  readonly start: OperationStart
  readonly startedAt: number
  ended: boolean
  /** Undefined without a working tracer. */
  span?: Span
  /** Context with the span, and with what follows. */
  context?: Context
  active?: ActiveOperation
}
