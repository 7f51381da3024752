import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AgentOptions, Store } from '../../packages/core/src/index.ts'
import {
  Agent,
  chatMiddleware,
  createSession,
  memoryStore,
  tool,
  withMiddleware,
} from '../../packages/core/src/index.ts'
import { keyOf } from '../../packages/core/src/authoring.ts'
import { pii } from '../../packages/guardrail-pii/src/index.ts'
import { budget } from '../../packages/middleware-budget/src/index.ts'
import { cache, toolCache } from '../../packages/middleware-cache/src/index.ts'
import {
  contentTruncator,
  readMoreTool,
  summarizer,
} from '../../packages/middleware-truncate/src/index.ts'
import { openAIHandler } from '../../packages/serve/src/openai.ts'
import { chatService } from '../../packages/serve/src/index.ts'
import { sseHandler } from '../../packages/serve/src/sse.ts'
import { storePrefix } from '../../packages/store/src/index.ts'
import { callFunction, scriptedClient } from '../../packages/testing/src/index.ts'

interface Owner {
  readonly tenant?: string
  readonly principal?: string
}

// Each differs from the others, and some look like two of them put together.
const owners: readonly Owner[] = [
  { tenant: 'acme', principal: 'ann' },
  { tenant: 'acme', principal: 'bob' },
  { tenant: 'acm', principal: 'eann' },
  { tenant: 'globex', principal: 'ann' },
  { tenant: 'ann', principal: 'acme' },
  { tenant: '', principal: 'ann' },
  { principal: 'ann' },
  { tenant: 'ann' },
  { tenant: 'acme:ann' },
  { tenant: 'acme","ann' },
  {},
]

/** Runs an agent for an owner in the session that all owners name alike. */
async function runFor(agent: Agent, owner: Owner, input: string): Promise<string> {
  const { status, text } = await agent.run(input, {
    ...owner,
    session: createSession({ id: 'order-7' }),
  })
  return `${status}: ${text}`
}

/** Makes an agent that tells by its answer whether it found what another run has kept. */
const keepers: Record<string, { make: (store: Store) => Agent; own: string; first: string }> = {
  'vault of pii': {
    make: (store) =>
      agentOf(store, {
        client: scriptedClient(({ messages }) => {
          const said = JSON.stringify(messages.at(-1))
          return said.includes('ann@example.com') || said.includes('<EMAIL_1>')
            ? 'Noted.'
            : '<EMAIL_1>'
        }),
        middleware: pii({ vault: true }),
      }),
    first: 'I am ann@example.com',
    own: 'completed: ann@example.com',
  },
  'budget of a session': {
    make: (store) =>
      agentOf(store, {
        client: scriptedClient(() => 'Hi.'),
        middleware: budget({ scope: 'session', limits: { modelCalls: 1 } }),
      }),
    first: 'Hi',
    own: 'budget_exhausted: ',
  },
  'cache of a session': {
    make: (store) => {
      let calls = 0
      const client = scriptedClient(() => `Answer ${++calls}.`)
      return agentOf(store, { client, middleware: cache({ scope: 'session' }) })
    },
    first: 'Again',
    own: 'completed: Answer 1.',
  },
  'cache of tools': {
    make: (store) => {
      let calls = 0
      const balance = tool({ name: 'balance', description: '', execute: () => `${++calls} euros` })
      return agentOf(store, {
        client: scriptedClient(({ messages }) => {
          const [last] = messages.at(-1)!.contents
          return last?.type === 'function-result'
            ? /\d+ euros/.exec(JSON.stringify(last))![0]
            : callFunction('balance', {})
        }),
        tools: [balance],
        middleware: toolCache({ scope: 'session', tools: { balance: {} } }),
      })
    },
    first: 'Again',
    own: 'completed: 1 euros',
  },
}

const agentOf = (store: Store, options: AgentOptions) => new Agent({ ...options, store })

