import type { PendingRequest } from './agent-response.ts'
import type { FunctionCallContent } from './content.ts'
import { createSecretId } from './create-id.ts'
import type { PreparedCall } from './function-call.ts'
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
  includeDetails: boolean,
): Step | Promise<Step> {
  const isVerdict = decision !== undefined && 'approved' in decision
  if (isVerdict && !decision.approved) {
    return { result: errorResult('rejected', decision.reason ?? 'rejected', decision.reason) }
  }
  const tool = run.tools.get(call.name)
  if (tool?.type !== 'function') return { result: unknownToolResult(call.name) }
  const refuse = (why: string): Step => ({
    result: errorResult('invalid_arguments', why, includeDetails ? why : undefined),
  })
  const parsed = parseArguments(call.arguments)
  if (parsed.error !== undefined) return refuse(parsed.error)
  const checked = validate(tool.parameters, (isVerdict && decision.arguments) || parsed.value)
  const accept = (result: Awaited<typeof checked>): Step | Promise<Step> => {
    if (result.issues !== undefined) return refuse(formatIssues(result.issues))
    const args = result.value as Record<string, unknown>
    if (decision === undefined) return prepareNew(call, tool, args)
    if (!isVerdict) return { result: toFunctionResult(decision.result) }
    return { run: { call, tool, arguments: args, metadata: { approval: decision } } }
  }
  return 'then' in checked ? checked.then(accept) : accept(checked)
}

function prepareNew(
  call: FunctionCallContent,
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
): Step | Promise<Step> {
  const { approval, execute } = tool
  if (execute === undefined) {
    return { pending: { kind: 'function-call', id: createSecretId('call'), call } }
  }
  const decide = (asks: boolean): Step => {
    if (!asks) return { run: { call, tool, arguments: args } }
    const id = createSecretId('approval')
    return { pending: { kind: 'approval', id, request: { type: 'approval-request', id, call } } }
  }
  if (typeof approval !== 'function') return decide(approval === 'always')
  const asks = approval({ callId: call.callId, arguments: args })
  return isThenable(asks) ? asks.then(decide) : decide(asks)
}
