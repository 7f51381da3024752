import { LamellaError } from '../base/lamella-error.ts'
import { none } from '../base/none.ts'
import type { AgentResponse, PendingRequest, RunEnding } from '../contract/outcome.ts'
import { callAddress, callGroup, isSameCall, openIn } from '../messages/call-results.ts'
import type { ChatResponse } from '../messages/chat-response.ts'
import { contentFields } from '../messages/chat-response.ts'
import type {
  ApprovalRequestContent,
  FunctionCallContent,
  FunctionResultContent,
} from '../messages/content.ts'
import type { FunctionResult } from '../messages/function-result.ts'
import { matchResults } from '../messages/match-results.ts'
import type { Message } from '../messages/message.ts'
import { withAuthor } from '../messages/message.ts'
import type { Run } from '../run/run.ts'

/** Adds messages to the conversation of a run, and to what the caller sees of it. */
export function addAll(
  run: Run,
  given: readonly Message[],
  kind: 'messages' | 'response' = 'messages',
): void {
  const messages = withAuthor(given, run.agentName)
  run.journal.record({ kind, messages })
  if (!run.sink.streaming) return
  for (const { id: messageId, ...rest } of messages) run.sink.push({ ...rest, messageId })
}

/** Inserts results after their calls, even if newer messages exist. Then the result says which it came after. */
export function addResults(
  run: Run,
  results: readonly FunctionResultContent[],
  groupId?: string,
  {
    executed = 0,
    failed,
    isShown = true,
  }: {
    readonly executed?: number
    readonly failed?: boolean
    /** The caller's stream gets them. */
    readonly isShown?: boolean
  } = {},
): void {
  if (results.length === 0) return
  const { journal, messages, sink } = run
  const { added, all } = messages
  // The rest of the response with the calls stays with them.
  const place = all.findLastIndex(({ id }) => id === groupId)
  const isLast =
    place === all.length - 1 || all.slice(place).every((entry) => added.includes(entry))
  const group = groupId === undefined || isLast ? undefined : callGroup(all, groupId)
  const at = group?.end ?? all.length
  const isLate = at < all.length
  const message: Message = {
    id: run.ids.createId('msg'),
    role: 'tool',
    contents: results,
    ...(run.agentName !== undefined && { authorName: run.agentName }),
    ...(isLate && { metadata: { recordedAfter: all.at(-1)!.id } }),
  }
  journal.record({ kind: 'results', at, message, executed, failed })
  if (!sink.streaming || !isShown) return
  const { id: messageId, ...rest } = message
  sink.push({ ...rest, messageId })
}

/** The content of the last result in a group that is the answer of the run, also if it came before a pause. */
export function directAnswer(
  { tools, messages: { all } }: Run,
  groupId: string,
): FunctionResultContent['contents'] | undefined {
  if (!tools.mayReturnDirect) return undefined
  const { functionCalls } = contentFields(callGroup(all, groupId)?.messages ?? none)
  const direct = functionCalls.filter(({ name }) => tools.returnsDirect(name))
  const { results } = matchResults(all)
  const found = direct.flatMap((call) => results.get(call) ?? [])
  return found.findLast((result) => result !== undefined && result.error === undefined)?.contents
}

/** Returns the content that the model reads as the result of a call. */
export function resultOf(
  { callId, name, metadata }: FunctionCallContent,
  { contents, error }: FunctionResult,
): FunctionResultContent {
  return {
    type: 'function-result',
    callId,
    name,
    contents,
    ...(error && { error }),
    ...(metadata && { metadata }),
  }
}

/**
 * Gives the open calls of a run that ended their results: their own, or what is known about them. Calls from
 * before the run whose requests nobody has answered stay open. A caller sees nothing of a blocked run, whose
 * transforms take no more updates.
 */
export function settleCalls(run: Run, error: unknown): void {
  const { journal, messages } = run
  const { state } = journal
  if (!journal.acted) return
  // Nobody can answer what a call of a checkpoint has asked that is used up, except for its own request.
  const mayWait = (own: string): boolean =>
    state?.paused !== true ||
    state.pending.some(({ address, path }) => address === own && path === undefined)
  for (const id of journal.calledGroups) {
    const { all } = messages
    const open = openIn(all, callGroup(all, id))
    const isOwn = messages.added.some((entry) => entry.id === id)
    const ended = open.flatMap((call) => {
      // Equal calls are one, which the first of them has run.
      const first = open.find((other) => isSameCall(other, call))!
      const address = callAddress(all, first)
      if (!isOwn && !journal.isDecided(address) && mayWait(address)) return []
      return resultOf(call, journal.lastResult(address))
    })
    addResults(run, ended, id, { isShown: !LamellaError.is(error, 'guardrail_tripped') })
  }
}

/**
 * Adds the requests for approval to the message with their calls, or after it if that is from before the
 * run, so that the caller stores them.
 */
export function askFor(
  run: Run,
  id: string,
  pending: readonly PendingRequest[],
  waiting: ReadonlyMap<string, PendingRequest>,
): void {
  const { journal, messages, sink } = run
  const requests: ApprovalRequestContent[] = []
  for (const entry of pending) {
    if (entry.kind === 'approval' && entry.path === undefined && !waiting.has(entry.address))
      requests.push(entry.request)
  }
  if (requests.length === 0) return
  const isOwn = messages.added.some((entry) => entry.id === id)
  const message = isOwn ? messages.all.findLast((entry) => entry.id === id) : undefined
  if (message === undefined) {
    addAll(run, [{ id: run.ids.createId('msg'), role: 'assistant', contents: requests }])
    return
  }
  journal.record({
    kind: 'request',
    message: { ...message, contents: [...message.contents, ...requests] },
  })
  sink.push({ contents: requests, role: 'assistant', messageId: id })
}

/** Makes the loop's response: all messages of the run, and how it ended. */
export function loopResponse(
  run: Run,
  last: ChatResponse | undefined,
  { status, reason, pending = [] }: RunEnding,
): AgentResponse {
  run.progress.moveTo('run')
  const { id, finishReason, model, conversationId, metadata = {}, value } = last ?? {}
  const messages = [...run.messages.added]
  const { id: runId, usage, attempts } = run
  const response: AgentResponse = {
    id,
    messages,
    ...contentFields(messages),
    usage,
    finishReason,
    model,
    conversationId,
    metadata,
    status,
    runId,
    attempts,
    pending: status === 'paused' ? [...pending, ...run.interrupts.pending] : [],
    reason,
  }
  // A value may be anything: a run that continues from here reads it again.
  if (status !== 'paused') run.journal.record({ kind: 'end', response })
  return value === undefined || status === 'terminated' ? response : { ...response, value }
}
