import type { AgentInfo, MiddlewareInput, RunContext } from '@lamella/core'
import { Agent, message, text } from '@lamella/core'
import { unlessAborted } from '@lamella/core/authoring'
import { contentsOf } from './result-contents.ts'
import { mcpSampling } from '../base/mcp-questions.ts'

/** Limits of the model calls that a server may ask for. */
export interface McpSamplingOptions {
  /**
   * `ask` sends each as an event `mcpSampling`, which the caller answers with `true` or `false`.
   * @default 'ask'
   */
  readonly approval?: 'ask' | 'never' | undefined
  /**
   * Maximum tokens of an answer.
   * @default 1000
   */
  readonly maxTokens?: number | undefined
  /**
   * Maximum model calls for one tool call.
   * @default 5
   */
  readonly maxCalls?: number | undefined
}

/** A server's request for a model call. */
export interface SamplingRequest {
  readonly server: string
  readonly call: {
    readonly run: RunContext
    readonly tool: string
    readonly signal: AbortSignal
    samplings?: number
  }
  readonly agent: AgentInfo
  readonly params: Readonly<Record<string, unknown>>
  readonly options: McpSamplingOptions
}

const maxInputBytes = 100_000

/**
 * Makes a model call for a server: in a separate run with the client and the middleware of the
 * agent, but without its instructions, history and tools, which the server must not learn.
 */
export async function sample(request: SamplingRequest): Promise<object> {
  const { server, call, agent, params, options } = request
  const { approval = 'ask', maxTokens: most = 1000, maxCalls = 5 } = options
  const { run, tool, signal } = call
  call.samplings = (call.samplings ?? 0) + 1
  if (call.samplings > maxCalls) throw new Error('no more model calls for this tool call')
  if (params['tools'] !== undefined) throw new Error('tools are not supported')
  const { systemPrompt, maxTokens } = params
  const messages = messagesOf(params['messages'])
  const wished = typeof maxTokens === 'number' && maxTokens > 0 ? maxTokens : most
  const maxOutputTokens = Math.min(wished, most)
  const instructions = typeof systemPrompt === 'string' ? systemPrompt : undefined
  if (approval === 'ask') {
    const shown = messages.map(({ role, contents }) => ({ role, text: JSON.stringify(contents) }))
    const asked = mcpSampling({
      server,
      tool,
      instructions,
      messages: shown,
      maxTokens: maxOutputTokens,
    })
    if (!(await unlessAborted(signal, run.request(asked)))) throw new Error('it was not allowed')
  }
  const own = new Agent({
    client: agent.client,
    instructions,
    middleware: withoutServers(agent.middleware),
    options: { maxOutputTokens },
    onBlock: 'throw',
  })
  const response = await own.run(messages, { parent: run, signal, data: run.data })
  if (response.status !== 'completed') throw new Error(`the model call ended as ${response.status}`)
  return {
    role: 'assistant',
    content: { type: 'text', text: response.text },
    model: response.model ?? agent.client.model ?? agent.client.provider,
    stopReason: response.finishReason === 'length' ? 'maxTokens' : 'endTurn',
  }
}

const servers = new WeakSet<object>()

/** Notes a middleware that offers tools of a server: a server's model call has none of them. */
export function noteServer<Server extends object>(middleware: Server): Server {
  servers.add(middleware)
  return middleware
}

function withoutServers(middleware: MiddlewareInput): MiddlewareInput {
  if (!isList(middleware)) return servers.has(middleware) ? [] : middleware
  return middleware.map((inner) => withoutServers(inner))
}

function isList(middleware: MiddlewareInput): middleware is readonly MiddlewareInput[] {
  return Array.isArray(middleware)
}

function messagesOf(given: unknown): ReturnType<typeof message>[] {
  const list: unknown[] = Array.isArray(given) ? given : []
  return list.map((entry) => {
    const { role, content } = (entry ?? {}) as Readonly<Record<string, unknown>>
    const contents = contentsOf(content, maxInputBytes)
    return message(
      role === 'assistant' ? 'assistant' : 'user',
      contents.length > 0 ? contents : text(''),
    )
  })
}
