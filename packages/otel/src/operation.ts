import type { RunContext, Usage } from '@lamella/core'
import type { LayerExit } from '@lamella/core/authoring'
import type { Context, Link, Span } from '@opentelemetry/api'
import type { Content } from './content-capture.ts'
import type { Facts } from './conventions.ts'

/** What an operation is started with. */
export interface OperationStart {
  /** `layer` is a layer that `traced()` has wrapped; the others are those of the conventions. */
  readonly operation: 'invoke_agent' | 'chat' | 'execute_tool' | 'layer'
  /** What it works on: an agent, a model, a tool. */
  readonly subject: string | undefined
  readonly run: RunContext
  /** Known at the start, so that samplers see them. */
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
  /** What is captured of it, where anything is. */
  readonly content?: (() => Content) | undefined
}

/** How `callNext()` ended: with a result, or with an error. */
export type Ending<Result> =
  | { readonly status: 'completed'; readonly result: Result }
  | { readonly status: LayerExit; readonly error: unknown; readonly result?: undefined }

/** A run, a model call or a tool call that goes on. */
export interface Operation {
  readonly start: OperationStart
  readonly startedAt: number
  ended: boolean
  /** Missing where there is no tracer, or a broken one. */
  span?: Span
  /** With the span in it. */
  context?: Context
}
