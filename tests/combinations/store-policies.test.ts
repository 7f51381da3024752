import { describe, expect, test } from 'vitest'
import type { AgentOptions, KeyValueStore, Store } from '../../packages/core/src/index.ts'
import {
  Agent,
  createSession,
  LamellaError,
  memoryStore,
  tool,
} from '../../packages/core/src/index.ts'
import { sessions } from '../../packages/store/src/index.ts'
import { llmJudge } from '../../packages/guardrail-judge/src/index.ts'
import { pii } from '../../packages/guardrail-pii/src/index.ts'
import { toolPolicy } from '../../packages/guardrail-tools/src/index.ts'
import { budget } from '../../packages/middleware-budget/src/index.ts'
import { cache, toolCache } from '../../packages/middleware-cache/src/index.ts'
import { circuitBreaker } from '../../packages/middleware-fallback/src/index.ts'
import { rateLimit } from '../../packages/middleware-rate-limit/src/index.ts'
import { contentTruncator, summarizer } from '../../packages/middleware-truncate/src/index.ts'
import { callFunction, scriptedClient } from '../../packages/testing/src/index.ts'

// The table of docs/many-processes.md: each wait for a store ends, and the run with it or without the store.

const storeTimeoutMs = 20
const limits = { modelCalls: 9 }
const log = tool({
  name: 'log',
  description: 'A log.',
  readOnly: true,
  execute: () => 'x'.repeat(500),
})
const judge = scriptedClient(({ instructions = '' }) => {
  const [ticket] = instructions.match(/verdict_\w+/) ?? []
  return JSON.stringify({ ticket, scores: { rude: 0 } })
})
const talk = Array.from({ length: 6 }, (_, at) => ({
  role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
  contents: `Mail ada@example.org, ${at}`,
}))

interface Case {
  readonly options: (store: Store) => Partial<AgentOptions>
  readonly isEnding: boolean
}
const goesOn = (middleware: AgentOptions['middleware']): Case => ({
  options: () => ({ middleware }),
  isEnding: false,
})
const ends = (middleware: AgentOptions['middleware']): Case => ({
  options: () => ({ middleware }),
  isEnding: true,
})
const requests = [{ unit: 'requests', limit: 9, windowMs: 60_000 }] as const
const criteria = [{ id: 'rude', question: 'Is it rude?', failIf: 'yes' }] as const

const cases: Record<string, Case> = {
  budget: ends(budget({ scope: 'tenant', limits, storeTimeoutMs })),
  'budget, open': goesOn(budget({ scope: 'tenant', limits, storeTimeoutMs, onStoreError: 'open' })),
  rateLimit: goesOn(rateLimit({ limits: requests, storeTimeoutMs })),
  'rateLimit, fail': ends(rateLimit({ limits: requests, storeTimeoutMs, onStoreError: 'fail' })),
  circuitBreaker: goesOn(circuitBreaker({ storeTimeoutMs })),
  cache: goesOn(cache({ scope: 'tenant', storeTimeoutMs })),
  toolCache: goesOn(toolCache({ scope: 'tenant', storeTimeoutMs })),
  'pii vault': ends(pii({ vault: { storeTimeoutMs } })),
  summarizer: goesOn(
    summarizer({
      client: scriptedClient(() => 'They talked.'),
      maxMessages: 4,
      keepMessages: 1,
      storeTimeoutMs,
    }),
  ),
  'contentTruncator, spill': goesOn(contentTruncator({ maxChars: 200, spill: { storeTimeoutMs } })),
  llmJudge: goesOn(llmJudge({ client: judge, criteria, cacheVerdicts: { storeTimeoutMs } })),
}

const hangs = (): Promise<never> => new Promise(() => {})
const fails = (): Promise<never> => Promise.reject(new Error('the database is away'))

/** A store none of whose calls is answered as it should be. */
function broken(call: () => Promise<never>): Store {
  const { leaseMs, pollMs } = memoryStore().limits
  return {
    get: call,
    set: call,
    delete: call,
    compareAndSet: call,
    increment: call,
    limits: { leaseMs, pollMs, take: call, settle: call, renew: call, restrict: call },
    lists: { add: call, remove: call, range: call },
    health: call,
    close: async () => {},
  }
}

describe.each([
  ['hangs', hangs],
  ['fails', fails],
] as const)('a store that %s', (how, call) => {
  test.each(Object.entries(cases))('%s', async (_, { options, isEnding }) => {
    const store = broken(call)
    const client = scriptedClient([callFunction('log'), 'Fine.'])
    const agent = new Agent({ client, tools: [log], store, ...options(store) })

    const session = createSession({ id: 'chat' })
    const outcome = await agent.run(talk, { tenant: 'acme', session }).then(
      ({ status, text }) => `${status}: ${text}`,
      (error: unknown) => error,
    )

    expect(outcome instanceof Error ? 'an error' : outcome).toBe(
      isEnding ? 'an error' : 'completed: Fine.',
    )
  })

  test('sessions', async () => {
    const session = sessions(broken(call), { storeTimeoutMs }).at('chat')
    const client = scriptedClient([])

    const running = new Agent({ client }).run('Hello', { session })

    await expect(running).rejects.toThrow(how === 'hangs' ? 'did not answer' : 'is away')
    expect(client.requests).toEqual([])
  })

  test.each(['core', 'toolPolicy'] as const)('approvals of %s run nothing', async (by) => {
    const healthy: KeyValueStore = memoryStore()
    let paid = 0
    const make = (
      store: KeyValueStore,
      answers: ConstructorParameters<typeof Agent>[0]['client'],
    ) =>
      new Agent({
        client: answers,
        store,
        storeTimeoutMs,
        tools: [
          tool({
            name: 'pay',
            description: 'Pays.',
            ...(by === 'core' && { approval: 'always' as const }),
            execute: () => `${++paid}`,
          }),
        ],
        middleware: by === 'core' ? [] : toolPolicy({ ask: ['pay'], approval: { storeTimeoutMs } }),
      })
    const { checkpoint, pending } = await make(healthy, scriptedClient([callFunction('pay')])).run(
      'Pay.',
    )
    const answers = { [pending[0]!.id]: true }

    const broke = make(broken(call), scriptedClient(['Done.'])).resume(checkpoint!, answers)
    const error = await broke.catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(Error)
    expect(LamellaError.is(error, 'store_timeout')).toBe(how === 'hangs')
    expect(paid).toBe(0)

    await make(healthy, scriptedClient(['Done.'])).resume(checkpoint!, answers)
    expect(paid).toBe(1)
  })
})
