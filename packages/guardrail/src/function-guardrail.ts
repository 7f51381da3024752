import {
  functionMiddleware,
  isToolError,
  ToolError,
  text,
  textOf,
  errorResult,
} from '@lamella/core'
import type { FunctionInvocationContext, FunctionMiddleware, FunctionResult } from '@lamella/core'
import { isErrorOfTool, parseArguments } from '@lamella/core/authoring'
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
          if (!isErrorOfTool(context, thrown)) throw thrown
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
    return guardrail.fail(error, { stage, text: '' }, place)
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
