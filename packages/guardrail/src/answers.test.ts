import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import type { FunctionMiddleware } from '@lamella/core'
import type { GuardrailOptions } from './index.ts'
import {
  Agent,
  agentTool,
  createSession,
  functionMiddleware,
  MiddlewareTermination,
  tool,
} from '@lamella/core'
import { guardrail } from './index.ts'

const declared = tool({ name: 'ask_page', description: 'Asks the page.' })
const guarded = tool({
  name: 'pay',
  description: 'Pays.',
  approval: 'always',
  execute: () => 'paid',
})

/** Replaces `secret`. */
const replacing = (applyTo: GuardrailOptions['applyTo'], seen: string[] = []) =>
  guardrail({
    name: 'words',
    applyTo,
    check: ({ stage, role, toolName, text }) => {
      if (toolName !== undefined) seen.push(`${stage} ${role} ${toolName}`)
      const start = text.indexOf('secret')
      if (start < 0) return { action: 'allow' }
      return { action: 'replace', spans: [{ start, end: start + 6, replacement: '***' }] }
    },
  })

async function answered(middleware: Agent['middleware'], asked: typeof declared, answer: unknown) {
  const client = scriptedClient([callFunction(asked.name), 'Done.'])
  const agent = new Agent({ client, tools: [asked], middleware })
  const { checkpoint, pending } = await agent.run('Begin.')
  const response = await agent.resume(checkpoint!, { [pending[0]!.id]: answer })
  return { client, response }
}

test('answers are results to a guardrail of results, and input to any other', async () => {
  const seen: string[] = []

  for (const applyTo of [['input'], ['input', 'result'], ['result', 'arguments']] as const) {
    await answered(replacing(applyTo, seen), declared, 'a secret')
    await answered(replacing(applyTo, seen), guarded, { approved: false, reason: 'a secret' })
  }

  expect(seen).toEqual([
    'input tool ask_page',
    'input tool pay',
    'result tool ask_page',
    'result tool pay',
    'result tool ask_page',
    'result tool pay',
  ])
})

test('what a guardrail removes from a reason is nowhere: not in the error of the result either', async () => {
  const reason = 'it is secret'

  const { client, response } = await answered(replacing(['input']), guarded, {
    approved: false,
    reason,
  })

  expect(response.status).toBe('completed')
  expect(JSON.stringify([client.requests[1]?.messages, response])).not.toContain('secret')
  expect(JSON.stringify(client.requests[1]?.messages)).toContain('it is ***')
})

test('a sub-agent is answered through the guardrails of its caller', async () => {
  const inner = new Agent({
    client: scriptedClient([callFunction('ask_page'), 'Inner done.']),
    name: 'inner',
    tools: [declared],
  })
  const client = scriptedClient([callFunction('inner', { task: 'Ask.' }), 'Done.'])
  const agent = new Agent({
    client,
    tools: [agentTool(inner, { description: 'Asks.' })],
    middleware: replacing(['input']),
  })

  const { checkpoint, pending } = await agent.run('Begin.')
  await agent.resume(checkpoint!, { [pending[0]!.id]: 'a secret' })

  const { requests } = inner.client as ReturnType<typeof scriptedClient>
  expect(JSON.stringify(requests.at(-1)?.messages)).toContain('a ***')
})

test('answers of a run in a session are judged whatever the roles', async () => {
  const middleware = guardrail({
    name: 'words',
    level: 'chat',
    roles: ['user'],
    applyTo: ['input'],
    check: ({ text }) => ({ action: text.includes('secret') ? 'block' : 'allow' }),
  })
  const statuses: string[] = []

  for (const [asked, answer] of [
    [declared, 'a secret'],
    [guarded, { approved: false, reason: 'a secret' }],
  ] as const) {
    const client = scriptedClient([callFunction(asked.name), 'Done.'])
    const agent = new Agent({ client, tools: [asked], middleware })
    const session = createSession()
    const request = (await agent.run('Begin.', { session })).pending[0]!
    const id = request.kind === 'function-call' ? request.call.callId : request.id
    statuses.push((await agent.run([], { session, answers: { [id]: answer } })).status)
  }

  expect(statuses).toEqual(['blocked', 'blocked'])
})

