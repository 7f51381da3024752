import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import type { ApprovalGate, ExecutionGate } from '../contract/run.ts'
import type { AgentMiddleware, AgentResponse, FunctionInvocationContext } from '../index.ts'
import {
  Agent,
  MiddlewareTermination,
  agentMiddleware,
  functionMiddleware,
  jsonSchema,
  text,
  tool,
} from '../index.ts'

const gate = (ask: ApprovalGate): AgentMiddleware =>
  agentMiddleware('gate', async (context, callNext) => {
    context.run.gateCalls({ approval: ask })
    await callNext()
  })

function agentWith(middleware: AgentMiddleware[], approval: 'always' | 'never' = 'never') {
  const done: unknown[] = []
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    parameters: jsonSchema({ type: 'object', properties: { cents: { type: 'number' } } }),
    approval,
    execute: (args) => done.push(args),
  })
  const client = scriptedClient([callFunction('pay', { cents: 500 }), 'Paid.'])
  return { agent: new Agent({ client, tools: [pay], middleware }), done }
}

const requestOf = ({ pending: [request] }: AgentResponse) =>
  request?.kind === 'approval' ? request.request : undefined

describe('a gate of a middleware', () => {
  test('has a call wait as an approval of the tool does, with a note', async () => {
    const { agent, done } = agentWith([
      gate(async ({ tool: { name }, arguments: { cents }, asks }) => ({
        reason: `${name} ${String(cents)}`,
        metadata: { asks },
      })),
    ])

    const paused = await agent.run('Pay')
    const request = requestOf(paused)

    expect(paused.status).toBe('paused')
    expect(request).toMatchObject({ reason: 'pay 500', metadata: { asks: false } })
    expect(done).toEqual([])
    const response = await agent.resume(paused.checkpoint!, { [request!.id]: true })
    expect([response.text, done]).toEqual(['Paid.', [{ cents: 500 }]])
  })

  test('lets a call run, but not one that the tool has wait', async () => {
    const free = await agentWith([gate(() => false)]).agent.run('Pay')
    const held = await agentWith([gate(() => false)], 'always').agent.run('Pay')

    expect([free.status, held.status]).toEqual(['completed', 'paused'])
  })

  test('cannot lift what an outer one asks for, and notes are joined', async () => {
    const seen: boolean[] = []
    const note = (name: string, metadata: object) =>
      gate(() => ({ reason: name, metadata: { ...metadata } }))
    const looks = gate(({ asks }) => {
      seen.push(asks)
      return false
    })

    const asked = await agentWith([gate(() => true), looks]).agent.run('Pay')
    const noted = await agentWith([note('a', { a: 1 }), looks, note('b', { b: 2 })]).agent.run(
      'Pay',
    )

    expect(asked.status).toBe('paused')
    expect(seen).toEqual([true, true])
    expect(requestOf(noted)).toMatchObject({ reason: 'b', metadata: { a: 1, b: 2 } })
  })

  test.each<[string, readonly ApprovalGate[], object | undefined]>([
    ['one that asks after one that does not', [() => false, () => true], {}],
    ['one that answers late, and does not ask', [async () => false, () => false], undefined],
    ['one that answers late, after one that asks', [() => true, async () => false], {}],
    [
      'a late note after one that asks',
      [() => true, async () => ({ reason: 'a' })],
      { reason: 'a' },
    ],
    [
      'a late note after a note',
      [() => ({ reason: 'a', metadata: { a: 1 } }), async () => ({ metadata: { b: 2 } })],
      { reason: 'a', metadata: { a: 1, b: 2 } },
    ],
    ['a note before one that asks', [() => ({ reason: 'a' }), () => true], { reason: 'a' }],
    [
      'a late note before one that does not ask',
      [async () => ({ reason: 'a' }), () => false],
      { reason: 'a' },
    ],
  ])('counts with others: %s', async (_, gates, expected) => {
    const request = requestOf(await agentWith(gates.map(gate)).agent.run('Pay'))

    const { reason, metadata } = request ?? {}
    expect(request && { ...(reason && { reason }), ...(metadata && { metadata }) }).toEqual(
      expected,
    )
  })

  test('that throws fails the run', async () => {
    const broken = gate(() => {
      throw new Error('no policy')
    })

    await expect(agentWith([broken]).agent.run('Pay')).rejects.toThrow('no policy')
  })
})

test('an execution gate sees the arguments that the tool gets, after every middleware', async () => {
  const seen: unknown[] = []
  const { agent, done } = agentWith([
    agentMiddleware('gate', async (context, callNext) => {
      context.run.gateCalls({ execution: (call) => void seen.push(call.arguments) })
      await callNext()
    }),
  ])
  const raise = functionMiddleware('raise', async (context, callNext) => {
    context.arguments = { cents: 700 }
    await callNext()
  })

  await agent.run('Pay', { middleware: [raise] })

  expect([seen, done]).toEqual([[{ cents: 700 }], [{ cents: 700 }]])
})

describe('a gate right before a tool runs', () => {
  const judge = (...gates: ExecutionGate[]): AgentMiddleware =>
    agentMiddleware('judge', async ({ run }, callNext) => {
      for (const execution of gates) run.gateCalls({ execution })
      await callNext()
    })
  const resultOf = ({ messages }: AgentResponse) =>
    messages.flatMap(({ contents }) =>
      contents.flatMap((content) => (content.type === 'function-result' ? content.contents : [])),
    )

  test('gives a result in its place, and judges the arguments that it would get', async () => {
    const seen: unknown[] = []
    const note = (result: unknown) => (context: FunctionInvocationContext) => {
      seen.push(context.arguments['cents'])
      return result
    }
    const double = functionMiddleware('double', async (context, callNext) => {
      context.arguments = { cents: Number(context.arguments['cents']) * 2 }
      await callNext()
    })
    const gates = judge(note(undefined), note('Too much.'), note('Never asked.'))
    const { agent, done } = agentWith([gates])

    const response = await agent.run('Pay', { middleware: double })

    expect([resultOf(response), response.text]).toEqual([[text('Too much.')], 'Paid.'])
    expect([done, seen]).toEqual([[], [1000, 1000]])
  })

  test('gives one that is withheld like that of a tool when a middleware ends the run', async () => {
    const end = functionMiddleware('end', async (_, callNext) => {
      await callNext()
      throw new MiddlewareTermination('enough')
    })
    const { agent } = agentWith([judge(() => 'A secret.')])

    const response = await agent.run('Pay', { middleware: end })

    expect(resultOf(response)).toEqual([text('')])
  })
})
