import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import type { Middleware, MiddlewareInput } from '../index.ts'
import {
  Agent,
  agentMiddleware,
  agentTool,
  chatMiddleware,
  functionMiddleware,
  jsonSchema,
  tool,
  withMiddleware,
} from '../index.ts'
import { guardrail } from '@lamella/guardrail'

/** A chain of agents that call each other, the innermost of which calls the tool `look`. */
function family(middlewares: readonly MiddlewareInput[], answers: readonly string[] = []) {
  const looks: unknown[] = []
  const look = tool({
    name: 'look',
    description: '',
    parameters: jsonSchema({ type: 'object', properties: { at: { type: 'string' } } }),
    execute: ({ at }) => {
      looks.push(at)
      return 'The safe has the number 47#11.'
    },
  })
  const names = ['ann', 'bob', 'cleo'].slice(0, middlewares.length)
  const clients = names.map((name, at) => {
    const next = names[at + 1]
    const call = next
      ? callFunction(next, { task: `for ${next}` }, 'c')
      : callFunction('look', { at: 'it' })
    return scriptedClient([call, answers[at] ?? `${name} is done`])
  })
  let agent: Agent | undefined
  for (const at of [...names.keys()].toReversed()) {
    const tools = [agent === undefined ? look : agentTool(agent)]
    agent = new Agent({
      name: names[at]!,
      client: clients[at]!,
      tools,
      middleware: middlewares[at]!,
    })
  }
  return { agent: agent!, clients, looks }
}

/** Middleware of all levels that writes down where it ran. */
function watch(seen: string[], name: string, more: Partial<Middleware> = {}) {
  const at =
    (level: string) =>
    async ({ run }: { run: { agentName: string | undefined } }, next: () => unknown) => {
      seen.push(`${name} ${level} of ${run.agentName}`)
      await next()
    }
  return [
    { ...agentMiddleware(name, at('run')), ...more },
    { ...chatMiddleware(name, at('model call')), ...more },
    { ...functionMiddleware(name, at('tool call')), ...more },
  ] as readonly Middleware[]
}

describe('a middleware of an agent', () => {
  test('runs in its sub-agents, at any depth, only if it is inherited', async () => {
    const seen: string[] = []
    const { agent } = family([
      [watch(seen, 'policy', { inherited: true }), watch(seen, 'log')],
      [],
      [],
    ])

    await agent.run('Go')

    expect(new Set(seen)).toEqual(
      new Set([
        ...['run', 'model call', 'tool call'].map((level) => `log ${level} of ann`),
        ...['ann', 'bob', 'cleo'].flatMap((name) =>
          ['run', 'model call', 'tool call'].map((level) => `policy ${level} of ${name}`),
        ),
      ]),
    )
  })

  test('stands outside the middlewares of a sub-agent', async () => {
    const seen: string[] = []
    const { agent } = family([watch(seen, 'outer', { inherited: true }), watch(seen, 'own')])

    await agent.run('Go')

    const ofBob = seen.filter((entry) => entry.endsWith('of bob'))
    expect(ofBob.slice(0, 2)).toEqual(['outer run of bob', 'own run of bob'])
  })

  test.each([
    ['of the same role', { role: 'pii' }, { role: 'pii', name: 'mine' }, false],
    ['of another role', { role: 'pii' }, { role: 'content' }, true],
    ['of the same name, without a role', {}, { name: 'outer' }, false],
    ['of another name, without a role', {}, { name: 'mine' }, true],
  ])('where the sub-agent has one %s', async (_, outer, own, isInherited) => {
    const seen: string[] = []
    const { agent } = family([
      watch(seen, 'outer', { inherited: true, ...outer }),
      watch([], 'own', own),
    ])

    await agent.run('Go')

    expect(seen.includes('outer model call of bob')).toBe(isInherited)
  })

  test('does not run twice where caller and sub-agent share a client with it', async () => {
    const seen: string[] = []
    const [, atCalls] = watch(seen, 'policy', { inherited: true })
    const client = withMiddleware(
      scriptedClient([callFunction('bob', { task: 'Go' }), 'Found.', 'Done.']),
      atCalls as never,
    )
    const bob = new Agent({ name: 'bob', client })
    const ann = new Agent({ name: 'ann', client, tools: [agentTool(bob)] })

    await ann.run('Go')

    expect(seen).toEqual(['ann', 'bob', 'ann'].map((name) => `policy model call of ${name}`))
  })

  test('of one run alone is inherited, and leaves nothing in the sub-agent', async () => {
    const seen: string[] = []
    const bob = new Agent({ name: 'bob', client: scriptedClient(() => 'Found.') })
    const client = scriptedClient([callFunction('bob', { task: 'Go' }), 'Done.'])
    const ann = new Agent({ name: 'ann', client, tools: [agentTool(bob)] })

    await ann.run('Go', { middleware: watch(seen, 'once', { inherited: true }) })
    const before = seen.filter((entry) => entry.endsWith('of bob')).length
    await bob.run('Go')

    expect(before).toBe(2)
    expect(seen.filter((entry) => entry.endsWith('of bob'))).toHaveLength(before)
  })

  test.each([
    ['in a run', true],
    ['alone', false],
  ])(
    'is inherited by what a single model call starts only if it has the run: %s',
    async (_, isInRun) => {
      const seen: string[] = []
      const bob = new Agent({ name: 'bob', client: scriptedClient(() => 'Found.') })
      const single = withMiddleware(
        scriptedClient(() => 'Hi.'),
        chatMiddleware('starts', async ({ run }, callNext) => {
          await bob.run('Go', { parent: run })
          await callNext()
        }),
      )
      const asks = agentMiddleware('asks', async ({ run }, callNext) => {
        await single.getResponse('Go', isInRun ? { parent: run } : {})
        await callNext()
      })
      const client = scriptedClient(['Done.'])
      const ann = new Agent({
        name: 'ann',
        client,
        middleware: [watch(seen, 'policy', { inherited: true }), asks],
      })

      await ann.run('Go')

      const ofBob = seen.filter((entry) => entry.endsWith('of bob'))
      expect(ofBob).toEqual(isInRun ? ['policy run of bob', 'policy model call of bob'] : [])
    },
  )
})