describe.each(['input', 'result'] as const)('a rejection whose tool is gone, as %s', (stage) => {
  test.each([false, true])('has its reason judged, with stream: %s', async (stream) => {
    const client = scriptedClient([callFunction('pay'), 'Done.'])
    const { checkpoint, pending } = await new Agent({ client, tools: [guarded] }).run('Begin.')
    const seen: string[] = []
    const agent = new Agent({
      client,
      middleware: replacing([stage], seen),
      functionInvocation: { onUnknownTool: () => 'No such tool.' },
    })
    const answer = { [pending[0]!.id]: { approved: false, reason: 'it is secret' } }

    const resumed = stream
      ? agent.resume(checkpoint!, answer, { stream }).finalResponse()
      : agent.resume(checkpoint!, answer)
    const response = await resumed

    expect([response.status, seen]).toEqual(['completed', [`${stage} tool pay`]])
    const told = JSON.stringify([client.requests[1]?.messages, response])
    expect(told).toContain('it is ***')
    expect(told).not.toContain('secret')
    expect(told).not.toContain('No such tool.')
  })

  test('can end the run', async () => {
    const client = scriptedClient([callFunction('pay'), 'Done.'])
    const { checkpoint, pending } = await new Agent({ client, tools: [guarded] }).run('Begin.')
    const middleware = guardrail({
      name: 'words',
      applyTo: [stage],
      check: ({ text }) => ({ action: text.includes('secret') ? 'block' : 'allow' }),
    })

    const response = await new Agent({ client, middleware }).resume(checkpoint!, {
      [pending[0]!.id]: { approved: false, reason: 'a secret' },
    })

    expect(response.status).toBe('blocked')
    expect(JSON.stringify([client.requests[1], response])).not.toContain('secret')
  })
})

test('`processAnswer` replaces an answer, ends the run, and is not called for a call that runs', async () => {
  const around: FunctionMiddleware = {
    ...functionMiddleware('around', async (_, callNext) => void (await callNext())),
    async processAnswer(context, callNext) {
      const { contents } = await callNext()
      if (contents.length === 0) throw new MiddlewareTermination('No answer.')
      context.result = `${context.function.name} answers`
    },
  }
  const runs = tool({ name: 'now', description: 'The time.', execute: () => 'noon' })

  const replaced = await answered(around, declared, 'yes')
  const ended = await answered(around, declared, { contents: [] })
  const client = scriptedClient([callFunction('now'), 'Done.'])
  await new Agent({ client, tools: [runs], middleware: around }).run('When?')

  expect(JSON.stringify(replaced.client.requests[1]?.messages)).toContain('ask_page answers')
  expect(ended.response.status).toBe('terminated')
  expect(ended.client.requests).toHaveLength(1)
  expect(JSON.stringify(client.requests[1]?.messages)).toContain('noon')
})

test('what answers for a tool that does not exist is judged like a result', async () => {
  const seen: string[] = []
  const client = scriptedClient([callFunction('fly'), callFunction('swim', '{'), 'Done.'])
  const onUnknownTool = ({ name }: { readonly name: string }) => `a secret of ${name}`
  const agent = new Agent({
    client,
    middleware: replacing(['result'], seen),
    functionInvocation: { onUnknownTool },
  })

  const { messages } = await agent.run('Begin.')

  expect(seen).toEqual(['result tool fly', 'result tool swim'])
  expect(JSON.stringify([client.requests, messages])).not.toContain('secret')
  expect(JSON.stringify(client.requests)).toContain('a *** of swim')
})

test('a guardrail that blocks what answers for a missing tool ends the run', async () => {
  const middleware = guardrail({
    name: 'words',
    applyTo: ['result'],
    check: () => ({ action: 'block', category: 'words' }),
  })
  const client = scriptedClient([callFunction('fly'), 'Done.'])
  const functionInvocation = { onUnknownTool: () => 'a secret' }

  const response = await new Agent({ client, middleware, functionInvocation }).run('Begin.')

  expect(response).toMatchObject({ status: 'blocked', block: { category: 'words' } })
  expect(JSON.stringify(response)).not.toContain('secret')
})
