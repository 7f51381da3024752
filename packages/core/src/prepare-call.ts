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
import type { StandardResult } from './standard-schema.ts'
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
  const verdict = decision !== undefined && 'approved' in decision ? decision : undefined
  if (verdict && !verdict.approved) {
    return { result: errorResult('rejected', verdict.reason ?? 'rejected', verdict.reason) }
  }
  const tool = run.tools.get(call.name)
  if (tool?.type !== 'function') {
    return onUnknownTool ? answerUnknown(run, call, onUnknownTool) : unknown(call)
  }
  const parsed = parseArguments(call.arguments)
  if (parsed.error !== undefined) return refused(parsed.error, includeDetails)
  const accept = (result: StandardResult<unknown>): Step | Promise<Step> => {
    if (result.issues !== undefined) return refused(formatIssues(result.issues), includeDetails)
    const args = result.value as Record<string, unknown>
    if (decision === undefined) return prepareNew(run, call, tool, args)
    if (verdict === undefined)
      return { result: toFunctionResult((decision as { result: unknown }).result) }
    return { run: { call, tool, arguments: args, metadata: { approval: verdict, call } } }
  }
  const checked = validate(tool.parameters, verdict?.arguments || named(parsed.value, tool))
  return 'then' in checked ? checked.then(accept) : accept(checked)
}

function refused(why: string, includeDetails: boolean): Step {
  return { result: errorResult('invalid_arguments', why, includeDetails ? why : undefined) }
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
  const isPolicy = typeof approval === 'function'
  if (!isPolicy && approvalGate === undefined)
    return decided(call, tool, args, approval === 'always')
  const ask = (asks: boolean): Step | Promise<Step> => {
    const gated = approvalGate?.({ callId, arguments: args, tool, call, asks }) ?? asks
    return isThenable(gated)
      ? gated.then((more) => decided(call, tool, args, more || asks))
      : decided(call, tool, args, gated || asks)
  }
  const asks = isPolicy ? approval({ callId, arguments: args }) : approval === 'always'
  return isThenable(asks) ? asks.then(ask) : ask(asks)
}

/** What is to happen with a call, now that it is known whether somebody has to allow it. */
function decided(
  call: FunctionCallContent,
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  asks: boolean | ApprovalNote,
): Step {
  if (!asks) return { run: { call, tool, arguments: args } }
  const id = createSecretId('approval')
  const note = asks === true ? undefined : asks
  return {
    pending: { kind: 'approval', id, request: { type: 'approval-request', id, call, ...note } },
  }
}
