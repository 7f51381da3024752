import { none } from '../base/none.ts'
import { checkInstructions } from '../contract/chat-options.ts'
import type { ChatOptions } from '../contract/chat-options.ts'
import { LiveTools } from '../run/live-tools.ts'
import type { RunPlan } from './agent-call.ts'

/** Tools of a run: the agent's, the run's, and those of the model options. */
export function toolsOf(
  { agent, options, config }: RunPlan,
  { tools: more }: ChatOptions,
): LiveTools {
  const own = agent.tools
  const { tools } = options
  const all =
    tools === undefined && more === undefined
      ? own
      : [...own, ...(tools ?? none), ...(more ?? none)]
  return new LiveTools(all, config.additionalTools)
}

/** Instructions of the agent, followed by those of the run. */
export function joinInstructions(
  base: string | undefined,
  more: string | undefined,
): string | undefined {
  checkInstructions(more)
  if (base === undefined || more === undefined || base === more) return more ?? base
  return `${base}\n${more}`
}
