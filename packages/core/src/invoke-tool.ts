import type { FunctionView } from './function-call.ts'
import { toFunctionResult } from './function-result.ts'
import { isPause } from './interrupts.ts'
import { isTermination } from './termination.ts'
import type { Tool } from './tool.ts'
import { isToolError, ToolError } from './tool-error.ts'
import { isThenable } from './update-passage.ts'
import { formatIssues, validate } from './validate.ts'

/** The innermost handler of a tool call: reads the context, runs the tool, keeps what it came to. */
export async function invokeTool(context: FunctionView): Promise<void> {
  const { call } = context
  const { run, prepared } = call
  const { callId } = prepared.call
  const finished = run.finished.toolResults.get(callId)
  if (finished !== undefined) {
    run.finished.toolResults.delete(callId)
    call.result = finished
    ;(run.toolResults ??= new Map()).set(callId, finished)
    return
  }
  let args = context.arguments
  if (args !== prepared.arguments) args = await checkArguments(prepared.tool, args)
  let value: unknown
  try {
    value = await execute(context, prepared.tool, args)
  } catch (error) {
    if (!isTermination(error) && !isPause(error) && !isToolError(error)) call.toolFault = { error }
    throw error
  }
  call.result = toFunctionResult(value)
  ;(run.toolResults ??= new Map()).set(callId, call.result)
  if (run.keepsSteps) await run.saveStep()
}

/** @throws ToolError that names the fields and not the values */
async function checkArguments(
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const pending = validate(tool.parameters, args)
  const checked = 'then' in pending ? await pending : pending
  if (checked.issues === undefined) return checked.value as Record<string, unknown>
  throw new ToolError(formatIssues(checked.issues), { reason: 'invalid_arguments' })
}

function execute(context: FunctionView, tool: Tool, args: Record<string, unknown>): unknown {
  const { timeoutMs } = tool
  if (timeoutMs !== undefined) return executeWithin(context, tool, args, timeoutMs)
  const returned = start(context, tool, args)
  return isThenable(returned)
    ? context.call.run.unlessAborted(Promise.resolve(returned), context.ownSignal)
    : returned
}

async function executeWithin(
  context: FunctionView,
  tool: Tool,
  args: Record<string, unknown>,
  timeoutMs: number,
): Promise<unknown> {
  const { signal: outer } = context
  const controller = new AbortController()
  const onAbort = (): void => controller.abort(outer.reason)
  outer.addEventListener('abort', onAbort)
  const timer = setTimeout(() => {
    controller.abort(new ToolError(`it took more than ${timeoutMs} ms`, { reason: 'timeout' }))
  }, timeoutMs)
  context.signal = controller.signal
  try {
    return await context.run.unlessAborted(
      (async () => start(context, tool, args))(),
      controller.signal,
    )
  } finally {
    clearTimeout(timer)
    outer.removeEventListener('abort', onAbort)
    context.signal = outer
  }
}

function start(context: FunctionView, tool: Tool, args: Record<string, unknown>): unknown {
  const returned = tool.execute!(args, context)
  return isAsyncGenerator(returned) ? drainGenerator(context, tool, returned) : returned
}

/** What a generator yields is progress for the caller; what it returns is the result. */
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
      run.emit({ type: 'tool-progress', data: { callId, name: tool.name, value: step.value } })
    }
  } finally {
    await generator.return(undefined)
  }
}

function isAsyncGenerator(value: unknown): value is AsyncGenerator<unknown, unknown> {
  return (
    typeof value === 'object' && value !== null && Symbol.asyncIterator in value && 'next' in value
  )
}
