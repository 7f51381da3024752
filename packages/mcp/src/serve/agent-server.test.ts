import type { AgentOptions, KeyValueStore, RunOptions } from '@lamella/core'
import { Agent, defineEvent, jsonSchema, memoryStore, tool } from '@lamella/core'
import { Client } from '@modelcontextprotocol/client'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { InMemoryTransport } from '@modelcontextprotocol/server'
import type { AuthInfo, McpRequestContext } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import type { AgentServerOptions } from './agent-server.ts'
import { agentServer } from './agent-server.ts'
import { serve } from '../local-http.test-helper.ts'

const paid: unknown[] = []

const pay = tool({
  name: 'pay',
  description: 'Pays.',
  parameters: jsonSchema({ type: 'object', properties: { euros: { type: 'number' } } }),
  approval: 'always',
  execute(args) {
    paid.push(args)
    return 'paid'
  },
})

function shop(steps: readonly ScriptedStep[], more: Partial<AgentOptions> = {}): Agent {
  const client = scriptedClient(steps)
  return new Agent({ client, description: 'Runs the shop.', tools: [pay], ...more })
}

const buying = [callFunction('pay', { euros: 5 }), 'Bought.']

interface Reached extends AsyncDisposable {
  readonly client: Client
  readonly asked: Record<string, unknown>[]
}

type Answer = { action: 'accept' | 'decline' | 'cancel'; content?: Record<string, boolean> }

/** Sets a client up to answer what it is asked; without an answer it cannot be asked. */
function prepared(
  client: Client,
  asked: Record<string, unknown>[],
  answer: Answer | undefined,
): Client {
  if (answer === undefined) return client
  client.registerCapabilities({ elicitation: { form: {} } })
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params)
    return answer
  })
  return client
}

const info = { name: 'test', version: '1' }

async function overHttp(
  agents: Record<string, Agent>,
  answer?: Answer,
  options?: AgentServerOptions,
  authOf?: () => AuthInfo,
): Promise<Reached> {
  const http = await serve(agentServer(agents, options), authOf)
  const asked: Record<string, unknown>[] = []
  const client = prepared(new Client(info, { versionNegotiation: { mode: 'auto' } }), asked, answer)
  await client.connect(new StreamableHTTPClientTransport(new URL(http.url)))
  return {
    client,
    asked,
    async [Symbol.asyncDispose]() {
      await client.close()
      await http[Symbol.asyncDispose]()
    },
  }
}

async function overStdio(
  agents: Record<string, Agent>,
  answer?: Answer,
  options?: AgentServerOptions,
): Promise<Reached> {
  const [near, far] = InMemoryTransport.createLinkedPair()
  const served = serveStdio(agentServer(agents, options), { transport: far })
  const asked: Record<string, unknown>[] = []
  const client = prepared(new Client(info), asked, answer)
  await client.connect(near)
  return {
    client,
    asked,
    async [Symbol.asyncDispose]() {
      await client.close()
      await served.close()
    },
  }
}

function textIn({ content }: { content?: unknown }): string {
  return (content as { text: string }[])[0]!.text
}

