import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { AgentOptions, RunOptions } from '../index.ts'
import { Agent, agentTool, createSession, memoryStore, tool } from '../index.ts'
import { sessions } from '@lamella/store'
import { failureOf, modes, play, playOn } from '../loop/loop-invariant.test-helper.ts'

const sign = 'a key of this test, sixteen bytes or more'

describe.each(modes)('a checkpoint belongs to its agent and tenant, $name', ({ stream }) => {
  function make(options: Partial<AgentOptions> = {}) {
    const ran: string[] = []
    const pay = tool({
      name: 'pay',
      description: '',
      approval: 'always',
      execute: (_, { run }) => void ran.push(`${run.agentName} pays for ${run.tenant}`),
    })
    const client = scriptedClient(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? 'Paid.' : callFunction('pay', {}),
    )
    const agent = new Agent({ name: 'clerk', client, tools: [pay], sign, ...options })
    return { agent, ran, client }
  }

  it.each<[string, Partial<AgentOptions>, Pick<RunOptions, 'tenant'>]>([
    ['another tenant', {}, { tenant: 'globex' }],
    ['no tenant', {}, {}],
    ['another agent with the same key and tools', { name: 'boss' }, { tenant: 'acme' }],
    ['an agent without a name', { name: undefined }, { tenant: 'acme' }],
    ['another tenant, without a key', { sign: undefined }, { tenant: 'globex' }],
  ])('%s cannot resume it, and its request stays open', async (_, others, options) => {
    const store = memoryStore()
    const keys = 'sign' in others ? { sign: others.sign } : {}
    const own = make({ store, ...keys })
    const other = make({ store, ...others })
    const { response: paused } = await play(own.agent, 'Pay', { tenant: 'acme', stream })
    const answers = { [paused.pending[0]!.id]: true }

    const error = await failureOf(
      playOn(other.agent, paused.checkpoint, answers, { ...options, stream }),
    )
    const right = await playOn(own.agent, paused.checkpoint, answers, { tenant: 'acme', stream })

    expect(error).toMatchObject({ code: 'checkpoint_invalid' })
    expect(String(error)).not.toMatch(/acme|globex/)
    expect([other.ran, other.client.requests.length]).toEqual([[], 0])
    expect([right.response.status, own.ran]).toEqual(['completed', ['clerk pays for acme']])
  })

  it('a sub-agent resumes for the tenant of its caller', async () => {
    const { agent: clerk, ran } = make()
    const client = scriptedClient(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? 'Done.' : callFunction('clerk', { task: 'Pay' }),
    )
    const boss = new Agent({ name: 'boss', client, tools: [agentTool(clerk)], sign })
    const { response: paused } = await play(boss, 'Pay', { tenant: 'acme', stream })
    const answers = { [paused.pending[0]!.id]: true }

    const { response } = await playOn(boss, paused.checkpoint, answers, { tenant: 'acme', stream })

    expect([response.text, ran]).toEqual(['Done.', ['clerk pays for acme']])
  })

  it('an approval without a session is not found by another tenant', async () => {
    const { agent, ran } = make()
    const { response: asked } = await play(agent, 'Pay', { tenant: 'acme', stream })
    const answers = { [asked.pending[0]!.id]: true }
    const history = ['Pay', ...asked.messages]

    const error = await failureOf(play(agent, history, { answers, tenant: 'globex', stream }))
    await play(agent, history, { answers, tenant: 'acme', stream })

    expect(error).toMatchObject({ code: 'approval_invalid' })
    expect(ran).toEqual(['clerk pays for acme'])
  })
})

describe.each(modes)('answers by the id of a call, $name', ({ stream }) => {
  const asking = {
    type: 'function-call',
    callId: 'call_0',
    name: 'locate',
    arguments: '{}',
  } as const
  const make = (store = memoryStore()) => {
    const client = scriptedClient(({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? 'In Rome.'
        : { messages: [{ id: 'message', role: 'assistant', contents: [asking] }] },
    )
    const locate = tool({ name: 'locate', description: 'Runs in the browser.' })
    return { store, agent: new Agent({ client, tools: [locate], store }) }
  }
  const answers = { call_0: 'Rome' }

  it('are told apart by tenant where sessions and a provider repeat ids', async () => {
    const { agent, store } = make()
    const chats = sessions(store)
    const texts: string[] = []

    for (const tenant of ['acme', 'globex']) {
      const options = { session: await chats.open('chat-1', { tenant }), tenant, stream }
      await play(agent, 'Where?', options)
      texts.push((await play(agent, [], { ...options, answers })).response.text)
    }

    expect(texts).toEqual(['In Rome.', 'In Rome.'])
  })

  it('are told apart by conversation where there is no session', async () => {
    const { agent } = make()
    const texts: string[] = []

    for (const user of ['ada', 'bob']) {
      const { response: asked } = await play(agent, `Where is ${user}?`, { stream })
      const history = [`Where is ${user}?`, ...asked.messages]
      texts.push((await play(agent, history, { answers, stream })).response.text)
    }

    expect(texts).toEqual(['In Rome.', 'In Rome.'])
  })

  it('count once in a session', async () => {
    const { agent } = make()
    const session = createSession()
    await play(agent, 'Where?', { session, stream })
    const again = createSession(session.toJSON())
    await play(agent, [], { session, answers, stream })

    const error = await failureOf(play(agent, [], { session: again, answers, stream }))

    expect(error).toMatchObject({ code: 'approval_used' })
  })
})
