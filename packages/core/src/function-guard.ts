import type { Content } from './content.ts'
import { text, textOf } from './content.ts'
import type { FunctionInvocationContext } from './function-context.ts'
import type { FunctionResult } from './function-result.ts'
import { errorResult } from './function-result.ts'
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
    const about = { toolName: context.function.name, callId: context.callId }
    if (!(await guard.applies(place, 'arguments'))) {
      await callNext()
      return
    }
    if (stages.has('arguments')) {
      const refused = await checkArguments(guard, context, place, about)
      if (refused !== undefined) {
        context.result = refused
        return
      }
    }
    const result = await callNext()
    let checked: readonly Content[] | FunctionResult = result.contents
    if (stages.has('result')) {
      checked = await checkPart(guard, checked, place, { ...about, stage: 'result', role: 'tool' })
    }
    if ('contents' in checked) {
      context.result = checked
      return
    }
    if (stages.has('file'))
      checked = await checkFiles(guard, checked, place, { ...about, role: 'tool' })
    if (checked === result.contents) return
    // What the tool returned, and what it threw, may say what was taken out.
    const { error } = result
    const message = textOf(checked)
    context.result = { contents: checked, ...(error && { error: { ...error, message } }) }
  })
}

/** Contents with what was to be replaced in them, or the result of a call that is refused. */
async function checkPart(
  guard: Guard,
  contents: readonly Content[],
  place: GuardPlace,
  about: Omit<GuardSubject, 'text' | 'final'>,
): Promise<readonly Content[] | FunctionResult> {
  const subject: GuardSubject = { contents, ...about, text: readableText(contents), final: true }
  if (subject.text === '') return contents
  const verdict = await guard.ask(subject, place)
  if (verdict?.action === 'retry') {
    guard.report('retry', subject.stage, verdict, place, { match: subject.text })
    if (guard.isShadow) return contents
    return errorResult('denied', verdict.category ?? 'policy', verdict.feedback ?? verdict.message)
  }
  const findings = guard.conclude(verdict, subject, place)
  return findings === undefined ? contents : editContents(contents, findings)
}

/** Returns the result of a call that is not to run. */
async function checkArguments(
  guard: Guard,
  context: FunctionInvocationContext,
  place: GuardPlace,
  about: Pick<GuardSubject, 'toolName' | 'callId'>,
): Promise<FunctionResult | undefined> {
  const stage = 'arguments'
  let json: string
  try {
    json = JSON.stringify(context.arguments)
  } catch (error) {
    return guard.fail(error, place, stage)
  }
  const given = [text(json)]
  const checked = await checkPart(guard, given, place, { ...about, stage })
  if ('contents' in checked) return checked
  if (checked === given) return undefined
  const edited = parseArguments(textOf(checked))
  // Something was found, so what cannot be repaired is blocked.
  if (edited.value === undefined)
    throw guard.tripped(stage, { category: 'broken_arguments' }, place)
  context.arguments = edited.value
  return undefined
}
