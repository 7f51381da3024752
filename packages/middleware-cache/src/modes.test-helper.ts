import type { Agent, AgentResponse, MessageInput, RunOptions } from '@lamella/core'

export type Mode = 'plain' | 'streamed'
export const modes: readonly Mode[] = ['plain', 'streamed']

/** Runs an agent in a mode, to its end. */
export async function runIn(
  mode: Mode,
  agent: Agent,
  input: MessageInput = 'Hello',
  options: RunOptions = {},
): Promise<AgentResponse> {
  if (mode === 'plain') return agent.run(input, options)
  return agent.run(input, { ...options, stream: true }).finalResponse()
}
