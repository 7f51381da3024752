import type { AgentOptions } from '@lamella/core'
import { Agent, jsonSchema, tool } from '@lamella/core'
import type { ScriptedStep } from '@lamella/testing'
import { scriptedClient } from '@lamella/testing'
import type { ChatServiceOptions } from '../chats/chat-options.ts'
import type { ChatService } from '../chats/chat-service.ts'
import { chatService } from '../chats/chat-service.ts'
import type { Handler } from '../chats/guarded-handler.ts'
import { sseHandler } from './sse-handler.ts'

export const base = 'https://shop.example/chat'

/** A service whose principal is the header `x-user`, and what it has paid and reported. */
export interface Served {
  readonly handler: Handler
  readonly agent: Agent
  readonly service: ChatService
  readonly client: ReturnType<typeof scriptedClient>
  readonly paid: unknown[]
  readonly errors: unknown[]
  readonly post: (
    body: unknown,
    headers?: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ) => Promise<Response>
  readonly get: (query: string, user?: string) => Promise<Response>
  readonly remove: (query: string, user?: string) => Promise<Response>
}

export function served(
  script: Parameters<typeof scriptedClient>[0] | ScriptedStep,
  options: Partial<ChatServiceOptions> = {},
  agentOptions: Partial<AgentOptions> = {},
): Served {
  const paid: unknown[] = []
  const errors: unknown[] = []
  const refund = tool({
    name: 'refund',
    description: 'Pays money back.',
    parameters: jsonSchema({ type: 'object', properties: { amount: { type: 'number' } } }),
    approval: 'always',
    execute: (args) => {
      paid.push(args)
      return 'paid'
    },
  })
  const locate = tool({ name: 'locate', description: 'Asks the page where it is.' })
  const client = scriptedClient(script as ScriptedStep[])
  const agent = new Agent({ client, tools: [refund, locate], ...agentOptions })
  const service = chatService(agent, {
    principal: (request) => request.headers.get('x-user') ?? undefined,
    onError: (error) => errors.push(error),
    ...options,
  })
  const handler = sseHandler(service)
  const send = (method: string, query: string, user = 'ann') =>
    handler(new Request(`${base}${query}`, { method, headers: { 'x-user': user } }))
  return {
    handler,
    agent,
    service,
    client,
    paid,
    errors,
    post: (body, headers = {}, signal) =>
      handler(
        new Request(base, {
          method: 'POST',
          headers: { 'x-user': 'ann', 'content-type': 'application/json', ...headers },
          body: typeof body === 'string' ? body : JSON.stringify(body),
          signal: signal ?? null,
        }),
      ),
    get: (query, user) => send('GET', query, user),
    remove: (query, user) => send('DELETE', query, user),
  }
}

/** Data of an event, as far as tests look at it. */
export interface EventData {
  readonly contents?: readonly unknown[]
  readonly pending: readonly { readonly id: string }[]
}

/** Names and data of the events of a body. */
export async function eventsOf(response: Response): Promise<[string, EventData][]> {
  const text = await response.text()
  return [...text.matchAll(/^event: (.*)\ndata: (.*)\n\n/gm)].map(([, name, data]) => [
    name!,
    JSON.parse(data!) as EventData,
  ])
}

/** The last event of a body. */
export async function lastOf(response: Response): Promise<[string, EventData]> {
  return (await eventsOf(response)).at(-1)!
}

/** The code of a refusal, after its status. */
export async function refusalOf(response: Response): Promise<readonly [number, string]> {
  const { error } = (await response.json()) as { error: { code: string } }
  return [response.status, error.code]
}
