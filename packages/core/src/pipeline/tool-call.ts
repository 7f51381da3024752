import { LamellaError, messageOf } from '../base/lamella-error.ts'
import { isPause } from '../contract/control-flow.ts'
import type { FunctionMiddleware } from '../contract/run.ts'
import type { MiddlewareTermination } from '../contract/termination.ts'
import { isTermination } from '../contract/termination.ts'
import { isToolError } from '../contract/tool-error.ts'
import type { FunctionResult } from '../messages/function-result.ts'
import { errorResult, toFunctionResult } from '../messages/function-result.ts'
import { compose } from './compose.ts'
import type { FunctionCall, CallTool } from './function-call.ts'
import { FunctionView, invokeTool } from './function-call.ts'

/**
 * Makes the function that runs one tool call through its middleware. What the tool throws becomes a
 * result; what a middleware throws does not.
 */
export function composeToolCall(
  middlewares: readonly Pick<FunctionMiddleware, 'name' | 'process'>[],
  handler: (context: FunctionView) => void | Promise<void> = invokeTool,
): CallTool {
  const runMiddlewares = compose<FunctionView, FunctionResult>(middlewares, handler, takeFailure)
  return (call) =>
    runMiddlewares(
      new FunctionView(
        call,
        0,
        { arguments: call.prepared.arguments, data: call.run.data },
        call.signal,
      ),
    )
}

function takeFailure({ call }: FunctionView, error: unknown): FunctionResult {
  if (isPause(error) || LamellaError.is(error, 'guardrail_tripped')) throw error
  if (isTermination(error)) {
    call.terminates = error
    return resultOf(error, call)
  }
  if (isToolError(error)) return errorResult(error.reason, error.message, error.message)
  const isOfTool = call.toolFault !== undefined && call.toolFault.error === error
  if (!isOfTool || (call.signal ?? call.run).aborted) throw error
  const detail = messageOf(error)
  return errorResult('tool_failed', detail, call.includesDetails ? detail : undefined)
}

function resultOf(error: MiddlewareTermination, call: FunctionCall): FunctionResult {
  // Its own result is the answer of the run, and no result of a tool.
  if (error.code === 'budget_exhausted') {
    return call.result ?? errorResult('budget', error.message)
  }
  if (error.result !== undefined) return toFunctionResult(error.result)
  // What the inside produced is withheld; what the middleware assigned counts.
  const { result, insideResult } = call
  return result === undefined || result === insideResult ? toFunctionResult(undefined) : result
}
