import type { AgentOptions } from '@lamella/core'
import { Agent } from '@lamella/core'

/** An agent with the same settings, but for some. The other agent does not change. */
export function copyAgent(agent: Agent, changes: Partial<AgentOptions>): Agent {
  const { name, description, client, instructions, tools, options, functionInvocation } = agent
  const { onBlock, blockMessage, fallbackText, store, storeTimeoutMs, sign, clock, random } = agent
  return new Agent({
    name,
    description,
    client,
    instructions,
    tools,
    options,
    functionInvocation,
    onBlock,
    blockMessage,
    fallbackText,
    store,
    storeTimeoutMs,
    sign,
    clock,
    random,
    middleware: agent.middleware,
    ...changes,
  })
}
