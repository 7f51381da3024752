// Runs an agent with the recommended middleware for a while, in every way a run can go: whole, streamed, left
// half-way, aborted, blocked, failed, paused and resumed. Fails when the heap, handles, timers or listeners
// grow.
// usage: node --expose-gc --conditions=@lamella/source scripts/soak.ts [--seconds=30]
import { getEventListeners } from 'node:events'
import { parseArgs } from 'node:util'
import type {
  AgentResponse,
  ChatRequest,
  ChatResponse,
  ChatResponseUpdate,
} from '../packages/core/src/index.ts'
import {
  Agent,
  BaseChatClient,
  chatResponse,
  guardrail,
  memoryStore,
  ProviderError,
  tool,
} from '../packages/core/src/index.ts'
import { contentFilter } from '../packages/guardrail-content/src/index.ts'
import { promptInjection } from '../packages/guardrail-injection/src/index.ts'
import { pii } from '../packages/guardrail-pii/src/index.ts'
import { toolPolicy } from '../packages/guardrail-tools/src/index.ts'
import { auditLog } from '../packages/middleware-audit/src/index.ts'
import { budget } from '../packages/middleware-budget/src/index.ts'
import { cache, toolCache } from '../packages/middleware-cache/src/index.ts'
import { circuitBreaker, fallback } from '../packages/middleware-fallback/src/index.ts'
import { rateLimit } from '../packages/middleware-rate-limit/src/index.ts'
import { retry, timeout } from '../packages/middleware-retry/src/index.ts'
import * as truncate from '../packages/middleware-truncate/src/index.ts'

/** Growth that is no leak: compiled code, and what a collection leaves at random. */
const allowedBytes = 2_000_000
/** Runs at a time. */
const concurrency = 8
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '30' },
    // Entries that caches may keep. The heap grows until they are full.
    entries: { type: 'string', default: '100' },
  },
})
const seconds = Number(values.seconds)
if (!(seconds > 0)) throw new RangeError(`--seconds must be above 0, got ${values.seconds}`)
const { gc } = globalThis
if (gc === undefined) throw new Error('run with --expose-gc')
const collect = () => gc()

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

  override async *stream(request: ChatRequest): AsyncGenerator<ChatResponseUpdate> {
    const response = await this.respond(request)
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

const store = () => memoryStore({ maxEntries: Number(values.entries) })
const stores = [store(), store()]
const perMinute = { unit: 'requests', limit: 1e9, windowMs: 60_000 } as const
const agent = new Agent({
  client: new Model({ model: 'a' }),
  tools: [
    tool({
      name: 'send',
      description: 'Sends it.',
      parameters: { type: 'object' },
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
    cache({ store: stores[0] }),
    toolCache({ store: stores[1] }),
    fallback({ clients: [new Model({ model: 'b' })] }),
    circuitBreaker({ failureRate: 1 }),
    retry({ maxRetries: 1, initialDelayMs: 1, maxDelayMs: 1 }),
    rateLimit({ limits: [perMinute] }),
    timeout(),
    truncate.historyTruncator(),
  ],
})
/** A signal as an application has one: for as long as the process lives. */
const application = new AbortController()

const ways: Record<string, (text: string) => Promise<string>> = {
  plain: async (text) => status(await agent.run(text, { signal: application.signal })),
  async streamed(text) {
    const stream = agent.run(text, { stream: true, signal: application.signal })
    for await (const _ of stream);
    return status(await stream.finalResponse())
  },
  async left(text) {
    for await (const _ of agent.run(text, { stream: true, signal: application.signal })) break
    return 'left'
  },
  async aborted(text) {
    const own = new AbortController()
    setImmediate(() => own.abort())
    const signal = AbortSignal.any([own.signal, application.signal])
    return await agent.run(text, { signal }).then(status, (error: Error) => error.name)
  },
  blocked: async (text) => status(await agent.run(`${text} block`, { signal: application.signal })),
  failed: (text) =>
    agent.run(`${text} fail`, { signal: application.signal }).then(status, () => 'failed'),
  async paused(text) {
    const { signal } = application
    const response = await agent.run(`${text} pause`, { signal })
    if (response.checkpoint === undefined) return status(response)
    const answers = Object.fromEntries(response.pending.map(({ id }) => [id, false]))
    return `paused, then ${status(await agent.resume(response.checkpoint, answers, { signal }))}`
  },
}
const status = (response: AgentResponse) => response.status

const counts: Record<string, number> = {}
let runs = 0
async function runFor(ms: number) {
  const until = performance.now() + ms
  const names = Object.keys(ways)
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (performance.now() < until) {
        const number = runs++
        const name = names[number % names.length] ?? 'plain'
        const end = await ways[name]?.(`How is the weather in Rome, number ${number}?`)
        counts[`${name}: ${end}`] = (counts[`${name}: ${end}`] ?? 0) + 1
      }
    }),
  )
  // What was left or aborted comes to its end.
  await new Promise((resolve) => setTimeout(resolve, 100))
  collect()
  collect()
  return {
    runs,
    heapBytes: process.memoryUsage().heapUsed,
    handles: process.getActiveResourcesInfo().filter((name) => name !== 'Timeout').length,
    timers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
    listeners: getEventListeners(application.signal, 'abort').length,
  }
}

// A third to fill caches and to compile, then ten parts to compare.
await runFor((seconds * 1000) / 3)
const parts: Awaited<ReturnType<typeof runFor>>[] = []
for (let part = 0; part < 10; part++) parts.push(await runFor((seconds * 1000) / 15))
console.table(parts)
console.table(counts)

/** The middle of the last five less that of the first five: one late collection does not count. */
const growth = (key: keyof (typeof parts)[number]) => {
  const middle = (some: typeof parts) =>
    some.map((part) => part[key]).toSorted((a, b) => a - b)[2] ?? 0
  return middle(parts.slice(5)) - middle(parts.slice(0, 5))
}
const problems = [
  growth('heapBytes') > allowedBytes && `the heap grew by ${growth('heapBytes')} bytes`,
  ...(['handles', 'timers', 'listeners'] as const).map(
    (key) => growth(key) > 0 && `${key} grew by ${growth(key)}`,
  ),
].filter((problem) => problem !== false)
const expected = [
  'plain: completed',
  'streamed: completed',
  'left: left',
  'blocked: blocked',
  'failed: failed',
]
for (const way of expected) if (!counts[way]) problems.push(`no run went "${way}"`)
for (const problem of problems) console.error(problem)
console.log(
  `${runs} runs, the heap grew by ${growth('heapBytes')} bytes, ${problems.length} problems`,
)
process.exit(problems.length === 0 ? 0 : 1)
