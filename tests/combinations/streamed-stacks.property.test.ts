import { expect, test } from 'vitest'
import type { AgentResponse, MiddlewareInput, Session } from '../../packages/core/src/index.ts'
import {
  Agent,
  jsonSchema,
  MiddlewareTermination,
  functionMiddleware,
  ProviderError,
  tool,
} from '../../packages/core/src/index.ts'
import { contentFilter } from '../../packages/guardrail-content/src/index.ts'
import { promptInjection } from '../../packages/guardrail-injection/src/index.ts'
import { llmJudge } from '../../packages/guardrail-judge/src/index.ts'
import { fishJudge, noFish } from '../../packages/guardrail-judge/src/scripted-judge.test-helper.ts'
import { pii } from '../../packages/guardrail-pii/src/index.ts'
import { maxTokens } from '../../packages/guardrail-tokens/src/index.ts'
import { toolPolicy } from '../../packages/guardrail-tools/src/index.ts'
import { lifecycle } from '../../packages/lifecycle/src/index.ts'
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
import type { RunMode } from '../../packages/testing/src/index.ts'
import {
  callFunction,
  runIn,
  runModes,
  scriptedClient,
  testRandom,
} from '../../packages/testing/src/index.ts'
import { runs } from '../support/runs.ts'

// Random stacks of all built-ins around random conversations: a streamed run ends as a plain one does, says the same,
// keeps the same, and has asked the model the same.
const seeds = runs(5000) === 5000 ? 5000 : 100
const first = Number(process.env['STACKS_FIRST_SEED'] ?? 1)

const everywhere = ['input', 'output', 'arguments', 'result'] as const
const limits = [{ unit: 'requests', limit: 60, windowMs: 60_000 }] as const
const instant = { now: () => 0, sleep: async () => {} }

const readyMade: Readonly<Record<string, () => MiddlewareInput>> = {
  auditLog: () => auditLog({ sinks: { name: 'none', write: () => {} } }),
  tracing: () => tracing({ log: false }),
  'rateLimit of runs': () => rateLimit({ level: 'agent', limits }),
  'rateLimit of calls': () => rateLimit({ limits }),
  'rateLimit of tools': () => rateLimit({ level: 'function', limits }),
  budget: () => budget({ limits: { modelCalls: 3, toolCalls: 3 } }),
  maxTokens: () => maxTokens({ maxOutputTokens: 12, maxToolResultTokens: 8 }),
  toolPolicy: () => toolPolicy({ ask: ['pay'] }),
  pii: () => pii({ applyTo: everywhere, name: 'redact' }),
  'pii with a vault': () => pii({ vault: true }),
  promptInjection: () => promptInjection({ taint: {} }),
  contentFilter: () => contentFilter({ applyTo: everywhere }),
  llmJudge: () => llmJudge({ client: fishJudge(), criteria: noFish }),
  'llmJudge that asks again': () =>
    llmJudge({ client: fishJudge(), criteria: noFish, action: 'retry', name: 'again' }),
  fileValidator: () => fileValidator({ contents: true }),
  patchToolCalls: () => truncate.patchToolCalls(),
  cache: () => cache(),
  toolCache: () => toolCache(),
  schemaValidator: () => schemaValidator({ toolCalls: true }),
  fallback: () => fallback({ clients: [scriptedClient(() => 'From another model.')] }),
  circuitBreaker: () => circuitBreaker(),
  retry: () => retry({ clock: instant, tools: {} }),
  timeout: () => timeout({ totalMs: 60_000 }),
  summarizer: () =>
    truncate.summarizer({
      client: scriptedClient(() => 'They talked.'),
      maxMessages: 5,
      keepMessages: 2,
    }),
  historyTruncator: () => truncate.historyTruncator({ maxMessages: 5, persist: true }),
  contentTruncator: () => truncate.contentTruncator(),
  lifecycle: () =>
    lifecycle({
      name: 'hooks',
      beforeTurn: (context) => void (context.instructions = 'Be brief.'),
      afterModelCall: () => {},
      afterFunction: () => {},
    }),
  'a middleware that ends': () =>
    functionMiddleware('ends', async (context, callNext) => {
      await callNext()
      if (context.arguments['to'] === 'Bob')
        throw new MiddlewareTermination('enough', { result: 'No.' })
    }),
}

const answers = [
  'A plain answer.',
  'Write to ada@example.com or call +1 415 555 2671 now.',
  'Fish is for lunch, and fish again.',
  'A longer answer, with many words that come one after the other, so that it has more tokens than allowed.',
] as const

function pick<Value>(random: () => number, values: readonly Value[]): Value {
  return values[Math.floor(random() * values.length)]!
}

