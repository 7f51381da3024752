import { MiddlewareContractError } from '../contract/contract-error.ts'
import type { FunctionInvocationContext, Tool, ToolDefinition } from '../contract/run.ts'
import type { Session } from '../messages/session.ts'
import type { MiddlewareTermination } from '../contract/termination.ts'
import { isToolError, ToolError } from '../contract/tool-error.ts'
import type { FunctionCallContent } from '../messages/content.ts'
import type { FunctionResult } from '../messages/function-result.ts'
import { toFunctionResult } from '../messages/function-result.ts'
import type { LiveTools } from '../run/live-tools.ts'
import type { Run } from '../run/run.ts'
import type { PipelineCall } from './compose.ts'
import { CallView, defineInputs } from './compose.ts'
import { copyPlain } from '../base/plain-data.ts'
import { isThenable, onAbort } from '../base/promises.ts'
import { callLater } from '../base/timers.ts'
import { unlessAborted } from '../base/waits.ts'
import { formatIssues, validate } from '../base/validate.ts'
import { exitOf, isPause } from '../contract/control-flow.ts'
import { isTermination } from '../contract/termination.ts'
import { saveStep } from '../pausing/checkpoint.ts'
import { outcomeOf } from '../run/failed-outcome.ts'

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

/** Runs a call through its middleware to a result. What ended the loop with it, if a middleware did, is on the call. */
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
  /** Transforms of the tool’s progress, with the depth of their middleware. */
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

  /** The call does not run, since it has been answered. */
  answer(result: FunctionResult): void {
    this.result = result
  }

  /** The tool has returned its result, or something else instead. */
  finish(result: FunctionResult, executed: boolean): void {
    this.executed = executed
    this.result = this.insideResult = result
  }

  /** The tool begins. */
  begin(): void {
    const { address, tool } = this.prepared
    this.run.journal.act(address, tool.readOnly)
  }

  /** The tool has returned its result before. */
  restore(result: FunctionResult): void {
    this.begin()
    this.finish(result, true)
    this.run.journal.record({ kind: 'tool', address: this.prepared.address, result })
  }

  acceptResult(): void {
    this.insideResult = this.result
  }
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

/** Innermost handler of a tool call: reads the context, runs the tool, records its result. */
export function invokeTool(context: FunctionView): void | Promise<void> {
  const { call } = context
  const { run, prepared } = call
  const { address, tool } = prepared
  const finished = run.journal.take('tool', address)
  if (finished !== undefined) return call.finish(finished.result, true)
  const isEdited = context.arguments !== prepared.arguments
  if (!isEdited && run.callGates.length === 0) return begin(context, tool)
  return passGates(context, tool).then((given) =>
    given === undefined ? begin(context, tool) : call.finish(toFunctionResult(given), false),
  )
}

/** Validates edited arguments. Returns what a gate answers instead of the tool. */
async function passGates(context: FunctionView, tool: Tool): Promise<unknown> {
  const { run, prepared } = context.call
  if (context.arguments !== prepared.arguments) {
    const checking = checkArguments(tool, context.arguments)
    context.arguments = await run.unlessAborted(checking, context.ownSignal)
  }
  seal(context, tool)
  for (const { execution } of run.callGates) {
    const given: unknown = await execution?.(context)
    if (given !== undefined) return given
  }
  return undefined
}

/** The tool, and gates before it, assign to their context too late. */
function seal(context: FunctionView, { name }: Tool): void {
  context.owner = name
  context.isSent = true
}

/** Runs the tool, unless nobody knows if it ran before a crash. */
function begin(context: FunctionView, tool: Tool): Promise<void> {
  const { run, prepared } = context.call
  const { address } = prepared
  seal(context, tool)
  const { idempotent, readOnly, resumable } = tool
  if (!idempotent && !readOnly && resumable !== true) {
    if (run.journal.isUncertain(address))
      throw new ToolError('The process ended while it ran.', { reason: 'uncertain' })
    if (run.keepsSteps) {
      run.journal.record({ kind: 'start', address })
      return saveStep(run)!.then(() => finish(context, tool))
    }
  }
  return finish(context, tool)
}

