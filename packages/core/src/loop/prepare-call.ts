import type { IdSource } from '../base/create-id.ts'
import { isThenable } from '../base/promises.ts'
import type { StandardResult } from '../base/standard-schema.ts'
import { freezePlain } from '../base/plain-data.ts'
import { formatIssues, validate } from '../base/validate.ts'
import type { LoopConfiguration } from '../contract/limits.ts'
import type { Decision, PendingRequest } from '../contract/outcome.ts'
import type { ApprovalNote, Tool, ToolDefinition } from '../contract/run.ts'
import { tool as makeTool } from '../contract/tool.ts'
import type { FunctionCallContent } from '../messages/content.ts'
import type { FunctionResult } from '../messages/function-result.ts'
import { errorResult, toFunctionResult, unknownToolResult } from '../messages/function-result.ts'
import { parseArguments } from '../messages/parse-arguments.ts'
import type { RequestedTools } from '../pipeline/chat-call.ts'
import type { PreparedCall } from '../pipeline/function-call.ts'
import { FunctionCall } from '../pipeline/function-call.ts'
import { composeToolCall } from '../pipeline/tool-call.ts'
import { askGates } from '../pausing/call-gates.ts'
import type { Run } from '../run/run.ts'

type Verdict = Extract<Decision, { readonly approved: boolean }>

/** Next step of a call: it has its result, waits for an answer, or runs. */
export type Step =
  | { readonly result: FunctionResult }
  | { readonly pending: PendingRequest }
  | { readonly run: PreparedCall }

/** Returns the tool for a call. Edits of the tools of a request apply to the calls that answer it, too. */
export function toolFor(
  { tools }: Run,
  name: string,
  requested: RequestedTools | undefined,
): ToolDefinition | undefined {
  const tool = tools.get(name)
  if (requested === undefined) return tool
  const { visible, tools: offered } = requested
  if (offered === visible || (tool !== undefined && offered.includes(tool))) return tool
  const wanted = tool?.name ?? name
  const own = offered.find((entry) => entry.name === wanted && !visible.includes(entry))
  return own ?? (tool !== undefined && visible.includes(tool) ? undefined : tool)
}

/** Determines the next step of a call. Async only if a schema or a policy is. */
export function prepareCall(
  run: Run,
  call: FunctionCallContent,
  address: string,
  known: ToolDefinition | undefined,
  decision: Decision | undefined,
  { includeDetailedErrors, onUnknownTool }: LoopConfiguration,
): Step | Promise<Step> {
  const isKnown = known?.type === 'function'
  const asked = isKnown
    ? known
    : { ...makeTool({ name: 'missing', description: '' }), name: call.name }
  return isKnown || isRejection(decision)
    ? prepareTool(run, call, address, asked, decision, includeDetailedErrors)
    : answerUnknown(run, call, address, asked, onUnknownTool)
}

/** Determines the next step of a call to `tool` that nobody has rejected. */
export function prepareTool(
  run: Run,
  call: FunctionCallContent,
  address: string,
  tool: Tool,
  decision: Decision | undefined,
  includeDetails: boolean,
): Step | Promise<Step> {
  const verdict = decision !== undefined && 'approved' in decision ? decision : undefined
  const parsed = parseArguments(call.arguments)
  const { value: given = {} } = parsed
  const answered = (result: FunctionResult): Promise<Step> =>
    passAnswer(run, { call, address, tool, arguments: given }, result)
  if (isRejection(decision)) {
    const { reason } = decision
    return answered(errorResult('rejected', reason ?? 'rejected', reason))
  }
  if (parsed.error !== undefined) return refused(parsed.error, includeDetails)
  const accept = (result: StandardResult<unknown>): Step | Promise<Step> => {
    if (result.issues !== undefined) return refused(formatIssues(result.issues), includeDetails)
    const args = freezePlain(result.value as Record<string, unknown>)
    if (decision === undefined) return prepareNew(run, { call, address, tool, arguments: args })
    if (verdict === undefined)
      return answered(toFunctionResult((decision as { result: unknown }).result))
    const metadata = { approval: verdict, call }
    return { run: { call, address, tool, arguments: args, metadata } }
  }
  const checked = validate(tool.parameters, verdict?.arguments || named(parsed.value, tool))
  return 'then' in checked ? checked.then(accept) : accept(checked)
}

function isRejection(decision: Decision | undefined): decision is Verdict {
  return (decision as Partial<Verdict> | undefined)?.approved === false
}

function refused(why: string, includeDetails: boolean): Step {
  return { result: errorResult('invalid_arguments', why, includeDetails ? why : undefined) }
}

async function answerUnknown(
  run: Run,
  call: FunctionCallContent,
  address: string,
  asked: Tool,
  handler: LoopConfiguration['onUnknownTool'],
): Promise<Step> {
  const answer = await handler?.(call, run)
  if (answer === undefined) return { result: unknownToolResult(call.name) }
  // Without a tool there is no schema that its arguments could fit.
  const prepared = { call, address, tool: asked, arguments: {} }
  return passAnswer(run, prepared, toFunctionResult(answer))
}

/** Passes the answer to a call that does not run through the middleware that handles answers. */
async function passAnswer(run: Run, prepared: PreparedCall, answer: FunctionResult): Promise<Step> {
  const handlers = run.middlewares.flatMap((one) =>
    one.level === 'function' && one.processAnswer !== undefined
      ? { name: one.name, process: one.processAnswer.bind(one) }
      : [],
  )
  const call = new FunctionCall(run, prepared, undefined, false)
  const result = await composeToolCall(handlers, () => call.answer(answer))(call)
  if (call.terminates !== undefined) throw call.terminates
  return { result }
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

function prepareNew({ callGates, ids }: Run, prepared: PreparedCall): Step | Promise<Step> {
  const { call, address, tool, arguments: args } = prepared
  const { approval, execute } = tool
  const { callId } = call
  if (execute === undefined) {
    return { pending: { kind: 'function-call', id: ids.createSecretId('call'), address, call } }
  }
  const ask = (asks: boolean): Step | Promise<Step> => {
    if (callGates.length === 0) return decided(prepared, asks, ids)
    const gated = askGates(callGates, { callId, arguments: args, tool, call, asks })
    return isThenable(gated)
      ? gated.then((more) => decided(prepared, more || asks, ids))
      : decided(prepared, gated || asks, ids)
  }
  if (typeof approval !== 'function') return ask(approval === 'always')
  const asks = approval({ callId, arguments: args })
  return isThenable(asks) ? asks.then(ask) : ask(asks)
}

/** Returns the next step of a call after its approval policy has decided. */
function decided(prepared: PreparedCall, asks: boolean | ApprovalNote, ids: IdSource): Step {
  if (!asks) return { run: prepared }
  const { call, address } = prepared
  const id = ids.createSecretId('approval')
  const note = asks === true ? undefined : asks
  const request = { type: 'approval-request', id, call, ...note } as const
  return { pending: { kind: 'approval', id, address, request } }
}
