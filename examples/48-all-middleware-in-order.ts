// One list with every middleware, in the recommended order: explain() returns no warning. For a wrong order,
// it names the middleware that belongs outside another one, before anything is called.
import assert from 'node:assert/strict'
import { Agent, explain } from '@lamella/core'
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
import { scriptedClient } from '@lamella/testing'

const client = scriptedClient(['It is sunny.'], { model: 'some-model' })
const judge = scriptedClient([{ messages: '{"answer":0}' }])
const perMinute = { unit: 'requests', limit: 60, windowMs: 60_000 } as const
const middleware = [
  auditLog({ sinks: { name: 'none', write: () => {} } }),
  tracing({ log: false }),
  rateLimit({ level: 'agent', name: 'runs', limits: [perMinute] }),
  budget({ limits: { modelCalls: 20 } }),
  maxTokens({ maxInputTokens: 100_000 }),
  toolPolicy(),
  pii(),
  promptInjection(),
  contentFilter(),
  fileValidator({ contents: true }),
  truncate.patchToolCalls(),
  cache(),
  toolCache(),
  schemaValidator(),
  llmJudge({ client: judge, sampleRate: 0 }),
  fallback({ clients: [scriptedClient([], { name: 'second' })] }),
  circuitBreaker(),
  retry(),
  rateLimit({ name: 'attempts', limits: [perMinute] }),
  truncate.summarizer(),
  truncate.historyTruncator(),
  timeout(),
  truncate.contentTruncator(),
]
const explanation = explain(new Agent({ client, middleware }), 'How is Rome?')
console.log(String(explanation))
assert.deepEqual(explanation.warnings, [])
assert.equal((await new Agent({ client, middleware }).run('How is Rome?')).text, 'It is sunny.')

const { warnings } = explain(new Agent({ client, middleware: [retry(), cache(), pii()] }), 'Hi')
console.log(warnings)
assert.match(warnings.join(), /chat: place cache before retry/)
