import { describe, expect, test } from 'vitest'
import type { AgentOptions, Checkpoint, Store } from '../../packages/core/src/index.ts'
import {
  Agent,
  createSession,
  LamellaError,
  memoryStore,
  ProviderError,
  tool,
} from '../../packages/core/src/index.ts'
import { sessions } from '../../packages/store/src/index.ts'
import { llmJudge } from '../../packages/guardrail-judge/src/index.ts'
import { pii } from '../../packages/guardrail-pii/src/index.ts'
import { toolPolicy } from '../../packages/guardrail-tools/src/index.ts'
import { budget } from '../../packages/middleware-budget/src/index.ts'
import { cache, toolCache } from '../../packages/middleware-cache/src/index.ts'
import { circuitBreaker, isCircuitOpenError } from '../../packages/middleware-fallback/src/index.ts'
import { rateLimit } from '../../packages/middleware-rate-limit/src/index.ts'
import {
  contentTruncator,
  readMoreTool,
  summarizer,
} from '../../packages/middleware-truncate/src/index.ts'
import { callFunction, scriptedClient } from '../../packages/testing/src/index.ts'

// Middlewares without a store of their own share the agent's: what one process did, another one knows. A
// process is all new objects on the same store.

type Process = (options: AgentOptions) => Agent
const hello = () => scriptedClient(() => 'Hi.')

/** Runs an agent in one process and then in another one; resolves to what came of the second run. */
async function afterAnother(
  start: Process,
  make: () => AgentOptions,
  { session = 'chat', tenant = 'acme' } = {},
): Promise<string> {
  const run = async (): Promise<string> => {
    const agent = start(make())
    try {
      const { status, text } = await agent.run('Hello', {
        tenant,
        session: createSession({ id: session }),
      })
      return `${status}: ${text}`
    } catch (error) {
      if (isCircuitOpenError(error)) return 'circuit open'
      return LamellaError.is(error) ? error.code : String(error)
    }
  }
  await run()
  return run()
}

interface Case {
  readonly act: (start: Process) => Promise<unknown>
  /** Outcome where each process is on its own. */
  readonly alone: unknown
  /** Outcome where they share the store of the agent. */
  readonly shared: unknown
}

const cases: Record<string, Case> = {
  budget: {
    act: (start) =>
      afterAnother(start, () => ({
        client: hello(),
        middleware: budget({ scope: 'tenant', limits: { modelCalls: 1 } }),
      })),
    alone: 'completed: Hi.',
    shared: 'budget_exhausted: ',
  },
  rateLimit: {
    act: (start) =>
      afterAnother(start, () => ({
        client: hello(),
        middleware: rateLimit({
          limits: [{ unit: 'requests', limit: 1, windowMs: 60_000 }],
          onLimit: 'reject',
        }),
      })),
    alone: 'completed: Hi.',
    shared: 'rate_limited',
  },
  circuitBreaker: {
    act: (start) =>
      afterAnother(start, () => ({
        client: scriptedClient(
          () => new ProviderError('No.', { kind: 'overloaded', provider: 'one' }),
        ),
        middleware: circuitBreaker({ minimum: 1 }),
      })),
    alone: 'provider_error',
    shared: 'circuit open',
  },
  cache: {
    async act(start) {
      let calls = 0
      const client = scriptedClient(() => `Hi ${++calls}.`)
      return afterAnother(start, () => ({ client, middleware: cache({ scope: 'session' }) }))
    },
    alone: 'completed: Hi 2.',
    shared: 'completed: Hi 1.',
  },
  toolCache: {
    async act(start) {
      let runs = 0
      const city = tool({
        name: 'city',
        description: 'A city.',
        readOnly: true,
        execute: () => `Rome ${++runs}`,
      })
      await afterAnother(start, () => ({
        client: scriptedClient([callFunction('city'), 'Fine.']),
        tools: [city],
        middleware: toolCache({ scope: 'tenant' }),
      }))
      return runs
    },
    alone: 2,
    shared: 1,
  },
  llmJudge: {
    async act(start) {
      let verdicts = 0
      const judge = scriptedClient(({ instructions = '' }) => {
        verdicts++
        const [ticket] = instructions.match(/verdict_\w+/) ?? []
        return JSON.stringify({ ticket, scores: { rude: 0 } })
      })
      const criteria = [{ id: 'rude', question: 'Is it rude?', failIf: 'yes' }] as const
      await afterAnother(start, () => ({
        client: hello(),
        middleware: llmJudge({ client: judge, criteria }),
      }))
      return verdicts
    },
    alone: 2,
    shared: 1,
  },
  summarizer: {
    async act(start) {
      const writer = scriptedClient(() => 'They greeted each other.')
      const said = Array.from({ length: 6 }, (_, at) => ({
        role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
        contents: `Word ${at}`,
      }))
      for (const _ of [1, 2]) {
        await start({
          client: hello(),
          middleware: summarizer({ client: writer, maxMessages: 4, keepMessages: 1 }),
        }).run(said)
      }
      return writer.requests.length > 0 && writer.requests.length
    },
    alone: 2,
    shared: 1,
  },
  'pii vault': {
    async act(start) {
      const make = (answer: string): Agent =>
        start({ client: scriptedClient([answer]), middleware: pii({ vault: true }) })
      const session = (): { session: ReturnType<typeof createSession> } => ({
        session: createSession({ id: 'chat' }),
      })
      await make('Noted.').run('I am ada@example.org.', session())
      return (await make('You are <EMAIL_1>.').run('Who am I?', session())).text
    },
    alone: 'You are <EMAIL_1>.',
    shared: 'You are ada@example.org.',
  },
  toolPolicy: {
    async act(start) {
      let refunds = 0
      const refund = tool({ name: 'refund', description: 'Pays.', execute: () => `${++refunds}` })
      const make = (): Agent =>
        start({
          client: scriptedClient([callFunction('refund'), 'Done.']),
          tools: [refund],
          middleware: toolPolicy({ ask: ['refund'] }),
        })
      const { checkpoint, pending } = await make().run('Refund it.', { tenant: 'acme' })
      const answers = { [pending[0]!.id]: true }
      for (const _ of [1, 2]) {
        const copy = JSON.parse(JSON.stringify(checkpoint)) as Checkpoint
        await make()
          .resume(copy, answers, { tenant: 'acme' })
          .catch(() => {})
      }
      return refunds
    },
    // Without a store, core claims an approval for the whole process.
    alone: 1,
    shared: 1,
  },
  'contentTruncator, spilled results': {
    async act(start) {
      const spill = {}
      const log = tool({
        name: 'log',
        description: 'A log.',
        execute: () => `${'x'.repeat(500)} the end`,
      })
      const session = (): { session: ReturnType<typeof createSession> } => ({
        session: createSession({ id: 'chat' }),
      })
      const make = (step: ReturnType<typeof callFunction>) => {
        const client = scriptedClient([step, 'Fine.'])
        const own = { ...spill }
        const agent = start({
          client,
          tools: [log, readMoreTool(own)],
          middleware: contentTruncator({ maxChars: 200, spill: own }),
        })
        return { agent, client }
      }
      const first = make(callFunction('log'))
      await first.agent.run('Read the log.', session())
      const [id] = /result_\w+/.exec(JSON.stringify(first.client.requests[1]?.messages)) ?? []
      const second = make(callFunction('read_more', { id, offset: 480 }))
      await second.agent.run('Read on.', session())
      return JSON.stringify(second.client.requests[1]?.messages).includes('the end')
    },
    alone: false,
    shared: true,
  },
}

