import type { FunctionInvocationContext, Tool, ToolDefinition } from '../contract/run.ts'
import type { Session } from '../messages/session.ts'
import type { MiddlewareTermination } from '../contract/termination.ts'
import type { FunctionCallContent } from '../messages/content.ts'
import type { FunctionResult } from '../messages/function-result.ts'
import { toFunctionResult } from '../messages/function-result.ts'
import type { LiveTools } from '../run/live-tools.ts'
import type { Run } from '../run/run.ts'
import type { MiddlewareView, PipelineCall } from './compose.ts'

/** One call that is ready to run: its arguments fit the schema. */
export interface PreparedCall {
  readonly call: FunctionCallContent
  readonly tool: Tool
  readonly arguments: Readonly<Record<string, unknown>>
  /** Metadata of the approval, if there was one. */
  readonly metadata?: Record<string, unknown> | undefined
}

/** Runs a call through its middlewares to a result. What ended the loop with it, if a middleware did, is on the call. */
export type CallTool = (call: FunctionCall) => Promise<FunctionResult>

export class FunctionCall implements PipelineCall<FunctionResult> {
  readonly run: Run
  readonly prepared: PreparedCall
  /** Overrides the run's signal. */
  readonly signal: AbortSignal | undefined
  readonly includesDetails: boolean
  result: FunctionResult | undefined
  /** The last result that came from inside a middleware. */
  insideResult: FunctionResult | undefined
  terminates: MiddlewareTermination | undefined
  /** Error that the tool itself threw. */
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
    this.result = this.insideResult = undefined
  }

  acceptResult(): void {
    this.insideResult = this.result
  }

  fail(): void {}
  cancelInside(): void {}
}

export class FunctionView implements FunctionInvocationContext, MiddlewareView<FunctionResult> {
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
