import { functionMiddleware } from '../contract/middleware.ts'
import type { FunctionInvocationContext, FunctionMiddleware } from '../contract/run.ts'
import { ToolError, isToolError } from '../contract/tool-error.ts'
import { text, textOf } from '../messages/content.ts'
import type { FunctionResult } from '../messages/function-result.ts'
import { errorResult } from '../messages/function-result.ts'
import { parseArguments } from '../messages/parse-arguments.ts'
import type { FunctionView } from '../pipeline/function-call.ts'
import type { Guardrail, GuardrailPlace } from './guardrail-check.ts'
import { checkContents } from './judged-contents.ts'
import type { GuardrailStage } from './verdict.ts'

/**
 * Creates the middleware that checks arguments and results of tool calls, and the answers to calls that do not
 * run: as results, or by a guardrail that does not check results, as input.
 */
export function functionGuardrail(
  guardrail: Guardrail,
  stages: readonly GuardrailStage[],
): FunctionMiddleware {
  const answersOnly = stages.every((stage) => stage === 'input')
  const handle =
    (isAnswer: boolean): FunctionMiddleware['process'] =>
    async (context, callNext) => {
      let refusal: FunctionResult | undefined
      const stage = isAnswer && !stages.includes('result') ? 'input' : 'result'
      const place: GuardrailPlace = {
        level: 'function',
        middleware: context,
        side: stage,
        replaced: 'replaced',
        onRetry: ({ category = 'policy', feedback, message }) => {
          refusal ??= errorResult('denied', category, feedback ?? message)
        },
      }
      if ((!isAnswer && answersOnly) || !(await guardrail.applies(place, stage))) {
        await callNext()
        return
      }
      if (!isAnswer) await checkArguments(guardrail, stages, context, place)
      if (refusal === undefined) {
        const about = { ...aboutCall(context), stage, role: 'tool' } as const
        const { contents, error } = await callNext().catch(async (thrown: unknown) => {
          if (!isOfTool(thrown, context)) throw thrown
          const said = [text(thrown instanceof Error ? thrown.message : String(thrown))]
          const checked = await checkContents(guardrail, stages, said, about, place)
          if (refusal !== undefined) return refusal
          if (checked === said) throw thrown
          const message = textOf(checked)
          if (isToolError(thrown)) throw new ToolError(message, { reason: thrown.reason })
          return (context.result = errorResult('tool_failed', message))
        })
        const checked = await checkContents(guardrail, stages, contents, about, place)
        if (checked !== contents) {
          // The original result and error may contain what was removed.
          const message = textOf(checked)
          context.result = { contents: checked, ...(error && { error: { ...error, message } }) }
        }
      }
      if (refusal !== undefined) context.result = refusal
    }
  const middleware = functionMiddleware(guardrail.name, handle(false))
  return { ...middleware, processAnswer: handle(true), answersOnly }
}

/** Returns true for an error of the tool, which the model may read. An error of middleware fails the run. */
function isOfTool(thrown: unknown, context: FunctionInvocationContext): boolean {
  return isToolError(thrown) || (context as FunctionView).call.toolFault?.error === thrown
}

async function checkArguments(
  guardrail: Guardrail,
  stages: readonly GuardrailStage[],
  context: FunctionInvocationContext,
  place: GuardrailPlace,
): Promise<void> {
  const stage = 'arguments'
  if (!stages.includes(stage)) return
  let json: string
  try {
    json = JSON.stringify(context.arguments)
  } catch (error) {
    return guardrail.fail(error, stage, place)
  }
  const given = [text(json)]
  const checked = await checkContents(
    guardrail,
    [stage],
    given,
    { ...aboutCall(context), stage },
    place,
  )
  if (checked === given) return
  const { value } = parseArguments(textOf(checked))
  // Broken arguments with a finding cannot be edited safely.
  if (value === undefined) guardrail.trip(stage, { category: 'broken_arguments' }, place)
  else context.arguments = value
}

function aboutCall({ callId, function: { name } }: FunctionInvocationContext): {
  readonly toolName: string
  readonly callId: string
} {
  return { toolName: name, callId }
}
