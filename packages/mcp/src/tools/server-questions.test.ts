import type { AgentContext, RunEvent } from '@lamella/core'
import { agentMiddleware, chatMiddleware } from '@lamella/core'
import { guardrail } from '@lamella/guardrail'
import { McpServer as OldServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { acceptedContent, inputRequired, McpServer } from '@modelcontextprotocol/server'
import { callFunction } from '@lamella/testing'
import { describe, expect, test, vi } from 'vitest'
import { listen, serve, sessionServer } from '../local-http.test-helper.ts'
import { definition, listing, local, raw, silence, trial } from '../local-server.test-helper.ts'
import { mcpElicitation, mcpSampling } from '../base/mcp-questions.ts'
import type { McpServer as Server } from '../connection/mcp-server.ts'

const calls = [callFunction('mcp_book'), 'Done.']

const guests = {
  type: 'object' as const,
  properties: { guests: { type: 'integer' as const, minimum: 1 } },
  required: ['guests'],
}
const question = { message: 'How many guests?', requestedSchema: guests }
const says = (text: string) => ({ content: [{ type: 'text' as const, text }] })

/** Asks in the way of 2025: by a request of its own. */
function asking(): McpServer {
  const server = new McpServer({ name: 'tables', version: '1' })
  server.registerTool('book', { description: 'Books.' }, async (ctx) => {
    const answer = await ctx.mcpReq.elicitInput({ mode: 'form', ...question })
    return says(JSON.stringify(answer))
  })
  return server
}

/** Asks in the way of 2026: by its result. */
function returning(): McpServer {
  const server = new McpServer({ name: 'tables', version: '1' })
  server.registerTool('book', { description: 'Books.' }, (ctx) => {
    const answer = acceptedContent(ctx.mcpReq.inputResponses, 'guests')
    if (answer !== undefined) return says(JSON.stringify({ action: 'accept', content: answer }))
    const given = ctx.mcpReq.inputResponses?.['guests']
    if (given !== undefined) return says(JSON.stringify(given))
    return inputRequired({
      inputRequests: { guests: inputRequired.elicit(question) },
      requestState: 'state',
    })
  })
  return server
}

function oldServer(): OldServer {
  const server = new OldServer({ name: 'tables', version: '1' })
  server.registerTool('book', { description: 'Books.' }, async () =>
    says(JSON.stringify(await server.server.elicitInput(question))),
  )
  return server
}

const servers: Record<string, () => Promise<AsyncDisposable & { server: Server }>> = {
  'of SDK 2 in this process': async () => ({
    server: local(asking),
    async [Symbol.asyncDispose]() {},
  }),
  'of SDK 1 over HTTP': async () => {
    const http = await listen(sessionServer(oldServer).listener)
    return Object.assign(http, { server: { url: http.url } })
  },
  'of SDK 2 and the revision of 2026': async () => {
    const http = await serve(returning)
    return Object.assign(http, { server: { url: http.url } })
  },
}

describe.each(Object.entries(servers))('a server %s', (_, open) => {
  test('asks the caller of the run, by callback', async () => {
    await using opened = await open()
    const { agent, read, run } = trial(opened.server, calls)
    const asked: RunEvent[] = []

    await run({
      onRequest(event) {
        asked.push(event)
        return { action: 'accept', content: { guests: 2 } }
      },
    })
    await agent[Symbol.asyncDispose]()

    expect(asked).toMatchObject([
      { type: 'mcp/elicitation', data: { server: 'mcp', tool: 'mcp_book', ...question } },
    ])
    expect(mcpElicitation.is(asked[0])).toBe(true)
    expect(JSON.parse(read())).toEqual({ action: 'accept', content: { guests: 2 } })
  })

  test('asks the reader of a stream', async () => {
    await using opened = await open()
    const { agent, read } = trial(opened.server, calls)

    const stream = agent.run('Go.', { stream: true })
    for await (const { event } of stream) {
      if (mcpElicitation.is(event)) stream.respond(event.id ?? '', { action: 'decline' })
    }
    await agent[Symbol.asyncDispose]()

    expect(JSON.parse(read())).toEqual({ action: 'decline' })
  })

  test.each([
    ['nobody can answer', undefined, 'nobody answered'],
    ['the answer is none', () => ({ action: 'maybe' }), 'nobody answered'],
    ['the caller fails', () => Promise.reject(new Error('gone')), 'nobody answered'],
    [
      'values do not fit',
      () => ({ action: 'accept', content: { guests: 0 } }),
      'the answer does not fit',
    ],
  ])('is told to continue without an answer when %s', async (_name, onRequest, reason) => {
    await using opened = await open()
    const { agent, events, read, run } = trial(opened.server, calls)

    const { status } = await run({ onRequest })
    await agent[Symbol.asyncDispose]()

    expect(status).toBe('completed')
    expect(JSON.parse(read())).toEqual({ action: 'cancel' })
    expect(events).toContainEqual({ server: 'mcp', status: 'question_declined', reason })
  })
})

test('values that an answer leaves out get their defaults', async () => {
  const requestedSchema = {
    type: 'object' as const,
    properties: {
      guests: { type: 'integer' as const, default: 4 },
      name: { type: 'string' as const, default: 'Ada' },
    },
    required: ['guests'],
  }
  const server = new McpServer({ name: 'tables', version: '1' })
  server.registerTool('book', { description: 'Books.' }, async (ctx) =>
    says(JSON.stringify(await ctx.mcpReq.elicitInput({ ...question, requestedSchema }))),
  )
  const { read, run } = trial(
    local(() => server),
    calls,
  )

  await run({ onRequest: () => ({ action: 'accept', content: { name: 'Bo' } }) })

  expect(JSON.parse(read())).toEqual({ action: 'accept', content: { guests: 4, name: 'Bo' } })
})

test('an answer may take longer than a call', async () => {
  vi.useFakeTimers()
  const { read, run } = trial(local(asking), calls, { timeoutMs: 30, maxCallMs: 60 })

  await run({
    onRequest: async () => {
      await vi.advanceTimersByTimeAsync(120)
      return { action: 'accept', content: { guests: 3 } }
    },
  })
  vi.useRealTimers()

  expect(read()).toContain('"guests":3')
})

test('an abort ends the wait for an answer', async () => {
  const stop = new AbortController()
  const { run } = trial(local(asking), calls)

  const onRequest = (): Promise<never> => {
    stop.abort(new Error('enough'))
    return new Promise(() => {})
  }

  await expect(run({ signal: stop.signal, onRequest })).rejects.toThrow('enough')
})

test('a server that is not to ask is not told that it could', async () => {
  const { read, run } = trial(local(asking), calls, { elicitation: 'decline' })

  await run({ onRequest: () => ({ action: 'accept', content: { guests: 2 } }) })

  expect(read()).toContain('does not support')
})

test('a question that may belong to either of two runs is passed on to none', async () => {
  let waiting = 0
  const server = raw({
    ...listing(definition('book')),
    'tools/call': (_, transport) => {
      if (++waiting === 2) {
        transport.say({ id: 'q', method: 'elicitation/create', params: question })
      }
      return silence
    },
  })
  const one = trial(server, () => calls[0]!)
  const stop = new AbortController()
  const asked: RunEvent[] = []
  const onRequest = (event: RunEvent): undefined => void asked.push(event)

  const other = one.agent.run('Go.', { onRequest, signal: stop.signal })
  const second = one.agent.run('Go.', { onRequest, signal: stop.signal })
  await expect
    .poll(() => one.events)
    .toContainEqual({
      server: 'mcp',
      status: 'question_declined',
      reason: 'it is not known which run it belongs to',
    })
  stop.abort()
  await Promise.allSettled([other, second])

  expect(asked).toEqual([])
})

test('a page to open is passed on with its host, and is not opened', async () => {
  const url = 'https://pay.example/42'
  const server = raw({
    ...listing(definition('book')),
    'tools/call': (_, transport) => {
      const params = { mode: 'url', message: 'Pay here.', url, elicitationId: '1' }
      transport.say({ id: 'q', method: 'elicitation/create', params })
      return new Promise((resolve) => setTimeout(resolve, 20, { content: [] }))
    },
  })
  const { run } = trial(server, calls)
  const asked: RunEvent[] = []

  await run({
    onRequest(event) {
      asked.push(event)
      return { action: 'accept' }
    },
  })

  expect(asked).toMatchObject([{ data: { message: 'Pay here.', url, host: 'pay.example' } }])
})

test.each(['javascript:alert(1)', 'file:///etc/passwd', 'https://bank.example@evil.example/'])(
  'the address %s is not shown to anybody',
  async (url) => {
    const server = raw({
      ...listing(definition('book')),
      'tools/call': (_, transport) => {
        const params = { mode: 'url', message: 'Pay here.', url, elicitationId: '1' }
        transport.say({ id: 'q', method: 'elicitation/create', params })
        return new Promise((resolve) => setTimeout(resolve, 20, { content: [] }))
      },
    })
    const { events, run } = trial(server, calls)
    const asked: RunEvent[] = []

    await run({
      onRequest(event) {
        asked.push(event)
        return { action: 'accept' }
      },
    })

    expect(asked).toEqual([])
    expect(events).toContainEqual({
      server: 'mcp',
      status: 'question_declined',
      reason: 'its address or schema is not accepted',
    })
  },
)

/** Asks for a model call. */
function sampling(more: object = {}): McpServer {
  const server = new McpServer({ name: 'writer', version: '1' })
  server.registerTool('book', { description: 'Writes.' }, async (ctx) => {
    const result = await ctx.mcpReq.requestSampling({
      systemPrompt: 'Be brief.',
      messages: [{ role: 'user', content: { type: 'text', text: 'Name a dish.' } }],
      maxTokens: 50_000,
      ...more,
    })
    return says(JSON.stringify(result))
  })
  return server
}

describe('a model call of a server', () => {
  test('is refused unless it is allowed', async () => {
    const { client, read, run } = trial(local(sampling), [calls[0]!, 'Soup'])

    await run()

    expect(read()).not.toContain('Soup')
    expect(client.requests).toHaveLength(2)
  })

  test('waits for the caller, and runs through the middleware of the agent alone', async () => {
    const asked: RunEvent[] = []
    const seen: string[] = []
    const middleware = [
      agentMiddleware('runs', async ({ run }: AgentContext, callNext) => {
        seen.push(`run ${run.depth}`)
        await callNext()
      }),
      chatMiddleware('calls', async ({ options, instructions }, callNext) => {
        seen.push(
          `${String(instructions)}, ${options.tools?.length ?? 0} tools, ${options.maxOutputTokens}`,
        )
        await callNext()
      }),
    ]
    const { agent, client, read, run } = trial(
      local(sampling),
      [callFunction('mcp_book'), 'Soup', 'Done.'],
      { middleware, sampling: { maxTokens: 100 } },
    )

    const response = await agent.run('Secret history.', {
      instructions: 'Secret instructions.',
      onRequest(event) {
        asked.push(event)
        return true
      },
    })
    void run

    expect(mcpSampling.is(asked[0])).toBe(true)
    expect(asked).toMatchObject([{ data: { instructions: 'Be brief.', maxTokens: 100 } }])
    expect(seen).toEqual([
      'run 0',
      'Secret instructions., 1 tools, undefined',
      'run 1',
      'Be brief., 0 tools, 100',
      'Secret instructions., 1 tools, undefined',
    ])
    expect(JSON.stringify(client.requests[1])).not.toContain('Secret')
    expect(JSON.parse(read())).toMatchObject({
      role: 'assistant',
      content: { type: 'text', text: 'Soup' },
      stopReason: 'endTurn',
    })
    expect(response.usage.totalTokens).toBeGreaterThan(0)
  })

  test.each([
    ['the caller says no', {}, () => false],
    ['nobody can be asked', {}, undefined],
    ['it wants tools', { tools: [{ name: 'x', inputSchema: { type: 'object' } }] }, () => true],
  ] satisfies [string, object, (() => boolean) | undefined][])(
    'is refused when %s',
    async (_, more, onRequest) => {
      const { client, run } = trial(
        local(() => sampling(more)),
        calls,
        { sampling: {} },
      )

      const { status } = await run({ onRequest })

      expect(status).toBe('completed')
      expect(client.requests).toHaveLength(2)
    },
  )

  test('that a guardrail blocks tells the server nothing', async () => {
    const middleware = guardrail({
      name: 'secret-rule',
      applyTo: ['output'],
      check: ({ text }) =>
        text.includes('Soup')
          ? { action: 'block', category: 'secret_category' }
          : { action: 'allow' },
    })
    const { read, run } = trial(local(sampling), [calls[0]!, 'Soup', 'Done.'], {
      middleware,
      sampling: { approval: 'never' },
    })

    await run()

    expect(read()).toContain('it was refused, or failed')
    expect(read()).not.toMatch(/secret|guardrail/)
  })

  test('comes a few times at most for one tool call', async () => {
    const server = new McpServer({ name: 'writer', version: '1' })
    server.registerTool('book', { description: 'Writes.' }, async (ctx): Promise<never> => {
      const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'On.' } }]
      for (;;) await ctx.mcpReq.requestSampling({ messages, maxTokens: 5 })
    })
    const { client, run } = trial(
      local(() => server),
      [callFunction('mcp_book'), 'a', 'b', 'Done.'],
      { sampling: { approval: 'never', maxCalls: 2 } },
    )

    const { text } = await run()

    expect(text).toBe('Done.')
    expect(client.requests).toHaveLength(4)
  })
})