describe.each(Object.entries(cases))('%s', (_, { act, alone, shared }) => {
  test('knows of its own process only without a store', async () => {
    expect(await act((options) => new Agent(options))).toEqual(alone)
  })

  test('knows of other processes by the store of the agent', async () => {
    const store: Store = memoryStore()
    expect(await act((options) => new Agent({ ...options, store }))).toEqual(shared)
  })
})

describe('tenants', () => {
  const inOne = (make: () => AgentOptions, tenants: readonly string[]) => {
    const store = memoryStore()
    return Promise.all(
      tenants.map(async (tenant) => {
        const agent = new Agent({ ...make(), store })
        const session = createSession({ id: 'chat' })
        return (await agent.run('Hello', { tenant, session })).text
      }),
    )
  }

  test.each(['tenant', 'session', 'run', () => 'all'] as const)(
    'a cache of scope %s keeps them apart, also where ids are the same',
    async (scope) => {
      let calls = 0
      const client = scriptedClient(() => `Hi ${++calls}.`)
      const texts = await inOne(() => ({ client, middleware: cache({ scope }) }), ['a', 'b'])

      expect(new Set(texts).size).toBe(2)
    },
  )

  /** Keys of a run with all that keeps data, in a store of its own. */
  const keysOf = async (tenant: string): Promise<readonly string[]> => {
    const keys: string[] = []
    const store = memoryStore()
    const noted = new Proxy(store, {
      get(_, name: keyof Store) {
        const part = store[name]
        if (typeof part !== 'function') return part
        return (key: string, ...rest: never[]) => {
          keys.push(key)
          return (part as (...given: unknown[]) => unknown).call(store, key, ...rest)
        }
      },
    })
    const log = tool({
      name: 'log',
      description: 'A log.',
      readOnly: true,
      execute: () => 'x'.repeat(500),
    })
    const pay = tool({ name: 'pay', description: 'Pays.', execute: () => 'paid' })
    const judge = scriptedClient(({ instructions = '' }) => {
      const [ticket] = instructions.match(/verdict_\w+/) ?? []
      return JSON.stringify({ ticket, scores: { rude: 0 } })
    })
    const writer = scriptedClient(() => 'They talked.')
    const criteria = [{ id: 'rude', question: 'Is it rude?', failIf: 'yes' }] as const
    const agent = new Agent({
      client: scriptedClient([callFunction('log'), callFunction('pay'), 'Done.']),
      tools: [log, pay],
      store: noted,
      middleware: [
        budget({ scope: 'tenant', limits: { modelCalls: 9 } }),
        circuitBreaker(),
        pii({ vault: true }),
        summarizer({ client: writer, maxMessages: 4, keepMessages: 1 }),
        cache({ scope: 'tenant' }),
        llmJudge({ client: judge, criteria }),
        toolPolicy({ ask: ['pay'] }),
        contentTruncator({ maxChars: 200, spill: {} }),
        toolCache({ scope: 'tenant' }),
      ],
    })
    const said = Array.from({ length: 6 }, (_, at) => ({
      role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
      contents: `Mail ada@example.org, ${at}`,
    }))
    const session = sessions(noted).at('chat', { tenant })

    const { checkpoint, pending } = await agent.run(said, { tenant, session })
    const answers = { [pending[0]!.id]: true }
    await agent.resume(checkpoint!, answers, { tenant, session })
    return keys
  }

  test('share no key but those of circuits', async () => {
    const [one, two] = [await keysOf('one'), new Set(await keysOf('two'))]

    const shared = one.filter((key) => two.has(key))
    expect(shared.filter((key) => !key.startsWith('circuit'))).toEqual([])
    expect(new Set(one.map((key) => key.split(/[:@]/)[0])).size).toBeGreaterThan(8)
  })
})
