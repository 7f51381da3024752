import { text, textOf } from './content.ts'
import type { FunctionView } from './function-call.ts'
import type { FunctionInvocationContext } from './function-context.ts'
import type { FunctionResult } from './function-result.ts'
import { errorResult } from './function-result.ts'
import type { Guard, GuardPlace } from './guard.ts'
import { checkContents } from './guarded-contents.ts'
import type { FunctionMiddleware } from './middleware.ts'
import { functionMiddleware } from './middleware.ts'
import { parseArguments } from './parse-arguments.ts'
import { isToolError, ToolError } from './tool-error.ts'
import type { GuardStage } from './verdict.ts'

/** Makes the layer that checks the arguments and the results of tool calls. */
export function functionGuard(guard: Guard, stages: readonly GuardStage[]): FunctionMiddleware {
  return functionMiddleware(guard.name, async (context, callNext) => {
    const refusals: FunctionResult[] = []
    const place: GuardPlace = {
      level: 'function',
      layer: context,
      side: 'result',
      replaced: 'replaced',
      onRetry: ({ category = 'policy', feedback, message }) => {
        refusals.push(errorResult('denied', category, feedback ?? message))
      },
    }
    if (!(await guard.applies(place, 'arguments'))) {
      await callNext()
      return
    }
    if (stages.includes('arguments')) await checkArguments(guard, context, place)
    if (refusals.length === 0) {
      const about = { ...aboutCall(context), stage: 'result', role: 'tool' } as const
      const { contents, error } = await callNext().catch(async (thrown: unknown) => {
        if (!isOfTool(thrown, context)) throw thrown
        const said = [text(thrown instanceof Error ? thrown.message : String(thrown))]
        const checked = await checkContents(guard, stages, said, about, place)
        if (refusals.length > 0) return refusals[0]!
        if (checked === said) throw thrown
        const message = textOf(checked)
        if (isToolError(thrown)) throw new ToolError(message, { reason: thrown.reason })
        return (context.result = errorResult('tool_failed', message))
      })
      const checked = await checkContents(guard, stages, contents, about, place)
      if (checked !== contents) {
        // What the tool returned, and what it threw, may say what was taken out.
        const message = textOf(checked)
        context.result = { contents: checked, ...(error && { error: { ...error, message } }) }
      }
    }
    if (refusals.length > 0) context.result = refusals[0]
  })
}

/** Whether the model may come to read what was thrown: what any other layer throws fails the run. */
function isOfTool(thrown: unknown, context: FunctionInvocationContext): boolean {
  return isToolError(thrown) || (context as FunctionView).call.toolFault?.error === thrown
}

async function checkArguments(
  guard: Guard,
  context: FunctionInvocationContext,
  place: GuardPlace,
): Promise<void> {
  const stage = 'arguments'
  let json: string
  try {
    json = JSON.stringify(context.arguments)
  } catch (error) {
    return guard.fail(error, stage, place)
  }
  const given = [text(json)]
  const checked = await checkContents(
    guard,
    [stage],
    given,
    { ...aboutCall(context), stage },
    place,
  )
  if (checked === given) return
  const { value } = parseArguments(textOf(checked))
  // Something was found, so what cannot be repaired is blocked.
  if (value === undefined) guard.trip(stage, { category: 'broken_arguments' }, place)
  else context.arguments = value
}

function aboutCall({ callId, function: { name } }: FunctionInvocationContext): {
  readonly toolName: string
  readonly callId: string
} {
  return { toolName: name, callId }
}