describe('what is kept for a user in a session', () => {
  test.for(Object.entries(keepers))(
    'is found by nobody else: %s',
    async ([, { make, first, own }]) => {
      const [keeper, ...others] = owners
      const agent = make(memoryStore())
      await runFor(agent, keeper!, first)

      const found = []
      for (const owner of others) found.push(await runFor(agent, owner, 'Again'))
      const again = await runFor(agent, keeper!, 'Again')

      expect(again).toBe(own)
      expect(found).not.toContain(own)
    },
  )

  test('is a summary of its own', async () => {
    const written: string[] = []
    const writer = scriptedClient(() => `Summary ${written.push('')}.`)
    const agent = agentOf(memoryStore(), {
      client: scriptedClient(() => 'Hi.'),
      middleware: summarizer({ client: writer, maxMessages: 2, keepMessages: 1 }),
    })
    const history = ['one', 'two', 'three', 'four', 'five'].map((text, at) => ({
      role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
      contents: [{ type: 'text' as const, text }],
    }))

    for (const owner of owners) await agent.run(history, owner)
    const before = written.length
    for (const owner of owners) await agent.run(history, owner)

    expect(before).toBeGreaterThanOrEqual(owners.length)
    expect(written).toHaveLength(before)
  })

  test('is a long result that only its owner can read on', async () => {
    const spill = { pageChars: 50 }
    const long = tool({
      name: 'long',
      description: '',
      execute: () => `${'x'.repeat(5000)} SECRET`,
    })
    let id = ''
    const client = scriptedClient(({ messages, index }) => {
      const [last] = messages.at(-1)!.contents
      const text = JSON.stringify(last)
      if (last?.type === 'function-result') {
        id ||= /result_[\w-]{8,}/.exec(text)?.[0] ?? ''
        return text
      }
      return index === 0
        ? callFunction('long', {})
        : callFunction('read_more', { id, offset: 4990 })
    })
    const agent = agentOf(memoryStore(), {
      client,
      tools: [long, readMoreTool(spill)],
      middleware: contentTruncator({ maxTokens: 100, spill }),
    })
    await runFor(agent, owners[0]!, 'Get it')

    const found = []
    for (const owner of owners.slice(1)) found.push(await runFor(agent, owner, 'Read on'))
    const own = await runFor(agent, owners[0]!, 'Read on')

    expect(own).toContain('SECRET')
    expect(found.join('')).not.toContain('SECRET')
  })
})

test('two users with the same chat id share no value of a vault', async () => {
  const client = scriptedClient(({ messages }) => {
    const said = messages.at(-1)!.contents.map((part) => (part.type === 'text' ? part.text : ''))
    return said.join('').startsWith('say') ? '<EMAIL_1>' : 'Noted.'
  })
  const agent = agentOf(memoryStore(), { client, middleware: pii({ vault: true }) })
  const handler = sseHandler(
    chatService(agent, {
      principal: ({ headers }) => ({
        id: headers.get('x-user')!,
        tenant: headers.get('x-tenant') ?? undefined,
      }),
    }),
  )
  const post = async (input: string, headers: Record<string, string>): Promise<string> => {
    const body = JSON.stringify({ chat: 'order-7', input })
    const type = { 'content-type': 'application/json' }
    const response = await handler(
      new Request('http://h/chat', { method: 'POST', headers: { ...type, ...headers }, body }),
    )
    return response.text()
  }
  await post('I am ann@example.com', { 'x-user': 'ann', 'x-tenant': 'acme' })

  const own = await post('say', { 'x-user': 'ann', 'x-tenant': 'acme' })
  const bob = await post('say', { 'x-user': 'bob', 'x-tenant': 'acme' })
  const other = await post('say', { 'x-user': 'ann', 'x-tenant': 'globex' })
  const none = await post('say', { 'x-user': 'ann' })

  expect(own).toContain('ann@example.com')
  expect(bob + other + none).not.toContain('ann@example.com')
})

test('the middleware of a client in a gateway sees the tenant, the user and the data', async () => {
  const seen: unknown[] = []
  const models = {
    m: withMiddleware(
      scriptedClient(['Hi.']),
      chatMiddleware('see', async ({ run }, callNext) => {
        seen.push([run.tenant, run.principal, run.data])
        await callNext()
      }),
    ),
  }
  const handler = openAIHandler(models, {
    principal: () => ({ id: 'ann', tenant: 'acme' }),
    run: () => ({ data: { plan: 'pro' } }),
  })
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
  const headers = { 'content-type': 'application/json' }

  await handler(new Request('http://h/v1/chat/completions', { method: 'POST', headers, body }))

  expect(seen).toEqual([['acme', 'ann', { plan: 'pro' }]])
})

const part = fc.oneof(
  fc.constantFrom('', ':', '@', '%', '"', ',', 'acme', 'acme:', 'null', '[]', '\\'),
  fc.string({ unit: 'binary', maxLength: 6 }),
)
const maybe = fc.option(part, { nil: undefined })

test('different owners and parts never share a key or a prefix', () => {
  const owner = fc.record({ tenant: maybe, principal: maybe })
  const place = fc.tuple(owner, fc.array(part, { maxLength: 3 }))
  const name = part.filter((text) => text !== '')

  fc.assert(
    fc.property(place, place, name, part, name, part, (left, right, first, a, second, b) => {
      const isSame = JSON.stringify(left) === JSON.stringify(right)
      expect(keyOf('k:', left[0], ...left[1]) === keyOf('k:', right[0], ...right[1])).toBe(isSame)

      const inside = storePrefix({ name: first, ...left[0] }) + a
      const outside = storePrefix({ name: second, ...right[0] }) + b
      const isSamePlace = first === second && JSON.stringify(left[0]) === JSON.stringify(right[0])
      expect(inside === outside).toBe(isSamePlace && a === b)
    }),
    { seed: 34, numRuns: 500 },
  )
})
