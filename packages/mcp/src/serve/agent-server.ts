import type { Agent, KeyValueStore, RunOptions } from '@lamella/core'
import { memoryStore } from '@lamella/core'
import { checkOptions, wrongOption } from '@lamella/core/authoring'
import { perStore } from '@lamella/store'
import type { AuthInfo, CallToolResult, McpServerFactory } from '@modelcontextprotocol/server'
import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import { PausedRuns } from './paused-runs.ts'
import { serveCall } from './serve-call.ts'

/** A call of an agent by a client. */
export interface AgentServerRequest {
  /** Name of the agent. */
  readonly tool: string
  /** The caller, as your HTTP handler verified it. */
  readonly authInfo: AuthInfo | undefined
}

/** Options of `agentServer`. */
export interface AgentServerOptions {
  /**
   * Name of the server, for clients.
   * @default 'lamella'
   */
  readonly name?: string | undefined
  /**
   * Version of the server, for clients.
   * @default '1.0.0'
   */
  readonly version?: string | undefined
  /** Instructions for the client's model about the purpose of the agents. */
  readonly instructions?: string | undefined
  /**
   * Options of each run, such as `tenant` and `principal` of the caller: a run that waits for approval is continued
   * only for the same ones. Of a client's request, only the text enters a run by default.
   */
  readonly runOptions?:
    | ((request: AgentServerRequest) => RunOptions | Promise<RunOptions>)
    | undefined
  /**
   * Store of runs that wait for approval. Several processes need a shared one.
   * @default each agent's, otherwise this process
   */
  readonly store?: KeyValueStore | undefined
  /**
   * Milliseconds that a run waits for approval.
   * @default 900000
   */
  readonly approvalTtlMs?: number | undefined
}

/**
 * Creates an MCP server of agents: each is a tool with one argument, `input`. Pass the returned
 * function to `createMcpHandler` (HTTP) or `serveStdio` of `@modelcontextprotocol/server`.
 *
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { agentServer } from '@lamella/mcp/server'
 * import { scriptedClient } from '@lamella/testing'
 * import { createMcpHandler } from '@modelcontextprotocol/server'
 *
 * const client = scriptedClient(['It weighs 2 kg.'])
 * const research = new Agent({ client, description: 'Answers questions about our products.' })
 * export default createMcpHandler(agentServer({ research }))
 * ```
 * @throws TypeError or RangeError that names the option and the value
 */
export function agentServer(
  agents: Readonly<Record<string, Agent>>,
  options: AgentServerOptions = {},
): McpServerFactory {
  checkOptions('agentServer', options, {
    name: 'string?',
    version: 'string?',
    instructions: 'string?',
    runOptions: 'function?',
    store: 'any',
    approvalTtlMs: 1,
  })
  const byName = new Map(Object.entries(agents))
  for (const [tool, agent] of byName) {
    if (!/^[\w.-]{1,128}$/.test(tool)) {
      throw wrongOption('agentServer', 'agents', 'named by letters, digits, `_`, `-` and `.`', tool)
    }
    if (typeof agent?.run !== 'function') {
      throw wrongOption('agentServer', `agents.${tool}`, 'an agent', agent)
    }
  }
  const { name = 'lamella', version = '1.0.0', instructions, runOptions } = options
  const { approvalTtlMs = 900_000 } = options
  const pausedOf = perStore(
    options.store,
    (store) => new PausedRuns(store ?? memoryStore(), approvalTtlMs),
  )
  const tools = [...byName].map(([tool, { description }]) => toolOf(tool, description))

  return () => {
    const server = new Server(
      { name, version },
      { capabilities: { tools: {} }, ...(instructions !== undefined && { instructions }) },
    )
    server.setRequestHandler('tools/list', () => ({ tools }))
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const tool = params.name
      const agent = byName.get(tool)
      if (agent === undefined) {
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${tool}`)
      }
      const input: unknown = params.arguments?.['input']
      if (typeof input !== 'string') return mistake('`input` must be a string.')
      const authInfo = context.http?.authInfo
      const canAsk = server.getClientCapabilities()?.elicitation !== undefined
      const paused = pausedOf(agent)
      const served = { agent, tool, input, context, paused, canAsk, authInfo }
      return serveCall(served, async () => runOptions?.({ tool, authInfo }))
    })
    return server
  }
}

function toolOf(name: string, description = `Runs the agent ${name}.`) {
  return {
    name,
    description,
    inputSchema: {
      type: 'object' as const,
      properties: { input: { type: 'string' as const, description: 'What to do, in full.' } },
      required: ['input'],
      additionalProperties: false,
    },
  }
}

function mistake(words: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: words }] }
}
