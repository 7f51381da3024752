import { copyPlain } from '../base/plain-data.ts'
import { isThenable, onAbort } from '../base/promises.ts'
import { callLater } from '../base/timers.ts'
import { formatIssues, validate } from '../base/validate.ts'
import { MiddlewareContractError } from '../contract/contract-error.ts'
import { isPause } from '../contract/control-flow.ts'
import type { Tool } from '../contract/run.ts'
import { isTermination } from '../contract/termination.ts'
import { ToolError } from '../contract/tool-error.ts'
import { toFunctionResult } from '../messages/function-result.ts'
import { saveStep } from '../pausing/checkpoint.ts'
import type { FunctionView } from './function-call.ts'

/** Innermost handler of a tool call: reads the context, runs the tool, records its result. */
export async function invokeTool(context: FunctionView): Promise<void> {
  const { call } = context
  const { run, prepared } = call
  const { address } = prepared
  const finished = run.journal.take('tool', address)
  if (finished !== undefined) {
    call.executed = true
    call.result = call.insideResult = finished.result
    return
  }
  const { tool } = prepared
  if (context.arguments !== prepared.arguments) {
    const checking = checkArguments(tool, context.arguments)
    context.arguments = await run.unlessAborted(checking, context.ownSignal)
  }
  // What the tool itself assigns to its context is too late.
  context.owner = tool.name
  context.isSent = true
  for (const { execution } of run.callGates) {
    const given: unknown = await execution?.(context)
    if (given === undefined) continue
    call.result = call.insideResult = toFunctionResult(given)
    return
  }
  let value: unknown
  const { idempotent, readOnly, resumable } = prepared.tool
  if (!idempotent && !readOnly && resumable !== true) {
    if (run.journal.isUncertain(address))
      throw new ToolError('The process ended while it ran.', { reason: 'uncertain' })
    if (run.keepsSteps) {
      run.journal.record({ kind: 'start', address })
      await saveStep(run)
    }
  }
  ;(context.ownSignal ?? run).throwIfAborted()
  run.journal.act()
  try {
    value = await execute(context, tool)
    if (context.late !== undefined) throw lateEdit(tool, context.late)
  } catch (error) {
    const isOfTool = !isTermination(error) && !isPause(error)
    if (isOfTool && !call.progressFailed) call.toolFault = { error }
    throw error
  }
  call.executed = true
  const result =
    value === undefined && call.result !== undefined ? call.result : toFunctionResult(value)
  call.result = call.insideResult = result
  run.journal.record({ kind: 'tool', address, result })
  return saveStep(run)
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
