// Spans of a run, printed as a tree: the run, its model calls and tool calls, and the work of middleware. In
// an application, an OpenTelemetry exporter replaces the one in memory.
import assert from 'node:assert/strict'
import { Agent, chatMiddleware, tool } from '@lamella/core'
import { guardrail } from '@lamella/guardrail'
import { traced, tracing } from '@lamella/otel'
import { callFunction, scriptedClient } from '@lamella/testing'
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'

const exporter = new InMemorySpanExporter()
const spanProcessors = [new SimpleSpanProcessor({ exporter })]
trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors }))
context.setGlobalContextManager(new AsyncLocalStorageContextManager())

const weather = tool({ name: 'weather', description: 'The weather.', execute: () => 'sunny' })
const polite = guardrail({
  name: 'polite',
  applyTo: ['output'],
  check: ({ text }) => ({ action: text.includes('!') ? 'flag' : 'allow', category: 'loud' }),
})
const memory = chatMiddleware('memory', async (call, callNext) => {
  if (call.iteration === 1) call.result = 'It is sunny in Rome and in Paris!'
  else await callNext()
})
const client = scriptedClient([[callFunction('weather'), callFunction('weather')]], {
  model: 'm-1',
})
const middleware = [tracing(), traced([polite, memory])]
const agent = new Agent({ name: 'guide', client, tools: [weather], middleware })
await agent.run('How are Rome and Paris?', { stream: true }).finalResponse()

const spans = exporter.getFinishedSpans()
const printed: string[] = []
function print(span: ReadableSpan, indent: string): void {
  const { attributes, events, duration } = span
  const ms = (duration[0] * 1e3 + duration[1] / 1e6).toFixed(1)
  const isShort = attributes['lamella.short_circuit'] === true
  const status = isShort ? 'answered itself' : String(attributes['lamella.status'])
  const tokens = Number(attributes['gen_ai.usage.output_tokens'] ?? 0)
  console.log(`${indent}${span.name}: ${status}, ${ms} ms, ${tokens} tokens`)
  printed.push(`${indent}${span.name}: ${status}`)
  for (const { name, attributes: facts } of events)
    console.log(`${indent}  * ${name}`, { ...facts })
  const { spanId } = span.spanContext()
  const children = spans.filter(({ parentSpanContext }) => parentSpanContext?.spanId === spanId)
  for (const child of children) print(child, `${indent}  `)
}
for (const span of spans) if (span.parentSpanContext === undefined) print(span, '')
assert.deepEqual(printed.slice(0, 5), [
  'invoke_agent guide: completed',
  '  chat m-1: completed',
  '    middleware polite: completed',
  '      middleware memory: completed',
  '  execute_tool weather: completed',
])
assert.equal(printed.at(-1), '      middleware memory: answered itself')
