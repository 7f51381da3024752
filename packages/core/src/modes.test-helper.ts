import type {
  Agent,
  AgentResponse,
  AgentResponseUpdate,
  ChatClient,
  ChatResponse,
  GetResponseOptions,
  MessageInput,
  Middleware,
  RunOptions,
} from './index.ts'
import { agentMiddleware, chatMiddleware, functionMiddleware } from './index.ts'

export type Mode = 'plain' | 'streamed'
export const modes: readonly Mode[] = ['plain', 'streamed']

/** Runs an agent in a mode, to its end. */
export async function runIn(
  mode: Mode,
  agent: Agent,
  { input = 'Hello', ...options }: RunOptions & { readonly input?: MessageInput } = {},
): Promise<AgentResponse> {
  if (mode === 'plain') return agent.run(input, options)
  return agent.run(input, { ...options, stream: true }).finalResponse()
}

/** Makes one call of a client in a mode, to its end. */
export async function respondIn(
  mode: Mode,
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

/** A layer that writes down when it is entered and left. */
export function traced(level: Middleware['level'], name: string, log: string[]): Middleware {
  const process = async (_: unknown, callNext: () => Promise<unknown>): Promise<void> => {
    log.push(`${name} in`)
    await callNext()
    log.push(`${name} out`)
  }
  if (level === 'agent') return agentMiddleware(name, process)
  return level === 'chat' ? chatMiddleware(name, process) : functionMiddleware(name, process)
}
