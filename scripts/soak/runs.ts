// An agent with the recommended middleware, and every way that one of its runs can go.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type {
  AgentResponse,
  ChatRequest,
  ChatResponse,
  ChatResponseUpdate,
} from '../../packages/core/src/index.ts'
import {
  Agent,
  BaseChatClient,
  ProviderError,
  chatResponse,
  jsonSchema,
  memoryStore,
  tool,
} from '../../packages/core/src/index.ts'
import { guardrail } from '../../packages/guardrail/src/index.ts'
import { contentFilter } from '../../packages/guardrail-content/src/index.ts'
import { promptInjection } from '../../packages/guardrail-injection/src/index.ts'
import { pii } from '../../packages/guardrail-pii/src/index.ts'
import { toolPolicy } from '../../packages/guardrail-tools/src/index.ts'
import { auditLog } from '../../packages/middleware-audit/src/index.ts'
import { budget } from '../../packages/middleware-budget/src/index.ts'
import { cache, toolCache } from '../../packages/middleware-cache/src/index.ts'
import { circuitBreaker, fallback } from '../../packages/middleware-fallback/src/index.ts'
import { rateLimit } from '../../packages/middleware-rate-limit/src/index.ts'
import { retry, timeout } from '../../packages/middleware-retry/src/index.ts'
import * as truncate from '../../packages/middleware-truncate/src/index.ts'
import { chatService, toNode } from '../../packages/serve/src/index.ts'
import { sseHandler } from '../../packages/serve/src/sse.ts'

class Model extends BaseChatClient {
  override readonly provider = 'soak'

  override async respond({ messages }: ChatRequest): Promise<ChatResponse> {
    await new Promise(setImmediate)
    const text = JSON.stringify(messages.at(-1))
    if (text.includes('fail')) throw new ProviderError('down', { kind: 'server', provider: 'soak' })
    if (text.includes('pause'))
      return chatResponse({
        messages: [
          {
            role: 'assistant',
            contents: [{ type: 'function-call', callId: 'c', name: 'send', arguments: '{}' }],
          },
        ],
        finishReason: 'tool-calls',
      })
    return chatResponse({
      messages: 'It is sunny in Rome today, with a light wind.',
      usage: { inputTokens: 10, outputTokens: 10 },
      finishReason: 'stop',
    })
  }

  override async *stream(asked: ChatRequest): AsyncGenerator<ChatResponseUpdate> {
    const response = await this.respond(asked)
    for (const { contents } of response.messages) {
      for (const content of contents) {
        const pieces =
          content.type === 'text'
            ? content.text.split(/(?<= )/).map((text) => ({ type: 'text' as const, text }))
            : [content]
        for (const piece of pieces)
          yield { role: 'assistant' as const, messageId: 'm', contents: [piece] }
      }
    }
  }
}

// Stores, histories and windows are full, and level, after a second: growth beyond that is a leak.
const store = memoryStore({ maxEntries: 100 })
const perSecond = { unit: 'requests', limit: 1e9, windowMs: 1000 } as const

const agent = new Agent({
  client: new Model({ model: 'a' }),
  store,
  tools: [
    tool({
      name: 'send',
      description: 'Sends it.',
      parameters: jsonSchema({ type: 'object' }),
      approval: 'always',
      execute: () => 'sent',
    }),
  ],
  middleware: [
    auditLog({ sinks: { name: 'none', write: () => {} } }),
    budget({ limits: { modelCalls: 20 } }),
    toolPolicy(),
    guardrail({
      name: 'blocks',
      applyTo: ['input'],
      check: ({ text }) => ({
        action: text.includes('block') ? 'block' : 'allow',
        category: 'soak',
      }),
    }),
    pii(),
    promptInjection(),
    contentFilter(),
    cache(),
    toolCache(),
    fallback({ clients: [new Model({ model: 'b' })] }),
    circuitBreaker({ failureRate: 1 }),
    retry({ maxRetries: 1, initialDelayMs: 1, maxDelayMs: 1 }),
    rateLimit({ limits: [perSecond] }),
    timeout(),
    truncate.historyTruncator(),
  ],
})

/** A signal as an application has one: for as long as the process lives. */
export const application: AbortController = new AbortController()
const { signal } = application

const chats = chatService(agent, {
  principal: () => 'ada',
  mayApprove: () => true,
  store: memoryStore({ maxEntries: 100 }),
  onError: () => {},
})
const server = createServer(toNode(sseHandler(chats))).listen(0, '127.0.0.1')
server.unref()
await once(server, 'listening')
const { port } = server.address() as AddressInfo

/** Sends a request on a connection of its own, so that no pool decides how many sockets are open. */
async function send(body: unknown): Promise<IncomingMessage> {
  const sent = request({
    port,
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json' },
  })
  sent.end(JSON.stringify(body))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return response.setEncoding('utf8')
}

async function events(body: unknown): Promise<string> {
  let all = ''
  for await (const piece of await send(body)) all += String(piece)
  return all
}

const statusIn = (text: string): string => /"status":"([a-z]+)"/.exec(text)?.[1] ?? 'unknown'
const statusOf = (response: AgentResponse): string => response.status

/** Each takes a text that no run had before, and resolves to how the run went. */
export const ways: Record<string, (text: string) => Promise<string>> = {
  plain: async (text) => statusOf(await agent.run(text, { signal })),
  async streamed(text) {
    const stream = agent.run(text, { stream: true, signal })
    for await (const _ of stream);
    return statusOf(await stream.finalResponse())
  },
  async left(text) {
    for await (const _ of agent.run(text, { stream: true, signal })) break
    return 'left'
  },
  async aborted(text) {
    const own = new AbortController()
    setImmediate(() => own.abort())
    const either = AbortSignal.any([own.signal, signal])
    return await agent.run(text, { signal: either }).then(statusOf, (error: Error) => error.name)
  },
  blocked: async (text) => statusOf(await agent.run(`${text} block`, { signal })),
  failed: (text) => agent.run(`${text} fail`, { signal }).then(statusOf, () => 'failed'),
  async paused(text) {
    const response = await agent.run(`${text} pause`, { signal })
    if (response.checkpoint === undefined) return statusOf(response)
    const answers = Object.fromEntries(response.pending.map(({ id }) => [id, false]))
    return `paused, then ${statusOf(await agent.resume(response.checkpoint, answers, { signal }))}`
  },
  served: async (text) => statusIn(await events({ chat: text, input: text })),
  async disconnected(text) {
    const response = await send({ chat: text, input: text })
    await once(response, 'data')
    response.destroy()
    return 'left'
  },
  async approved(text) {
    const paused = await events({ chat: text, input: `${text} pause` })
    const id = /"id":"([^"]*)"/.exec(paused)?.[1] ?? 'none'
    const done = await events({ chat: text, answers: { [id]: true } })
    return `${statusIn(paused)}, then ${statusIn(done)}`
  },
}

/** How runs of each way end; a failing circuit may end some sooner. */
export const expected: readonly string[] = [
  'plain: completed',
  'streamed: completed',
  'left: left',
  'aborted: AbortError',
  'blocked: blocked',
  'failed: failed',
  'paused: paused, then completed',
  'served: completed',
  'disconnected: left',
  'approved: paused, then completed',
]
