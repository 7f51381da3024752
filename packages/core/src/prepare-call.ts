import type { PendingRequest } from './agent-response.ts'
import type { FunctionCallContent } from './content.ts'
import type { ApprovalNote } from './approval-gates.ts'
import { createSecretId } from './create-id.ts'
import type { PreparedCall } from './function-call.ts'
import type { LoopConfiguration } from './function-invocation.ts'
import type { FunctionResult } from './function-result.ts'
import { errorResult, toFunctionResult, unknownToolResult } from './function-result.ts'
import { parseArguments } from './parse-arguments.ts'
import type { Run } from './run.ts'
import type { Decision } from './tool-batch.ts'
import type { Tool } from './tool.ts'
import { isThenable } from './update-passage.ts'
import { formatIssues, validate } from './validate.ts'

/** What is to happen with one call: it has its result, waits for somebody, or runs. */
export type Step =
  | { readonly result: FunctionResult }
  | { readonly pending: PendingRequest }
  | { readonly run: PreparedCall }

/** Finds out what is to happen with a call. A promise only where a schema or a policy is async. */
export function prepareCall(
  run: Run,
  call: FunctionCallContent,
  decision: Decision | undefined,
  { includeDetailedErrors: includeDetails, onUnknownTool }: LoopConfiguration,
): Step | Promise<Step> {
  const isVerdict = decision !== undefined && 'approved' in decision
  if (isVerdict && !decision.approved) {
    return { result: errorResult('rejected', decision.reason ?? 'rejected', decision.reason) }
  }
  const tool = run.tools.get(call.name)
  if (tool?.type !== 'function') {
    return onUnknownTool ? answerUnknown(run, call, onUnknownTool) : unknown(call)
  }
  const refuse = (why: string): Step => ({
    result: errorResult('invalid_arguments', why, includeDetails ? why : undefined),
  })
  const parsed = parseArguments(call.arguments)
  if (parsed.error !== undefined) return refuse(parsed.error)
  const checked = validate(
    tool.parameters,
    (isVerdict && decision.arguments) || named(parsed.value, tool),
  )
  const accept = (result: Awaited<typeof checked>): Step | Promise<Step> => {
    if (result.issues !== undefined) return refuse(formatIssues(result.issues))
    const args = result.value as Record<string, unknown>
    if (decision === undefined) return prepareNew(run, call, tool, args)
    if (!isVerdict) return { result: toFunctionResult(decision.result) }
    return { run: { call, tool, arguments: args, metadata: { approval: decision, call } } }
  }
  return 'then' in checked ? checked.then(accept) : accept(checked)
}

async function answerUnknown(
  run: Run,
  call: FunctionCallContent,
  handler: NonNullable<LoopConfiguration['onUnknownTool']>,
): Promise<Step> {
  const answer = await handler(call, run)
  return answer === undefined ? unknown(call) : { result: toFunctionResult(answer) }
}

function unknown({ name }: FunctionCallContent): Step {
  return { result: unknownToolResult(name) }
}

/** Arguments by their own names. */
function named(
  args: Readonly<Record<string, unknown>> | undefined,
  { argumentAliases }: Tool,
): typeof args {
  if (argumentAliases === undefined || args === undefined) return args
  const entries = Object.entries(args).map(([name, value]): [string, unknown] => {
    const own = Object.hasOwn(argumentAliases, name) ? argumentAliases[name]! : name
    return [own === name || Object.hasOwn(args, own) ? name : own, value]
  })
  return Object.fromEntries(entries)
}

function prepareNew(
  { approvalGate }: Run,
  call: FunctionCallContent,
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
): Step | Promise<Step> {
  const { approval, execute } = tool
  const { callId } = call
  if (execute === undefined) {
    return { pending: { kind: 'function-call', id: createSecretId('call'), call } }
  }
  const decide = (asks: boolean | ApprovalNote): Step => {
    if (!asks) return { run: { call, tool, arguments: args } }
    const id = createSecretId('approval')
    const note = asks === true ? undefined : asks
    return {
      pending: { kind: 'approval', id, request: { type: 'approval-request', id, call, ...note } },
    }
  }
  const ask = (asks: boolean): Step | Promise<Step> => {
    const gated = approvalGate?.({ callId, arguments: args, tool, call, asks }) ?? asks
    return isThenable(gated) ? gated.then((more) => decide(more || asks)) : decide(gated || asks)
  }
  if (typeof approval !== 'function') return ask(approval === 'always')
  const asks = approval({ callId, arguments: args })
  return isThenable(asks) ? asks.then(ask) : ask(asks)
}