describe.each([
  ['HTTP, in the revision of 2026', overHttp],
  ['stdio, in the revisions before', overStdio],
])('over %s', (_, open) => {
  const call = { name: 'shop', arguments: { input: 'Buy it.' } }

  test('each agent is a tool, and answers with its text', async () => {
    await using reached = await open({ shop: shop(['Hello!']), 'other.agent': shop([]) })

    const { tools } = await reached.client.listTools()
    const result = await reached.client.callTool(call)

    expect(tools).toMatchObject([
      { name: 'shop', description: 'Runs the shop.', inputSchema: { required: ['input'] } },
      { name: 'other.agent' },
    ])
    expect(result).toMatchObject({ content: [{ type: 'text', text: 'Hello!' }] })
    expect(result.isError).toBeUndefined()
  })

  test('a person at the client approves, and the run continues', async () => {
    paid.length = 0
    const yes: Answer = { action: 'accept', content: { approve: true } }
    await using reached = await open({ shop: shop(buying) }, yes)

    const result = await reached.client.callTool(call)

    expect(reached.asked).toMatchObject([{ message: 'Approve the call of pay?\n{"euros":5}' }])
    expect(textIn(result)).toBe('Bought.')
    expect(paid).toEqual([{ euros: 5 }])
  })

  test.each([
    { action: 'decline' },
    { action: 'cancel' },
    { action: 'accept', content: { approve: false } },
  ] satisfies Answer[])('%j is a no', async (answer) => {
    paid.length = 0
    await using reached = await open({ shop: shop(buying) }, answer)

    const result = await reached.client.callTool(call)

    expect(textIn(result)).toBe('Bought.')
    expect(paid).toEqual([])
  })

  test('a client that cannot ask is told so, and nothing runs', async () => {
    paid.length = 0
    await using reached = await open({ shop: shop(buying) })

    const result = await reached.client.callTool(call)

    expect(result.isError).toBe(true)
    expect(textIn(result)).toContain('needs approval')
    expect(paid).toEqual([])
  })

  test('what waits for something else than approval fails, and says no more', async () => {
    const declared = tool({ name: 'where', description: 'Asks the application.' })
    const agent = shop([callFunction('where')], { tools: [declared] })
    await using reached = await open({ shop: agent })

    const result = await reached.client.callTool(call)

    expect(result.isError).toBe(true)
    expect(textIn(result)).toContain('waits for something that cannot be asked here')
  })

  test('a failure tells its code and nothing else', async () => {
    const agent = shop([new Error('the key sk-123 was refused by 10.0.0.7')])
    await using reached = await open({ shop: agent })

    const result = await reached.client.callTool(call)

    expect(result.isError).toBe(true)
    expect(JSON.stringify(result)).not.toMatch(/sk-123|10\.0\.0\.7/)
  })

  test('a client that asks for progress gets it, without any text', async () => {
    const reports: unknown[] = []
    await using reached = await open({ shop: shop(['Hello there, friend.']) })

    const result = await reached.client.callTool(call, { onprogress: (one) => reports.push(one) })

    expect(textIn(result)).toBe('Hello there, friend.')
    expect(reports[0]).toEqual({ progress: 1 })
  })

  test('a cancelled call ends the run', async () => {
    const stop = new AbortController()
    let ended: (reason: unknown) => void = () => {}
    const isOver = new Promise((resolve) => (ended = resolve))
    const watched = shop([], {
      middleware: {
        level: 'agent',
        name: 'watch',
        process: ({ signal }) =>
          new Promise((_resolve, reject) => {
            stop.abort()
            signal.addEventListener('abort', () => {
              ended(signal.reason)
              reject(signal.reason as Error)
            })
          }),
      },
    })
    await using reached = await open({ shop: watched })

    await expect(reached.client.callTool(call, { signal: stop.signal })).rejects.toThrow('abort')
    await isOver
  })

  test('an unknown agent and a missing input are refused', async () => {
    await using reached = await open({ shop: shop([]) })

    await expect(reached.client.callTool({ name: 'bank', arguments: {} })).rejects.toThrow(
      'Unknown tool',
    )
    const result = await reached.client.callTool({ name: 'shop', arguments: { input: 7 } })
    expect(result).toMatchObject({ isError: true })
  })

  test('a question of the agent that no client can answer fails at once', async () => {
    const ask = defineEvent<string>({ type: 'shop/ask' })
    const asking = tool({
      name: 'ask',
      description: 'Asks.',
      execute: (_args, { run }) => run.request(ask('Which?')),
    })
    await using reached = await open({
      shop: shop([callFunction('ask'), 'Well.'], { tools: [asking] }),
    })

    expect(textIn(await reached.client.callTool(call))).toBe('Well.')
  })
})

test('the application decides whose run it is', async () => {
  const seen: unknown[] = []
  const agent = shop(['Hi.'], {
    middleware: {
      level: 'agent',
      name: 'see',
      process({ run }, callNext) {
        seen.push(run.tenant)
        return callNext()
      },
    },
  })
  const runOptions = (): RunOptions => ({ tenant: 'acme' })
  await using reached = await overStdio({ shop: agent }, undefined, { runOptions })

  await reached.client.callTool({ name: 'shop', arguments: { input: 'Hi', tenant: 'evil' } })

  expect(seen).toEqual(['acme'])
})

test('what the application throws is not told', async () => {
  const runOptions = (): RunOptions => {
    throw new Error('no row in table users')
  }
  await using reached = await overStdio({ shop: shop([]) }, undefined, { runOptions })

  const result = await reached.client.callTool({ name: 'shop', arguments: { input: 'Hi' } })

  expect(result).toMatchObject({
    isError: true,
    content: [{ text: 'The agent failed: run_failed.' }],
  })
})

