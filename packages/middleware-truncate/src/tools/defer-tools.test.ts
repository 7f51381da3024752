import { Agent, agentMiddleware, createSession, tool, toolSearch } from '@lamella/core'
import {
  callFunction,
  describeContract,
  middlewareContract,
  runIn,
  runModes,
  scriptedClient,
} from '@lamella/testing'
import { describe, expect, it, test } from 'vitest'
import { deferTools } from './defer-tools.ts'

const invoice = tool({
  name: 'find_invoice',
  description: 'Finds invoices.',
  execute: () => 'paid',
})
const refund = tool({
  name: 'pay_back',
  description: 'Pays back.',
  approval: 'always',
  execute: () => 'done',
})
const search = toolSearch({ list: true })
const look = callFunction('tool_search', { query: 'invoice' })

function setUp(replies: Parameters<typeof scriptedClient>[0], scope?: 'run' | 'session') {
  const client = scriptedClient(replies)
  const middleware = deferTools({ tools: ['find_invoice', 'pay_back'], scope })
  const agent = new Agent({ client, tools: [search, invoice, refund], middleware })
  const shown = () =>
    client.requests.map(({ options }) => (options.tools ?? []).map(({ name }) => name).join())
  return { agent, client, shown }
}

describe.each(runModes)('deferred tools, %s', (mode) => {
  test('are shown from the search that finds them to the end of the run', async () => {
    const { agent, client, shown } = setUp([look, callFunction('find_invoice'), 'Paid.', 'Hello.'])
    const session = createSession()

    const { text } = await runIn(mode, agent, { input: 'Is it paid?', session })
    await runIn(mode, agent, { input: 'Hi', session })

    expect(text).toBe('Paid.')
    expect(shown()).toEqual([
      'tool_search',
      'tool_search,find_invoice',
      'tool_search,find_invoice',
      'tool_search',
    ])
    const description = (at: number) =>
      (client.requests[at]!.options.tools![0] as typeof search).description
    expect(description(0)).toContain('Not shown yet: find_invoice, pay_back.')
    expect(description(1)).toContain('Not shown yet: pay_back.')
  })

  test('stay shown in later runs of the session, and not in others', async () => {
    const { agent, shown } = setUp([look, 'Found.', 'Hello.', 'Hello.'], 'session')
    const session = createSession()

    await runIn(mode, agent, { input: 'Search', session })
    await runIn(mode, agent, { input: 'Hi', session })
    await runIn(mode, agent, { input: 'Hi', session: createSession() })

    expect(shown().slice(2)).toEqual(['tool_search,find_invoice', 'tool_search'])
  })

  test('stay shown over a pause', async () => {
    const pay = callFunction('tool_search', { query: 'select:pay_back' })
    const { agent, shown } = setUp([pay, callFunction('pay_back'), 'Done.', 'Hi.'], 'session')
    const session = createSession()

    const paused = await runIn(mode, agent, { input: 'Pay', session })
    const answers = { [paused.pending[0]!.id]: true }
    const { text } = await agent.resume(paused.checkpoint!, answers, { session })
    await runIn(mode, agent, { input: 'Hi', session })

    expect(text).toBe('Done.')
    expect(shown().slice(1)).toEqual(Array.from({ length: 3 }, () => 'tool_search,pay_back'))
  })
})

test('a function chooses among the tools that were added in front of it', async () => {
  const added = agentMiddleware('add', async ({ run }, callNext) => {
    run.tools.add(invoice)
    await callNext()
  })
  const client = scriptedClient(['Hello.'])
  const middleware = [added, deferTools({ tools: ({ name }) => name !== 'tool_search' })]

  await new Agent({ client, tools: [search, refund], middleware }).run('Hi')

  expect(client.requests[0]!.options.tools!.map(({ name }) => name)).toEqual(['tool_search'])
})

test('a wrong option throws', () => {
  expect(() => deferTools({ tools: 'a' as never })).toThrow(
    'deferTools: `tools` must be a list of names, or a function, got "a"',
  )
  expect(() => deferTools({ tools: [], scope: 'tenant' as never })).toThrow('deferTools: `scope`')
})

describeContract(
  middlewareContract({
    name: 'deferTools',
    create: () => deferTools({ tools: ['none'] }),
    texts: ['Anything at all.'],
  }),
  { describe, it },
)
