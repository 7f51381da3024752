import type { RunMode } from '@lamella/testing'
import type {
  Agent,
  AgentResponse,
  AgentResponseUpdate,
  ChatClient,
  ChatResponse,
  GetResponseOptions,
  Middleware,
  RunOptions,
} from '../index.ts'
import { agentMiddleware, chatMiddleware, functionMiddleware } from '../index.ts'

/** Makes one call of a client in a mode, to its end. */
export async function respondIn(
  mode: RunMode,
  client: ChatClient,
  options: Omit<GetResponseOptions, 'stream'> = {},
): Promise<ChatResponse> {
  if (mode === 'plain') return client.getResponse('Hello', options)
  return client.getResponse('Hello', { ...options, stream: true }).finalResponse()
}

/** Reads a streamed run to its end and keeps what came. */
export async function readUpdates(
  agent: Agent,
  options: RunOptions = {},
): Promise<{ readonly updates: readonly AgentResponseUpdate[]; readonly response: AgentResponse }> {
  const stream = agent.run('Hello', { ...options, stream: true })
  const updates: AgentResponseUpdate[] = []
  for await (const update of stream) updates.push(update)
  return { updates, response: await stream.finalResponse() }
}

/** A middleware that writes down when it is entered and left. */
export function traced(level: Middleware['level'], name: string, log: string[]): Middleware {
  const process = async (_: unknown, callNext: () => Promise<unknown>): Promise<void> => {
    log.push(`${name} in`)
    await callNext()
    log.push(`${name} out`)
  }
  if (level === 'agent') return agentMiddleware(name, process)
  return level === 'chat' ? chatMiddleware(name, process) : functionMiddleware(name, process)
}