async function finish(context: FunctionView, tool: Tool): Promise<void> {
  const { call } = context
  const { run, prepared } = call
  ;(context.ownSignal ?? run).throwIfAborted()
  call.begin()
  let value: unknown
  try {
    // Also for a value that is there, so that a middleware that does not wait for its call is always found.
    value = await execute(context, tool)
    if (context.late !== undefined) throw lateEdit(tool, context.late)
  } catch (thrown) {
    const error = isTermination(thrown) && outcomeOf(thrown) !== undefined ? ended(thrown) : thrown
    const isOfTool = !isTermination(error) && !isPause(error)
    if (isOfTool && !call.progressFailed) call.toolFault = { error }
    throw error
  }
  const result =
    value === undefined && call.result !== undefined ? call.result : toFunctionResult(value)
  call.finish(result, true)
  run.journal.record({ kind: 'tool', address: prepared.address, result })
  if (run.keepsSteps) await saveStep(run)
}

/** The end of another run, which the tool has started, is no end of this one. */
function ended(cause: MiddlewareTermination): ToolError {
  return new ToolError(`A run that it started ended as ${exitOf(cause)}.`, { cause })
}

function lateEdit({ name }: Tool, input: string): MiddlewareContractError {
  const problem = `the tool "${name}" assigned context.${input}, where it changes nothing`
  return new MiddlewareContractError('', problem)
}

/** @throws ToolError that names the fields and not the values */
async function checkArguments(
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const checked = await validate(tool.parameters, args)
  if (checked.issues === undefined) return checked.value as Record<string, unknown>
  throw new ToolError(formatIssues(checked.issues), { reason: 'invalid_arguments' })
}

function execute(context: FunctionView, tool: Tool): unknown {
  const { timeoutMs } = tool
  if (timeoutMs !== undefined) return executeWithin(context, tool, timeoutMs)
  const returned = start(context, tool)
  if (typeof returned === 'string') return returned
  return isThenable(returned)
    ? context.call.run.unlessAborted(Promise.resolve(returned), context.ownSignal)
    : returned
}

async function executeWithin(
  context: FunctionView,
  tool: Tool,
  timeoutMs: number,
): Promise<unknown> {
  const { signal: outer } = context
  const controller = new AbortController()
  const stop = onAbort(outer, (reason) => controller.abort(reason))
  const stopTimer = callLater(context.run.clock, timeoutMs, () => {
    controller.abort(new ToolError(`it took more than ${timeoutMs} ms`, { reason: 'timeout' }))
  })
  context.signal = controller.signal
  try {
    return await context.run.unlessAborted((async () => start(context, tool))(), controller.signal)
  } finally {
    stopTimer()
    stop()
  }
}

function start(context: FunctionView, tool: Tool): unknown {
  // A tool that changes its arguments changes nothing for a retry.
  const returned = tool.execute!(copyPlain(context.arguments), context)
  return isAsyncGenerator(returned) ? drainGenerator(context, tool, returned) : returned
}

/**
 * Emits the values that a generator yields as progress, and returns its return value as the result.
 */
async function drainGenerator(
  context: FunctionView,
  tool: Tool,
  generator: AsyncGenerator<unknown, unknown>,
): Promise<unknown> {
  const { callId, run, signal } = context
  try {
    for (;;) {
      signal.throwIfAborted()
      const step = await generator.next()
      if (step.done === true) return step.value
      const value = context.call.progressOf(step.value)
      if (value === undefined && step.value !== undefined) continue
      run.emit({
        type: 'tool-progress',
        data: { callId, name: tool.name, value },
        public: tool.publicProgress === true,
      })
      // The consumer's pull is the backpressure, as for updates of a model.
      const lag = context.call.run.sink.caughtUp()
      if (lag !== undefined) await unlessAborted(signal, lag)
    }
  } finally {
    await generator.return?.(undefined)
  }
}

function isAsyncGenerator(value: unknown): value is AsyncGenerator<unknown, unknown> {
  return (
    typeof value === 'object' && value !== null && Symbol.asyncIterator in value && 'next' in value
  )
}
