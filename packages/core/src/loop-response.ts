import type { AgentResponse } from './agent-response.ts'
import type { ChatResponse } from './chat-response.ts'
import { contentFields } from './chat-response.ts'
import type { Run } from './run.ts'
import type { RunEnding } from './run-ending.ts'

/** What the loop came to: everything that the run has said, and how it ended. */
export function loopResponse(
  run: Run,
  last: ChatResponse | undefined,
  { status, reason, pending = [] }: RunEnding,
): AgentResponse {
  run.place = 'run'
  const { id, finishReason, model, metadata = {}, value } = last ?? {}
  const messages = [...run.messages.added]
  return {
    id,
    messages,
    ...contentFields(messages),
    usage: run.usage,
    finishReason,
    model,
    conversationId: run.conversationId,
    metadata,
    status,
    runId: run.id,
    attempts: run.attempts,
    pending: status === 'paused' ? [...pending, ...run.interrupts.pending] : pending,
    ...(reason === undefined ? undefined : { reason }),
    ...(value === undefined || status === 'terminated' ? undefined : { value }),
  }
}