describe('a guardrail of an agent', () => {
  const noNumbers = () =>
    guardrail({
      name: 'no-numbers',
      applyTo: ['result', 'output'],
      check: ({ text }) => ({
        action: text.includes('47#11') ? 'replace' : 'allow',
        replacement: text.replaceAll('47#11', '****'),
      }),
    })

  test.each([false, true])(
    'judges what its sub-agents read and say, with stream: %s',
    async (stream) => {
      const { agent, clients } = family([noNumbers(), [], []], ['Done.', 'Done.', 'It is 47#11.'])
      const response = stream
        ? await agent.run('Go', { stream: true }).finalResponse()
        : await agent.run('Go')

      expect(response.status).toBe('completed')
      expect(JSON.stringify(clients.map(({ requests }) => requests))).not.toContain('47#11')
      expect(JSON.stringify(clients.at(-1)!.requests)).toContain('****')
    },
  )

  test('that blocks ends the sub-agent, and the caller continues without its words', async () => {
    const blocking = guardrail({
      name: 'no-numbers',
      applyTo: ['output'],
      check: ({ text }) => ({ action: text.includes('47#11') ? 'block' : 'allow' }),
    })
    const { agent, clients } = family([blocking, []], ['Done.', 'It is 47#11.'])

    expect(await agent.run('Go')).toMatchObject({ status: 'completed', text: 'Done.' })
    expect(JSON.stringify(clients[0]!.requests)).not.toContain('47#11')
  })

  test('holds for a sub-agent that is resumed', async () => {
    const seen: string[] = []
    const policy = watch(seen, 'policy', { inherited: true })
    const pay = tool({ name: 'pay', description: '', approval: 'always', execute: () => 'paid' })
    const bob = new Agent({
      name: 'bob',
      client: scriptedClient([callFunction('pay'), 'Paid.']),
      tools: [pay],
    })
    const client = scriptedClient([callFunction('bob', { task: 'Pay' }), 'Done.'])
    const ann = new Agent({ name: 'ann', client, tools: [agentTool(bob)], middleware: policy })
    const paused = await ann.run('Go')
    seen.length = 0

    await ann.resume(paused.checkpoint!, { [paused.pending[0]!.id]: true })

    expect(seen).toContain('policy tool call of bob')
    expect(seen).toContain('policy model call of bob')
  })
})
