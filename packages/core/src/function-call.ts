import { compose } from './compose.ts'
import type { FunctionCallContent } from './content.ts'
import type { FunctionInvocationContext } from './function-context.ts'
import type { FunctionResult } from './function-result.ts'
import { errorResult, toFunctionResult } from './function-result.ts'
import { isPause } from './interrupts.ts'
import { invokeTool } from './invoke-tool.ts'
import { LamellaError } from './lamella-error.ts'
import type { LayerContext, LayeredCall } from './layered-call.ts'
import type { FunctionMiddleware } from './middleware.ts'
import type { Run } from './run.ts'
import type { LiveTools } from './run-tools.ts'
import type { Session } from './session.ts'
import type { MiddlewareTermination } from './termination.ts'
import { isTermination } from './termination.ts'
import type { Tool, ToolDefinition } from './tool.ts'
import { isToolError } from './tool-error.ts'

/** One call that is ready to run: its arguments fit the schema. */
export interface PreparedCall {
  readonly call: FunctionCallContent
  readonly tool: Tool
  readonly arguments: Readonly<Record<string, unknown>>
  /** What the approval said, where there was one. */
  readonly metadata?: Record<string, unknown> | undefined
}

/** Runs a call through its layers to a result. What ended the loop with it, if a layer did, is on the call. */
export type FunctionPipeline = (call: FunctionCall) => Promise<FunctionResult>

/**
 * Makes the function that runs one tool call through its layers. What the tool throws becomes a
 * result; what a layer throws does not.
 */
export function functionPipeline(layers: readonly FunctionMiddleware[]): FunctionPipeline {
  const runLayers = compose<FunctionView, FunctionResult>(layers, invokeTool, takeFailure)
  return (call) =>
    runLayers(new FunctionView(call, 0, call.prepared.arguments, call.run.data, call.signal))
}

function takeFailure({ call }: FunctionView, error: unknown): FunctionResult {
  if (isPause(error) || LamellaError.is(error, 'guardrail_tripped')) throw error
  if (isTermination(error)) {
    call.terminates = error
    return resultOf(error, call)
  }
  if (isToolError(error)) return errorResult(error.reason, error.message, error.message)
  if (error !== call.toolFault?.error || (call.signal ?? call.run).aborted) throw error
  const detail = error instanceof Error ? error.message : String(error)
  return errorResult('tool_failed', detail, call.includesDetails ? detail : undefined)
}

function resultOf(error: MiddlewareTermination, { result }: FunctionCall): FunctionResult {
  // What it gives is the last word of the run, and no result of a tool.
  if (error.code === 'budget_exhausted') {
    return result ?? errorResult('budget', error.message)
  }
  return error.result === undefined && result !== undefined
    ? result
    : toFunctionResult(error.result)
}

export class FunctionCall implements LayeredCall<FunctionResult> {
  readonly run: Run
  readonly prepared: PreparedCall
  /** Where it is another one than the run's. */
  readonly signal: AbortSignal | undefined
  readonly includesDetails: boolean
  result: FunctionResult | undefined
  terminates: MiddlewareTermination | undefined
  /** What the tool itself threw. */
  toolFault: { readonly error: unknown } | undefined
  #metadata: Record<string, unknown> | undefined

  constructor(
    run: Run,
    prepared: PreparedCall,
    signal: AbortSignal | undefined,
    includesDetails: boolean,
  ) {
    this.run = run
    this.prepared = prepared
    this.signal = signal
    this.includesDetails = includesDetails
    this.#metadata = prepared.metadata
  }

  get metadata(): Record<string, unknown> {
    return (this.#metadata ??= {})
  }

  enter(): void {
    this.result = undefined
  }

  adopt(): void {}
  fail(): void {}
  abandon(): void {}
}

export class FunctionView implements FunctionInvocationContext, LayerContext<FunctionResult> {
  readonly call: FunctionCall
  readonly depth: number
  inside: Promise<FunctionResult> | undefined = undefined
  arguments: Readonly<Record<string, unknown>>
  data: unknown
  ownSignal: AbortSignal | undefined

  constructor(
    call: FunctionCall,
    depth: number,
    args: Readonly<Record<string, unknown>>,
    data: unknown,
    ownSignal: AbortSignal | undefined,
  ) {
    this.call = call
    this.depth = depth
    this.arguments = args
    this.data = data
    this.ownSignal = ownSignal
  }

  derive(): this {
    const { call, depth, arguments: args, data, ownSignal } = this
    return new FunctionView(call, depth + 1, args, data, ownSignal) as this
  }

  get signal(): AbortSignal {
    return this.ownSignal ?? this.call.run.signal
  }

  set signal(signal: AbortSignal) {
    this.ownSignal = signal
  }

  get run(): Run {
    return this.call.run
  }

  get metadata(): Record<string, unknown> {
    return this.call.metadata
  }

  get function(): Tool {
    return this.call.prepared.tool
  }

  get callId(): string {
    return this.call.prepared.call.callId
  }

  get executed(): boolean {
    return this.run.toolResults?.has(this.callId) === true
  }

  get session(): Session | undefined {
    return this.call.run.session
  }

  get tools(): LiveTools {
    return this.call.run.tools
  }

  get result(): FunctionResult | undefined {
    return this.call.result
  }

  set result(value: unknown) {
    this.call.result = value === undefined ? undefined : toFunctionResult(value)
  }

  addTools(...tools: readonly ToolDefinition[]): void {
    this.tools.add(...tools)
  }

  removeTools(...tools: readonly (string | ToolDefinition)[]): void {
    this.tools.remove(...tools)
  }
}
