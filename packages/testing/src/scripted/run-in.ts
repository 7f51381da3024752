import type { Agent, AgentResponse, MessageInput, RunOptions } from '@lamella/core'

/** Mode of a run. */
export type RunMode = 'plain' | 'streamed'

/** Both modes, for tables of tests: `describe.each(runModes)`. */
export const runModes: readonly RunMode[] = ['plain', 'streamed']

/** Options of `runIn`. */
export interface RunInOptions extends RunOptions {
  /**
   * Input of the run.
   * @default 'Hello'
   */
  readonly input?: MessageInput | undefined
}

/** Runs an agent in a mode, to its end. */
export async function runIn(
  mode: RunMode,
  agent: Agent,
  { input = 'Hello', ...options }: RunInOptions = {},
): Promise<AgentResponse> {
  if (mode === 'plain') return agent.run(input, options)
  return agent.run(input, { ...options, stream: true }).finalResponse()
}
