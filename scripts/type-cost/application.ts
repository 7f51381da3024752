import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  createSession,
  functionMiddleware,
  tool,
} from '@lamella/core'
import { guardrail } from '@lamella/guardrail'
import type { AgentResponse, ChatClient, Schema } from '@lamella/core'
import { contentFilter } from '@lamella/guardrail-content'
import { promptInjection } from '@lamella/guardrail-injection'
import { llmJudge } from '@lamella/guardrail-judge'
import { pii } from '@lamella/guardrail-pii'
import { maxTokens } from '@lamella/guardrail-tokens'
import { toolPolicy } from '@lamella/guardrail-tools'
import { auditLog } from '@lamella/middleware-audit'
import { budget } from '@lamella/middleware-budget'
import { cache, toolCache } from '@lamella/middleware-cache'
import { circuitBreaker, fallback } from '@lamella/middleware-fallback'
import { fileValidator } from '@lamella/middleware-files'
import { rateLimit } from '@lamella/middleware-rate-limit'
import { retry, timeout } from '@lamella/middleware-retry'
import { schemaValidator } from '@lamella/middleware-schema'
import * as truncate from '@lamella/middleware-truncate'
import { tracing } from '@lamella/otel'

declare const client: ChatClient
declare const place: Schema<{ city: string; days: readonly number[] }>
const weather = tool({
  name: 'weather',
  description: 'The weather of a city.',
  parameters: place,
  execute: ({ city, days }) => `${city.toUpperCase()} ${days.length}`,
})
const perMinute = { unit: 'requests', limit: 60, windowMs: 60_000 } as const
const agent = new Agent({
  client,
  tools: [weather],
  middleware: [
    agentMiddleware('a', async (context, callNext) => {
      await callNext()
      context.result?.text.toUpperCase()
    }),
    chatMiddleware('c', async (context, callNext) => {
      context.messages.at(-1)?.contents.map((content) => content.type)
      await callNext()
    }),
    functionMiddleware('f', async (context, callNext) => {
      context.function.name.toUpperCase()
      await callNext()
    }),
    guardrail({
      name: 'g',
      applyTo: ['input'],
      check: ({ text }) => ({ action: text ? 'allow' : 'block' }),
    }),
    auditLog({ sinks: { name: 'none', write: () => {} } }),
    tracing({ log: false }),
    budget({ limits: { modelCalls: 20 } }),
    maxTokens({ maxInputTokens: 100_000 }),
    toolPolicy(),
    pii(),
    promptInjection(),
    contentFilter(),
    fileValidator({ contents: true }),
    cache(),
    toolCache(),
    schemaValidator(),
    llmJudge({ client }),
    fallback({ clients: [client] }),
    circuitBreaker(),
    retry(),
    rateLimit({ limits: [perMinute] }),
    truncate.summarizer(),
    truncate.historyTruncator(),
    timeout(),
  ],
})
const response: AgentResponse = await agent.run('Hi', { session: createSession() })
response.messages.flatMap(({ contents }) => contents)
for await (const update of agent.run('Hi', { stream: true }))
  update.contents.map(({ type }) => type)
const typed = await agent.run('Hi', { options: { responseFormat: { schema: place } } })
export const city: unknown = typed.value
