import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { McpServer as SdkServer, Server } from '@modelcontextprotocol/server'
import { InMemoryTransport } from '@modelcontextprotocol/server'
import type { AgentResponse, RunOptions } from '@lamella/core'
import { Agent, textOf } from '@lamella/core'
import type { ScriptedAnswer, ScriptedClient, ScriptedStep } from '@lamella/testing'
import { scriptedClient } from '@lamella/testing'
import type { McpEvent } from './base/mcp-event.ts'
import type { McpCustomServer } from './connection/mcp-server.ts'
import { mcpTools } from './mcp-tools.ts'
import type { McpTools } from './mcp-tools.ts'
import type { McpToolsOptions } from './mcp-tools-options.ts'

/** A server of the official SDK in this process. Each connection gets a new one. */
export function local(make: () => SdkServer | Server): McpCustomServer {
  return {
    async transport() {
      const [near, far] = InMemoryTransport.createLinkedPair()
      await make().connect(far)
      return near
    },
  }
}

/** Answers of a server that is not bound to any rule, by method. */
export type RawAnswers = Readonly<
  Record<string, (params: Record<string, unknown>, raw: RawTransport) => unknown>
>

/** Leaves a request without an answer. */
export const silence: unique symbol = Symbol('silence')

/** The near end of a server that says whatever a test wants. */
export class RawTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void
  onclose?: () => void
  onerror?: (error: Error) => void
  readonly received: { readonly method: string; readonly params: Record<string, unknown> }[] = []
  readonly #answers: RawAnswers

  constructor(answers: RawAnswers) {
    this.#answers = {
      initialize: () => ({
        protocolVersion: '2025-06-18',
        capabilities: { tools: { listChanged: true }, resources: {}, prompts: {} },
        serverInfo: { name: 'raw', version: '1' },
      }),
      ...answers,
    }
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    const { id, method, params = {} } = message as { id?: number; method: string; params?: object }
    this.received.push({ method, params: params as Record<string, unknown> })
    if (id === undefined) return
    try {
      const result = await this.#answers[method]?.(params as Record<string, unknown>, this)
      if (result !== silence) this.say({ id, result: result ?? {} })
    } catch (error) {
      const { code = -32603, message: text } = error as { code?: number; message: string }
      this.say({ id, error: { code, message: text } })
    }
  }

  /** Sends a message to the client. */
  say(message: object): void {
    const whole: object = structuredClone({ jsonrpc: '2.0', ...message })
    queueMicrotask(() => this.onmessage?.(whole as JSONRPCMessage))
  }

  async close(): Promise<void> {
    this.onclose?.()
  }
}

export interface Trial {
  readonly servers: McpTools
  readonly agent: Agent
  readonly client: ScriptedClient
  readonly events: McpEvent[]
  /** Texts of the results that the model read. */
  readonly read: () => string
  readonly run: (options?: RunOptions) => Promise<AgentResponse>
}

/** An agent with the tools of one server. */
export function trial(
  server: Parameters<typeof mcpTools>[0],
  steps: readonly ScriptedStep[] | ScriptedAnswer = ['Done.'],
  { middleware = [], ...options }: McpToolsOptions & { middleware?: Agent['middleware'] } = {},
): Trial {
  const events: McpEvent[] = []
  const servers = mcpTools(server, { onEvent: (event) => events.push(event), ...options })
  const client = scriptedClient(steps)
  const agent = new Agent({ client, middleware: [servers, middleware] })
  const read = (): string =>
    (client.requests.at(-1)?.messages ?? [])
      .flatMap(({ contents }) => contents)
      .flatMap((part) => (part.type === 'function-result' ? [textOf(part.contents)] : []))
      .join('\n')
  return { servers, agent, client, events, read, run: (given) => agent.run('Go.', given) }
}

/** A server of raw answers. `opened` has the transports that were made for it. */
export function raw(answers: RawAnswers): McpCustomServer & { readonly opened: RawTransport[] } {
  const opened: RawTransport[] = []
  const transport = (): RawTransport => {
    const made = new RawTransport(answers)
    opened.push(made)
    return made
  }
  // Not an option of a server.
  return Object.defineProperty({ transport, opened }, 'opened', { enumerable: false })
}

/** A definition with an object as its input. */
export function definition(name: string, more: object = {}): object {
  return { name, description: `Does ${name}.`, inputSchema: { type: 'object' }, ...more }
}

/** Answers of a server that lists these tools, and says of each call which it was. */
export function listing(...tools: readonly unknown[]): RawAnswers {
  return {
    'tools/list': () => ({ tools }),
    'tools/call': ({ name }) => ({
      content: [{ type: 'text', text: `${String(name)} was called` }],
    }),
  }
}
