import type { FunctionInvocationContext } from './function-context.ts'
import type { FunctionResult } from './function-result.ts'
import { errorResult } from './function-result.ts'
import { text, textOf } from './content.ts'
import type { Guard, GuardPlace } from './guard.ts'
import { editContents, readableText } from './guarded-contents.ts'
import { checkFiles } from './input-guard.ts'
import type { FunctionMiddleware } from './middleware.ts'
import { functionMiddleware } from './middleware.ts'
import { parseArguments } from './parse-arguments.ts'
import type { GuardStage, GuardSubject } from './verdict.ts'

/** Makes the layer that checks the arguments and the results of tool calls. */
export function functionGuard(guard: Guard, stages: ReadonlySet<GuardStage>): FunctionMiddleware {
  return functionMiddleware(guard.name, async (context, callNext) => {
    const place: GuardPlace = { level: 'function', layer: context, side: 'result' }
    const isWanted = await guard.applies(place, stages.has('arguments') ? 'arguments' : 'result')
    if (isWanted && stages.has('arguments')) {
      const refused = await checkArguments(guard, context, place)
      if (refused !== undefined) {
        context.result = refused
        return
      }
    }
    const result = await callNext()
    if (!isWanted) return
    const checked = await checkResult(guard, stages, result, place, aboutCall(context))
    if (checked !== result) context.result = checked
  })
}

function aboutCall(context: FunctionInvocationContext): Pick<GuardSubject, 'toolName' | 'callId'> {
  return { toolName: context.function.name, callId: context.callId }
}

/** Returns the result of a call that is not to run. */
async function checkArguments(
  guard: Guard,
  context: FunctionInvocationContext,
  place: GuardPlace,
): Promise<FunctionResult | undefined> {
  const stage = 'arguments'
  let json: string
  try {
    json = JSON.stringify(context.arguments)
  } catch (error) {
    return guard.fail(error, place, stage)
  }
  const subject: GuardSubject = { ...aboutCall(context), stage, text: json, final: true }
  const verdict = await guard.ask(subject, place)
  if (verdict?.action === 'retry') {
    guard.report('retry', stage, verdict, place, { match: json })
    return guard.isShadow
      ? undefined
      : refusal(verdict.category, verdict.feedback ?? verdict.message)
  }
  const findings = guard.conclude(verdict, subject, place)
  if (findings === undefined) return undefined
  const edited = parseArguments(textOf(editContents([text(json)], findings)))
  // Something was found, so what cannot be repaired is blocked.
  if (edited.value === undefined) throw guard.tripped(stage, verdict ?? {}, place)
  context.arguments = edited.value
  return undefined
}

async function checkResult(
  guard: Guard,
  stages: ReadonlySet<GuardStage>,
  result: FunctionResult,
  place: GuardPlace,
  about: Partial<GuardSubject>,
): Promise<FunctionResult> {
  const stage = 'result'
  const role = 'tool'
  let { contents } = result
  if (stages.has(stage)) {
    const subject: GuardSubject = {
      ...about,
      role,
      stage,
      text: readableText(contents),
      contents,
      final: true,
    }
    const verdict = subject.text === '' ? undefined : await guard.ask(subject, place)
    if (verdict?.action === 'retry') {
      guard.report('retry', stage, verdict, place, { match: subject.text })
      if (!guard.isShadow) return refusal(verdict.category, verdict.feedback ?? verdict.message)
    } else {
      const findings = guard.conclude(verdict, subject, place)
      if (findings !== undefined) contents = editContents(contents, findings)
    }
  }
  if (stages.has('file')) contents = await checkFiles(guard, contents, place, { ...about, role })
  if (contents === result.contents) return result
  // What the tool returned, and what it threw, may say what was taken out.
  const { error } = result
  return { contents, ...(error && { error: { ...error, message: textOf(contents) } }) }
}

function refusal(category = 'policy', feedback?: string): FunctionResult {
  return errorResult('denied', category, feedback)
}
