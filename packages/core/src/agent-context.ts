import type { Agent } from './agent.ts'
import type { AgentResponse, AgentResponseInit, AgentResponseUpdate } from './agent-response.ts'
import type { ChatOptions } from './chat-options.ts'
import type { Message } from './message.ts'
import type { RunContext } from './run-context.ts'
import type { Session } from './session.ts'
import type { ToolDefinition } from './tool.ts'
import type { UpdateTransformer } from './update-transformer.ts'

/** One run of an agent. Assignments are seen by the layers inside, and by nobody else. */
export interface AgentContext {
  readonly agent: Agent
  readonly run: RunContext
  readonly metadata: Record<string, unknown>
  /**
   * Aborted when the run ends early. A layer that may give up on the run puts one of its own in place,
   * as in a `ChatContext`: all model calls and tool calls of the run listen to it.
   */
  signal: AbortSignal
  readonly stream: boolean
  readonly released: boolean
  /** The input of this run; history is not in it. */
  messages: readonly Message[]
  session: Session | undefined
  instructions: string | undefined
  options: ChatOptions
  /** Tools of this run, besides the agent's own. */
  tools: readonly ToolDefinition[]
  get result(): AgentResponse | undefined
  set result(value: AgentResponse | AgentResponseInit | string | undefined)
  transformUpdates(transformer: UpdateTransformer<AgentResponseUpdate>): void
}
