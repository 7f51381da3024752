import { describe, expect, test } from 'vitest'
import type { MiddlewareInput } from '../../packages/core/src/index.ts'
import { Agent, explain } from '../../packages/core/src/index.ts'
import { contentFilter } from '../../packages/guardrail-content/src/index.ts'
import { promptInjection } from '../../packages/guardrail-injection/src/index.ts'
import { llmJudge } from '../../packages/guardrail-judge/src/index.ts'
import { pii } from '../../packages/guardrail-pii/src/index.ts'
import { maxTokens } from '../../packages/guardrail-tokens/src/index.ts'
import { toolPolicy } from '../../packages/guardrail-tools/src/index.ts'
import { auditLog } from '../../packages/middleware-audit/src/index.ts'
import { budget } from '../../packages/middleware-budget/src/index.ts'
import { cache, toolCache } from '../../packages/middleware-cache/src/index.ts'
import { circuitBreaker, fallback } from '../../packages/middleware-fallback/src/index.ts'
import { fileValidator } from '../../packages/middleware-files/src/index.ts'
import { rateLimit } from '../../packages/middleware-rate-limit/src/index.ts'
import { retry, timeout } from '../../packages/middleware-retry/src/index.ts'
import { schemaValidator } from '../../packages/middleware-schema/src/index.ts'
import * as truncate from '../../packages/middleware-truncate/src/index.ts'
import { tracing } from '../../packages/otel/src/index.ts'
import { scriptedClient } from '../../packages/testing/src/index.ts'

const client = scriptedClient([])
const limits = [{ unit: 'requests', limit: 60, windowMs: 60_000 }] as const
const everywhere = ['input', 'output', 'arguments', 'result'] as const

/** Ready-made middlewares, with as many parts at as many levels as they can have. */
const readyMade: Readonly<Record<string, () => MiddlewareInput>> = {
  auditLog: () => auditLog({ sinks: { name: 'none', write: () => {} } }),
  tracing: () => tracing({ log: false }),
  'rateLimit of runs': () => rateLimit({ level: 'agent', limits }),
  'rateLimit of calls': () => rateLimit({ limits }),
  'rateLimit of tools': () => rateLimit({ level: 'function', limits }),
  budget: () => budget({ limits: { modelCalls: 20, toolCalls: 20 } }),
  maxTokens: () =>
    maxTokens({
      maxInputTokens: 9,
      maxOutputTokens: 9,
      maxTotalTokens: 9,
      maxMessageTokens: 9,
      maxToolArgumentsTokens: 9,
      maxToolResultTokens: 9,
    }),
  toolPolicy: () => toolPolicy(),
  pii: () => pii({ applyTo: everywhere, name: 'redact' }),
  'pii with a vault': () => pii({ vault: true }),
  promptInjection: () => promptInjection({ taint: {} }),
  contentFilter: () => contentFilter({ applyTo: everywhere }),
  llmJudge: () => llmJudge({ client }),
  fileValidator: () => fileValidator({ contents: true }),
  patchToolCalls: () => truncate.patchToolCalls(),
  cache: () => cache(),
  toolCache: () => toolCache(),
  schemaValidator: () => schemaValidator({ toolCalls: true }),
  fallback: () => fallback({ clients: [client] }),
  circuitBreaker: () => circuitBreaker(),
  retry: () => retry({ tools: {} }),
  timeout: () => timeout({ totalMs: 1000 }),
  summarizer: () => truncate.summarizer(),
  historyTruncator: () => truncate.historyTruncator(),
  contentTruncator: () => truncate.contentTruncator(),
}

function warningsOf(...middleware: readonly MiddlewareInput[]): readonly string[] {
  try {
    return explain(new Agent({ client, middleware }), 'Hello').warnings
  } catch (error) {
    // Some orders are refused.
    return [(error as Error).message]
  }
}

test('a summarizer outside `pii` is refused, since its model would get what `pii` redacts', () => {
  const [summarizer, redacting] = [truncate.summarizer(), pii()]

  expect(() => new Agent({ client, middleware: [summarizer, redacting] })).toThrow(
    'middleware "summarize" passes on what "pii" would protect; put "pii" before it in the list',
  )
  expect(warningsOf(redacting, summarizer)).toEqual([])
})

describe.each(Object.entries(readyMade))('%s', (name, make) => {
  const others = Object.entries(readyMade).filter(([other]) => other > name)
  test.skipIf(others.length === 0)('is in order with each other one, before or behind it', () => {
    const conflicts = others.filter(([, other]) => {
      const [first, second] = [make(), other()]
      return warningsOf(first, second).length > 0 && warningsOf(second, first).length > 0
    })

    expect(conflicts.map(([other]) => other)).toEqual([])
  })
})
