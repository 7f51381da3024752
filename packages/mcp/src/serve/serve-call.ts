import type {
  Agent,
  AgentResponse,
  AgentResponseUpdate,
  PendingRequest,
  ResponseStream,
  RunOptions,
} from '@lamella/core'
import { isProviderError, LamellaError, checkpointState } from '@lamella/core'
import { isObject, sha256, unlessAborted } from '@lamella/core/authoring'
import type {
  AuthInfo,
  CallToolResult,
  InputRequiredResult,
  ServerContext,
} from '@modelcontextprotocol/server'
import { inputRequired } from '@modelcontextprotocol/server'
import type { PausedRuns } from './paused-runs.ts'

/** A call of an agent, and what it is served with. */
export interface ServedCall {
  readonly agent: Agent
  readonly tool: string
  readonly input: string
  readonly context: ServerContext
  readonly paused: PausedRuns
  /** True if the client can ask a person. */
  readonly canAsk: boolean
  readonly authInfo: AuthInfo | undefined
}

interface PreparedCall extends ServedCall {
  readonly given: RunOptions | undefined
}

type Result = CallToolResult | InputRequiredResult
type Approval = Extract<PendingRequest, { kind: 'approval' }>

/**
 * Runs the agent, or continues a run after its approvals. Never tells a client the reason of a
 * failure.
 */
export async function serveCall(
  served: ServedCall,
  runOptions: () => Promise<RunOptions | undefined>,
): Promise<Result> {
  const { signal } = served.context.mcpReq
  try {
    const call = { ...served, given: await unlessAborted(signal, runOptions()) }
    const response = await start(call)
    if (response === undefined) return failed('This request expired or was answered before.')
    return await resultOf(call, response)
  } catch (error) {
    signal.throwIfAborted()
    return failed(`The agent failed: ${codeOf(error)}.`)
  }
}

async function start(call: PreparedCall): Promise<AgentResponse | undefined> {
  const { agent, input, context, given, paused } = call
  const { signal, requestState, inputResponses = {} } = context.mcpReq
  const options: RunOptions = {
    onRequest: () => Promise.reject(new Error('a client of this server cannot answer')),
    ...given,
    signal: given?.signal === undefined ? signal : AbortSignal.any([given.signal, signal]),
  }
  const key = requestState<string>()
  if (key === undefined) return follow(call, agent.run(input, { ...options, stream: true }))
  const checkpoint = await paused.take(key, await ownerOf(call))
  if (checkpoint === undefined) return undefined
  const answers = Object.fromEntries(
    checkpointState(checkpoint).pending.map(({ id }) => [id, isApproved(inputResponses[id])]),
  )
  return follow(call, agent.resume(checkpoint, answers, { ...options, stream: true }))
}

/** Milliseconds between two reports of progress. */
const reportEveryMs = 250

/** Reports progress of the run to the client as a count, without details. */
async function follow(
  { context }: ServedCall,
  stream: ResponseStream<AgentResponseUpdate, AgentResponse>,
): Promise<AgentResponse> {
  const { _meta: meta } = context.mcpReq
  const progressToken = meta?.progressToken
  if (progressToken === undefined) return stream.finalResponse()
  let progress = 0
  let reportedAt = -Infinity
  for await (const _ of stream) {
    progress++
    if (performance.now() - reportedAt < reportEveryMs) continue
    reportedAt = performance.now()
    const params = { progressToken, progress }
    await context.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
  }
  return stream.finalResponse()
}

async function resultOf(call: PreparedCall, response: AgentResponse): Promise<Result> {
  const { status, text, value } = response
  if (status === 'paused') return ask(call, response)
  return {
    content: [{ type: 'text', text }],
    ...(isObject(value) && { structuredContent: value }),
    ...((status === 'budget_exhausted' || status === 'max_iterations') && { isError: true }),
    _meta: { 'lamella/status': status },
  }
}

/** Asks the person at the client to approve pending requests. */
async function ask(call: PreparedCall, { checkpoint, pending }: AgentResponse): Promise<Result> {
  const approvals = pending.filter((request): request is Approval => request.kind === 'approval')
  if (checkpoint === undefined || approvals.length < pending.length || pending.length === 0) {
    return failed('The agent waits for something that cannot be asked here.')
  }
  if (!call.canAsk) return failed('The agent needs approval, and this client cannot ask for it.')
  const requestState = await call.paused.keep({ ...(await ownerOf(call)), checkpoint })
  const questions = approvals.map(({ id, request }) => {
    const reason = request.reason === undefined ? '' : ` (${request.reason})`
    const message = `Approve the call of ${request.call.name}${reason}?\n${request.call.arguments}`
    return [id, inputRequired.elicit({ message, requestedSchema: approveSchema })] as const
  })
  return inputRequired({ inputRequests: Object.fromEntries(questions), requestState })
}

const approveSchema = {
  type: 'object' as const,
  properties: { approve: { type: 'boolean' as const, title: 'Approve' } },
  required: ['approve'],
}

/** An approval is a clear yes. Everything else is a no. */
function isApproved(answer: unknown): boolean {
  const { action, content } = (answer ?? {}) as {
    readonly action?: unknown
    readonly content?: { readonly approve?: unknown }
  }
  return action === 'accept' && content?.approve === true
}

/** The owner of a run: program, tenant, and the user. A client id alone belongs to all users of one program. */
async function ownerOf({ authInfo, given, input, tool }: PreparedCall) {
  const { clientId, token, extra } = authInfo ?? {}
  const subject = typeof extra?.['sub'] === 'string' ? extra['sub'] : undefined
  // Without a name, the user is whoever has this token.
  const user = given?.principal ?? subject ?? (token === undefined ? null : await sha256(token))
  const principal = JSON.stringify([clientId ?? null, given?.tenant ?? null, user])
  return { tool, input, principal }
}

/** Returns the code of an error that a client may read. Details of the failure stay secret. */
function codeOf(error: unknown): string {
  if (isProviderError(error)) return 'provider_error'
  return LamellaError.is(error) ? error.code : 'run_failed'
}

function failed(words: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: words }] }
}
