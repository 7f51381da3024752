import type { RunMode } from '@lamella/testing'
import type { Agent, AgentResponse, Checkpoint, RunOptions } from '../index.ts'

/** Continues a run from a checkpoint, plain or streamed. */
export async function resumeIn(
  mode: RunMode,
  agent: Agent,
  checkpoint: Checkpoint,
  answers: Record<string, unknown> = {},
  options: RunOptions = {},
): Promise<AgentResponse> {
  if (mode === 'plain') return agent.resume(checkpoint, answers, options)
  return agent.resume(checkpoint, answers, { ...options, stream: true }).finalResponse()
}
