import type { AgentResponse, RunEnding } from '../contract/outcome.ts'
import type { ChatResponse } from '../messages/chat-response.ts'
import { contentFields } from '../messages/chat-response.ts'
import type { Run } from '../run/run.ts'

/** Makes the loop's response: all messages of the run, and how it ended. */
export function loopResponse(
  run: Run,
  last: ChatResponse | undefined,
  { status, reason, pending = [] }: RunEnding,
): AgentResponse {
  run.place = 'run'
  run.pending = status === 'paused' ? [...pending, ...run.interrupts.pending] : []
  const { id, finishReason, model, conversationId, metadata = {}, value } = last ?? {}
  const messages = [...run.messages.added]
  const { text, functionCalls } = contentFields(messages)
  const { id: runId, usage, attempts } = run
  const response: AgentResponse = {
    id,
    messages,
    text,
    functionCalls,
    usage,
    finishReason,
    model,
    conversationId,
    metadata,
    status,
    runId,
    attempts,
    pending: run.pending,
    reason,
    ...(value === undefined || status === 'terminated' ? undefined : { value }),
  }
  if (status !== 'paused') run.journal.record({ kind: 'end', response })
  return response
}
