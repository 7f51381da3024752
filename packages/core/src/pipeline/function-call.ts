import { MiddlewareContractError } from '../contract/contract-error.ts'
import type { FunctionInvocationContext, Tool, ToolDefinition } from '../contract/run.ts'
import type { Session } from '../messages/session.ts'
import type { MiddlewareTermination } from '../contract/termination.ts'
import { isToolError } from '../contract/tool-error.ts'
import type { FunctionCallContent } from '../messages/content.ts'
import type { FunctionResult } from '../messages/function-result.ts'
import { toFunctionResult } from '../messages/function-result.ts'
import type { LiveTools } from '../run/live-tools.ts'
import type { Run } from '../run/run.ts'
import type { PipelineCall } from './compose.ts'
import { CallView, defineInputs } from './compose.ts'

/** One call that is ready to run: its arguments fit the schema. */
export interface PreparedCall {
  readonly call: FunctionCallContent
  readonly tool: Tool
  readonly arguments: Readonly<Record<string, unknown>>
  /** Position of the call in the run. */
  readonly address: string
  /** Metadata of the approval, if there was one. */
  readonly metadata?: Record<string, unknown> | undefined
}

/** Runs a call through its middlewares to a result. What ended the loop with it, if a middleware did, is on the call. */
export type CallTool = (call: FunctionCall) => Promise<FunctionResult>

const noProgress: never[] = []

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
  /** True if a transform of a middleware threw, which is no fault of the tool. */
  progressFailed = false
  /** Transforms of the tool’s progress, with the depth of their middlewares. */
  #progress: { readonly depth: number; readonly transform: (value: unknown) => unknown }[] =
    noProgress
  /** Depth of the middleware that called `callNext()` last. */
  #entered = -1
  /** True if the tool itself returned the result. */
  executed = false
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

  enter(depth: number): void {
    this.result = this.insideResult = undefined
    this.#entered = depth
    this.#progress = this.#progress.filter((entry) => entry.depth <= depth)
  }

  transformProgress(transform: (value: unknown) => unknown, depth: number): void {
    if (depth <= this.#entered) {
      const problem = 'called transformProgress() after callNext(); register before'
      throw new MiddlewareContractError(`around ${this.prepared.tool.name}`, problem)
    }
    this.#progress = [...this.#progress, { depth, transform }]
  }

  /** Transforms a value that the tool has yielded; undefined if a middleware drops it. */
  progressOf(value: unknown): unknown {
    this.progressFailed = true
    const changed = this.#progress.reduceRight(
      (before, { transform }) => (before === undefined ? before : transform(before)),
      value,
    )
    this.progressFailed = false
    return changed
  }

  /** The tool has returned its result, or something else instead. */
  finish(result: FunctionResult, executed: boolean): void {
    this.executed = executed
    this.result = this.insideResult = result
  }

  acceptResult(): void {
    this.insideResult = this.result
  }

  fail(): void {}
  cancelInside(): void {}
}

export class FunctionView
  extends CallView<FunctionResult, FunctionCall>
  implements FunctionInvocationContext
{
  declare arguments: Readonly<Record<string, unknown>>
  declare data: unknown

  derive(): this {
    return new FunctionView(this.call, this.depth + 1, this.inputs, this.ownSignal) as this
  }

  get function(): Tool {
    return this.call.prepared.tool
  }

  get callId(): string {
    return this.call.prepared.call.callId
  }

  get executed(): boolean {
    return this.call.executed
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
    this.checkResult()
    this.call.result = value === undefined ? undefined : toFunctionResult(value)
  }

  transformProgress(transform: (value: unknown) => unknown): void {
    this.call.transformProgress(transform, this.depth)
  }

  addTools(...tools: readonly ToolDefinition[]): void {
    this.tools.add(...tools)
  }

  removeTools(...tools: readonly (string | ToolDefinition)[]): void {
    this.tools.remove(...tools)
  }
}

defineInputs(FunctionView, 'arguments', 'data')

/**
 * Returns true if the tool of this call failed with the error, so that the model reads it. Any other error was
 * thrown by middleware and fails the run.
 */
export function isErrorOfTool(context: FunctionInvocationContext, error: unknown): boolean {
  return isToolError(error) || (context as FunctionView).call.toolFault?.error === error
}