/** Ids in the order in which they appear: each run makes its own. */
function plain(value: unknown): unknown {
  const ids = new Map<string, string>()
  const json =
    JSON.stringify(value, (key, entry: unknown) =>
      key === 'raw' || key === 'expiresAt' ? undefined : entry,
    ) ?? 'null'
  return JSON.parse(
    json.replaceAll(
      /(?:msg|call|run|approval|interrupt|session|checkpoint|response|nonce)_[\w-]+/g,
      (id) => {
        if (!ids.has(id)) ids.set(id, `id ${ids.size}`)
        return ids.get(id)!
      },
    ),
  )
}

function factsOf(response: AgentResponse, stack: readonly string[]): object {
  const {
    status,
    text,
    reason,
    messages,
    pending,
    usage,
    finishReason,
    block,
    value,
    functionCalls,
  } = response
  const asked = pending.map(({ kind, path }) => ({ kind, path }))
  return {
    status,
    text,
    reason,
    messages,
    // A judge reads a stream in pieces, and stops where it blocks.
    usage: stack.some((name) => name.startsWith('llmJudge')) ? undefined : usage,
    finishReason,
    value,
    functionCalls,
    asked,
    block: block?.guardrail,
  }
}

/** All that can be seen of a conversation in one mode. Undefined for an order that is refused. */
async function play(
  seed: number,
  mode: RunMode,
): Promise<{ stack: string[]; facts: unknown } | undefined> {
  const random = testRandom(seed)
  const stack = Object.keys(readyMade)
    .map((name) => ({ name, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .slice(0, 1 + Math.floor(random() * 5))
    .map(({ name }) => name)
  const steps = Array.from({ length: 24 }, () => {
    const dice = random()
    if (dice < 0.12) return new ProviderError('busy', { kind: 'overloaded', provider: 'scripted' })
    if (dice < 0.5) {
      const calls = Array.from({ length: 1 + Math.floor(random() * 2) }, (_, at) =>
        callFunction(
          pick(random, ['pay', 'look', 'bad']),
          { to: pick(random, ['Ada', 'Bob']) },
          `c${at}`,
        ),
      )
      return random() < 0.3 ? ['Let me see. ', ...calls] : calls
    }
    return pick(random, answers)
  })
  const done: string[] = []
  const parameters = jsonSchema({ type: 'object', properties: { to: { type: 'string' } } })
  const make = (name: string, readOnly: boolean) =>
    tool({
      name,
      description: name,
      parameters,
      readOnly,
      execute: ({ to }) => {
        done.push(`${name} ${String(to)}`)
        if (name === 'bad') throw new Error('bad')
        return name === 'look' ? 'Reach ada@example.com, she has fish.' : `${name} ${String(to)}`
      },
    })
  const client = scriptedClient(steps)
  let agent: Agent
  try {
    agent = new Agent({
      client,
      tools: [make('pay', false), make('look', true), make('bad', false)],
      middleware: stack.map((name) => readyMade[name]!()),
      functionInvocation: { maxIterations: 3, maxConcurrency: 1 },
    })
  } catch {
    return undefined
  }
  const session: Session = agent.createSession()
  const ends: object[] = []
  for (let turn = 0; turn < 3; turn++) {
    // `keep: 'all'` keeps what the transform of the vault has passed on. Of a run that fails, that is a part if it is
    // streamed, and nothing if it is plain.
    const isTransformed = stack.includes('pii with a vault')
    const keep = pick(random, ['effects', 'nothing', isTransformed ? 'effects' : 'all'] as const)
    const open = session.pending.map(({ id }) => [id, random() < 0.7] as const)
    const isAnswer = open.length > 0 && random() < 0.8
    const asked = isAnswer
      ? { input: [], answers: Object.fromEntries(open) }
      : { input: pick(random, answers) }
    try {
      // oxlint-disable-next-line no-await-in-loop
      ends.push(factsOf(await runIn(mode, agent, { ...asked, session, keep }), stack))
    } catch (error) {
      const { name, message, code } = error as Error & { readonly code?: string }
      ends.push({ name, message, code })
    }
  }
  const requests = client.requests.map(({ messages, options, instructions }) => ({
    messages,
    instructions,
    tools: options.tools?.map(({ name }) => name),
  }))
  const { messages, pending } = session
  return { stack, facts: plain({ ends, requests, messages, pending, done }) }
}

test(
  'a streamed conversation is a plain one, with each stack of built-ins',
  async () => {
    let played = 0
    for (let seed = first; seed < first + seeds; seed++) {
      // oxlint-disable-next-line no-await-in-loop
      const [one, other] = await Promise.all(runModes.map((mode) => play(seed, mode)))
      expect({ seed, ...other }).toEqual({ seed, ...one })
      if (one !== undefined) played++
    }
    expect(played).toBeGreaterThan(seeds / 2)
  },
  60_000 + seeds * 100,
)