describe('a run that waits for approval', () => {
  /** Calls in the manner of a client that keeps the state itself, to misuse it. */
  async function waiting(options: AgentServerOptions = {}, authOf?: () => AuthInfo) {
    const reached = await overHttp(
      { shop: shop([...buying, ...buying]) },
      { action: 'cancel' },
      options,
      authOf,
    )
    const call = async (params: object): Promise<Record<string, unknown>> => {
      const whole = { name: 'shop', arguments: { input: 'Buy.' }, ...params }
      return { ...(await reached.client.callTool(whole, { allowInputRequired: true })) }
    }
    const first = await call({})
    const [id] = Object.keys(first['inputRequests'] as object)
    const inputResponses = { [id!]: { action: 'accept', content: { approve: true } } }
    return { reached, call, answer: { inputResponses, requestState: first['requestState'] } }
  }

  test('is continued once, whoever sends the answer again', async () => {
    paid.length = 0
    const { reached, call, answer } = await waiting()

    const results = await Promise.all([call(answer), call(answer), call(answer)])
    await reached[Symbol.asyncDispose]()

    expect(results.filter(({ isError }) => isError !== true)).toHaveLength(1)
    expect(paid).toHaveLength(1)
  })

  test('is not continued for another caller, another input or a made-up key', async () => {
    paid.length = 0
    let tenant = 'a'
    const { reached, call, answer } = await waiting({ runOptions: () => ({ tenant }) })

    const forged = await call({ ...answer, requestState: 'mcp_made-up' })
    const changed = await call({ ...answer, arguments: { input: 'Buy more.' } })
    tenant = 'b'
    const other = await call(answer)
    await reached[Symbol.asyncDispose]()

    expect([forged, changed, other].map(textIn)).toEqual(
      Array.from({ length: 3 }, () => 'This request expired or was answered before.'),
    )
    expect(paid).toEqual([])
  })

  const auth = { token: 't', clientId: 'program', scopes: [] }

  test.each<[string, (user: string) => AuthInfo, boolean?]>([
    ['the principal', () => auth, true],
    ['the subject of the token', (user) => ({ ...auth, extra: { sub: user } })],
    ['the token', (user) => ({ ...auth, token: user })],
  ])('belongs to one user of a program, known by %s', async (_name, authOf, isNamed) => {
    paid.length = 0
    let user = 'ann'
    const { reached, call, answer } = await waiting(
      isNamed ? { runOptions: () => ({ principal: user }) } : {},
      () => authOf(user),
    )

    user = 'bob'
    const other = await call(answer)
    user = 'ann'
    const own = await call(answer)
    await reached[Symbol.asyncDispose]()

    expect(textIn(other)).toBe('This request expired or was answered before.')
    expect(textIn(own)).toBe('Bought.')
    expect(paid).toHaveLength(1)
  })

  test('is in the store alone: the client sees a key', async () => {
    const store: KeyValueStore = memoryStore()
    const { reached, answer } = await waiting({ store })
    await reached[Symbol.asyncDispose]()

    expect(answer.requestState).toMatch(/^mcp_[\w-]+$/)
    expect(await store.get(`mcp-paused:${String(answer.requestState)}`)).toMatchObject({
      tool: 'shop',
    })
  })
})

test('a client of SDK 1 is served over HTTP, and told that it cannot be asked there', async () => {
  paid.length = 0
  await using http = await serve(agentServer({ shop: shop(['Hello!']), paying: shop(buying) }))
  const client = new OldClient(info, { capabilities: { elicitation: {} } })
  await client.connect(new OldHttp(new URL(http.url)))

  const result = await client.callTool({ name: 'shop', arguments: { input: 'Hi' } })
  const refused = await client.callTool({ name: 'paying', arguments: { input: 'Buy.' } })
  await client.close()

  expect(refused).toMatchObject({ isError: true })
  expect(paid).toEqual([])
  expect(result).toMatchObject({ content: [{ type: 'text', text: 'Hello!' }] })
})

test.each([
  [{ 'a b': shop([]) }, {}, '`agents` must be named by letters'],
  [{ a: {} }, {}, '`agents.a` must be an agent'],
  [{}, { approvalTtlMs: 0 }, '`approvalTtlMs` must be a whole number from 1 up'],
  [{}, { run: 1 }, 'unknown option `run`'],
])('wrong options are refused', (agents, options, message) => {
  expect(() => agentServer(agents as never, options as never)).toThrow(message)
})

test('a server is made for each request, of the same agents', async () => {
  const make = agentServer({ shop: shop([]) })

  const context = { era: 'legacy' } as McpRequestContext

  expect(await make(context)).not.toBe(await make(context))
})
