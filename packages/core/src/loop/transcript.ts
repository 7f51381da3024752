import { createId } from '../base/create-id.ts'
import type { Decisions, PendingRequest } from '../contract/outcome.ts'
import { callGroup } from '../messages/call-results.ts'
import type { Content, FunctionResultContent } from '../messages/content.ts'
import type { Message } from '../messages/message.ts'
import type { Run } from '../run/run.ts'
import type { Batch } from './tool-batch.ts'

/** Adds messages to the conversation of a run, and to what the caller sees of it. */
export function addAll(run: Run, messages: readonly Message[]): void {
  run.messages.add(messages)
  for (const { id, role, contents } of messages) run.sink.push({ contents, role, messageId: id })
}

/** Inserts results after their calls, even if newer messages exist. */
export function addResults(
  run: Run,
  results: readonly FunctionResultContent[],
  groupId?: string,
): void {
  if (results.length === 0) return
  const { messages, conversationId, sent, sink } = run
  const { all } = messages
  const message: Message = { id: createId('msg'), role: 'tool', contents: results }
  const group =
    groupId === undefined || all.at(-1)?.id === groupId ? undefined : callGroup(all, groupId)
  const end = group?.end ?? all.length
  // What a provider that keeps the conversation has seen lies behind.
  messages.insert(conversationId === undefined ? end : Math.max(end, sent), message)
  sink.push({ contents: results, role: 'tool', messageId: message.id })
}

/** Writes down what is to be decided, at the calls it is about. */
export function askFor(
  { messages, sink }: Run,
  id: string,
  pending: readonly PendingRequest[],
  waiting: Batch['waiting'],
): void {
  const requests: Content[] = []
  for (const entry of pending) {
    if (entry.kind === 'approval' && waiting?.get(entry.request.call.callId) !== entry)
      requests.push(entry.request)
  }
  const message = messages.all.findLast((entry) => entry.id === id)
  if (requests.length === 0 || message === undefined) return
  messages.replace({ ...message, contents: [...message.contents, ...requests] })
  sink.push({ contents: requests, role: 'assistant', messageId: id })
}

/** Keeps what was decided about calls that are still open. */
export function hold(
  run: Run,
  id: string,
  decisions: Decisions | undefined,
  results: readonly FunctionResultContent[] = [],
): void {
  const open = new Map(decisions)
  for (const { callId } of results) open.delete(callId)
  ;(run.held ??= new Map()).set(id, open)
}
