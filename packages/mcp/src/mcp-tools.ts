import type { AgentMiddleware, Message, Tool } from '@lamella/core'
import { defineAgentMiddleware, perRun } from '@lamella/core/authoring'
import { Connection } from './connection/connection.ts'
import { mcpReport } from './base/mcp-event.ts'
import type { McpServer } from './connection/mcp-server.ts'
import { checkServer } from './connection/mcp-server.ts'
import { never } from './base/never.ts'
import type { McpToolsOptions } from './mcp-tools-options.ts'
import { checkMcpToolsOptions } from './mcp-tools-options.ts'
import type { McpPrompt, McpResource } from './contents/prompt-messages.ts'
import { getPrompt, listPrompts, listResources, readResource } from './contents/prompt-messages.ts'
import { noteServer } from './contents/sample.ts'
import { ServerQuestions } from './tools/server-questions.ts'
import { ToolList } from './tools/tool-list.ts'

/** Settings of a read. */
export interface McpReadOptions {
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined
}

/**
 * A middleware that offers the tools of a server to each run of an agent. It has one connection,
 * which the first use opens, and which all runs and agents with this middleware share.
 */
export interface McpTools extends AgentMiddleware, AsyncDisposable {
  /** Returns the current tools, for an agent's own list. */
  tools(options?: McpReadOptions): Promise<readonly Tool[]>
  /** Returns fingerprints of the current tools, for `pinned`. */
  fingerprints(options?: McpReadOptions): Promise<Record<string, string>>
  /** Lists the server's resources. */
  resources(options?: McpReadOptions): Promise<readonly McpResource[]>
  /** Reads a resource, as a message of the user. */
  readResource(uri: string, options?: McpReadOptions): Promise<Message>
  /** Lists the server's prompts. */
  prompts(options?: McpReadOptions): Promise<readonly McpPrompt[]>
  /** Gets a prompt, as messages of the user and the assistant. */
  getPrompt(
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: McpReadOptions,
  ): Promise<readonly Message[]>
  /**
   * Finishes an authorization with the query of the redirect that `authProvider` requested. The
   * next use of the server connects with the tokens.
   */
  finishAuth(redirect: URLSearchParams): Promise<void>
  /**
   * Closes the connection, and ends the process of the server if there is one. A later use reopens
   * it.
   */
  close(): Promise<void>
}

/**
 * Offers the tools of an MCP server to an agent. It connects at the first run.
 *
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { mcpTools } from '@lamella/mcp'
 * import { stdio } from '@lamella/mcp/stdio'
 * import { scriptedClient } from '@lamella/testing'
 *
 * // Connects with the first run.
 * const files = mcpTools(stdio({ command: 'mcp-server-filesystem', args: ['/srv/docs'] }), { name: 'files' })
 * const client = scriptedClient(['The folder is empty.'])
 * await using agent = new Agent({ client, middleware: files })
 * ```
 * @throws TypeError or RangeError that names the option and the value
 */
export function mcpTools(server: McpServer, options: McpToolsOptions = {}): McpTools {
  checkServer(server)
  checkMcpToolsOptions(options)
  const { name = 'mcp', maxResultBytes = 1_000_000, timeoutMs = 60_000, tools: offered } = options
  const report = mcpReport(name, options.onEvent)
  const questions = new ServerQuestions({
    server: name,
    elicitation: options.elicitation ?? 'ask',
    elicitationTimeoutMs: options.elicitationTimeoutMs ?? 300_000,
    sampling: options.sampling,
    report,
  })
  const connection = new Connection(server, {
    name,
    connectTimeoutMs: options.connectTimeoutMs ?? 30_000,
    // JSON escapes, and lists of tools are read the same way.
    maxBodyBytes: 2 * maxResultBytes + 1_000_000,
    ...questions.clientSetup(),
    onToolsChanged: () => list.expire(),
    onOpened: () => report({ status: 'connected' }),
    onLost() {
      list.expire()
      report({ status: 'disconnected' })
    },
  })
  const shared = { server: name, connection, timeoutMs, maxResultBytes }
  const { prefix = `${name}_` } = options
  const list: ToolList = new ToolList({
    ...shared,
    questions,
    report,
    onUnknownTool: () => list.expire(),
    maxCallMs: options.maxCallMs ?? 600_000,
    prefix,
    offers: typeof offered === 'function' ? offered : (tool) => offered?.includes(tool) ?? true,
    isTrusted: options.trust === 'annotations',
    pinned: options.pinned,
    onDrift: options.onDrift ?? 'ask',
    required: options.required ?? true,
    maxTools: options.maxTools ?? 200,
    listTtlMs: options.listTtlMs ?? 300_000,
    maxSchemaBytes: options.maxSchemaBytes ?? 32_768,
    maxDescriptionChars: options.maxDescriptionChars ?? 2000,
  })
  const atRun = defineAgentMiddleware(
    'mcp',
    { when: options.when, name },
    async (context, callNext) => {
      const { agent, run, signal } = context
      questions.enter(run, agent)
      enterPrefix(prefixesOf(run), prefix)
      context.tools = [...context.tools, ...(await list.tools(signal, run))]
      await callNext()
    },
  )
  const close = (): Promise<void> => {
    list.expire()
    return connection.close()
  }
  return noteServer({
    ...atRun,
    tools: ({ signal = never } = {}) => list.tools(signal),
    fingerprints: ({ signal = never } = {}) => list.fingerprints(signal),
    resources: ({ signal = never } = {}) => listResources(shared, signal),
    readResource: (uri, { signal = never } = {}) => readResource(shared, uri, signal),
    prompts: ({ signal = never } = {}) => listPrompts(shared, signal),
    getPrompt: (prompt, args = {}, { signal = never } = {}) =>
      getPrompt(shared, prompt, args, signal),
    finishAuth: (redirect) => connection.finishAuth(redirect),
    close,
    [Symbol.asyncDispose]: close,
  } satisfies McpTools)
}

/** Prefixes of the servers of a run. */
const prefixesOf = perRun(() => new Set<string>())

/**
 * A server whose prefix begins that of another could offer tools under the other's names, which policies
 * allow. A server without a prefix takes no names of others by intention.
 */
function enterPrefix(known: Set<string>, prefix: string): void {
  for (const other of known) {
    const isTaken = prefix !== other && (prefix.startsWith(other) || other.startsWith(prefix))
    if (!isTaken || prefix === '' || other === '') continue
    throw new TypeError(
      `mcpTools: the prefixes "${other}" and "${prefix}" of two servers of a run begin alike, so tools of one could have names of the other; give one of them another \`name\` or \`prefix\``,
    )
  }
  known.add(prefix)
}
