import { endingOf, isPause } from '../contract/control-flow.ts'
import type { AgentResponse, RunStatus } from '../contract/outcome.ts'
import type { Block, GuardrailTripped } from '../contract/termination.ts'
import { isTermination } from '../contract/termination.ts'
import { toUpdates } from '../messages/chat-response.ts'
import type { Run } from '../run/run.ts'
import type { AgentCall, AgentView } from './agent-call.ts'
import { runRestart, toAgentResponse } from './agent-call.ts'

/** Turns an error that left all agent middleware into the response of an intended end, or rethrows it. */
export function recover(view: AgentView, error: unknown): Promise<AgentResponse> {
  const { call } = view
  if (isPause(error)) view.recordStart(call.faultDepth(error))
  // A guardrail further out may block what a termination put in place.
  return endOnPurpose(call, error).catch((next: unknown) => endOnPurpose(call, next))
}

/** Turns a termination or pause into a response; rethrows everything else. */
async function endOnPurpose(call: AgentCall, error: unknown): Promise<AgentResponse> {
  const { run, plan } = call
  const { agent, options } = plan
  if (isPause(error)) {
    if (call.result === undefined) return ended(run, call, 'paused')
    await call.acceptResult(call.faultDepth(error))
    return { ...call.result, status: 'paused' }
  }
  if (!isTermination(error)) throw error
  if (error.code === 'guardrail_tripped') {
    if ((options.onBlock ?? agent.onBlock) === 'throw') throw error
    const { block } = error as GuardrailTripped
    const blocked = {
      ...toAgentResponse(block.message || agent.blockMessage, run),
      status: 'blocked' as const,
      block,
    }
    const response = { ...blocked, usage: run.usage, finishReason: 'content-filter' as const }
    return supersede(call, response, block)
  }
  const { status, reason } = endingOf(error)
  // A budget judges no content, so the answer that used it up stays.
  const own = status === 'budget_exhausted' ? call.result : call.assigned
  const result = error.result === undefined ? own : toAgentResponse(error.result, run)
  if (result === undefined) return { ...(await ended(run, call, status)), reason }
  call.result = result
  await call.acceptResult(call.faultDepth(error))
  return { ...call.result, status, reason }
}

/** Makes a response from the messages of a run that ended without one, or in place of the loop's. */
async function ended(run: Run, call: AgentCall, status: RunStatus): Promise<AgentResponse> {
  if (call.isOver) call.withhold()
  const response = toAgentResponse({ messages: [...run.messages.added], usage: run.usage }, run)
  await call.completeLoop({ ...response, status })
  await call.read()
  return call.result!
}

/** Replaces everything that the caller has received so far with `response`. */
function supersede(call: AgentCall, response: AgentResponse, block: Block): AgentResponse {
  const { sink } = call.run
  call.withhold(block)
  if (sink.released) sink.push(runRestart)
  for (const update of toUpdates(response)) sink.push(update)
  return response
}
