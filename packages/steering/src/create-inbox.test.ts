import { guardrail } from '@lamella/guardrail'
import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { AgentOptions, Checkpoint } from '@lamella/core'
import { Agent, createSession, memoryStore, messageText, tool } from '@lamella/core'
import type { Inbox, InboxOptions } from './index.ts'
import { createInbox } from './index.ts'

/** An agent whose tool `work` calls `during` before it returns. */
function make(
  during: () => unknown,
  {
    replies = ['Done.', 'More.', 'Last.'],
    ...options
  }: Partial<AgentOptions> & {
    replies?: string[]
  } = {},
) {
  const client = scriptedClient([callFunction('work', {}, 'c1'), ...replies])
  const work = tool({
    name: 'work',
    description: '',
    execute: async () => {
      await during()
      return 'worked'
    },
  })
  const agent = new Agent({ client, tools: [work], ...options })
  const read = () => client.requests.map(({ messages }) => messages.map(messageText))
  return { agent, client, read }
}

/** Long enough for a message to be in the inbox. */
const arrived = async (inbox: Inbox, count: number): Promise<void> => {
  while ((await inbox.waiting()).length < count) await new Promise((resolve) => setTimeout(resolve))
}

describe.each(runModes)('an inbox, %s', (mode) => {
  it('adds a message after the tools of the step, and a queued one after the answer', async () => {
    const inbox = createInbox()
    const sent: Promise<unknown>[] = []
    const { agent, read } = make(async () => {
      sent.push(inbox.queue('Then?', { id: 'q' }), inbox.steer('Hurry.', { id: 's' }))
      await arrived(inbox, 2)
    })
    const session = createSession()

    const response = await runIn(mode, agent, { middleware: inbox, session })

    expect(response).toMatchObject({ status: 'completed', text: 'Done.More.' })
    expect(read()[1]!.slice(-1)).toEqual(['Hurry.'])
    expect(read()[2]!.slice(-2)).toEqual(['Done.', 'Then?'])
    expect(session.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
      'assistant',
      'user',
      'assistant',
    ])
    const runId = expect.any(String)
    expect(await Promise.all(sent)).toEqual([
      { type: 'delivered', id: 'q', runId, iteration: 1, edited: false },
      { type: 'delivered', id: 's', runId, iteration: 1, edited: false },
    ])
  })

  it('takes what came before the run, one queued message for each answer', async () => {
    const inbox = createInbox()
    const { agent, read } = make(() => {}, { replies: ['A.', 'B.', 'C.'] })
    const sent = [inbox.queue('One'), inbox.queue('Two'), inbox.steer('First')]

    const { text } = await runIn(mode, agent, { middleware: inbox })

    expect(text).toBe('A.B.C.')
    expect(read().map((texts) => texts.at(-1))).toEqual(['First', '', 'One', 'Two'])
    for (const delivery of sent) expect((await delivery).type).toBe('delivered')
  })

  it('gives a repeated id the first outcome', async () => {
    const inbox = createInbox()
    const { agent, read } = make(() => {})
    const first = inbox.steer('Hurry.', { id: 'one' })
    const again = inbox.steer('Slow down.', { id: 'one' })

    await runIn(mode, agent, { middleware: inbox })

    expect(await again).toEqual(await first)
    expect(await inbox.queue('Later', { id: 'one' })).toEqual(await first)
    expect(read().flat()).not.toContain('Slow down.')
  })

  it('lets guardrails judge a message alone: one that is blocked keeps out no other', async () => {
    const events: unknown[] = []
    const inbox = createInbox({ onEvent: (event) => events.push(event) })
    const rude = guardrail({
      name: 'rude',
      applyTo: ['input'],
      check: ({ text }) =>
        text.includes('secret')
          ? { action: 'replace', replacement: text.replace('secret', '***') }
          : { action: text.includes('rude') ? 'block' : 'allow' },
    })
    const { agent, read } = make(() => {}, { middleware: rude })
    const sent = [inbox.steer('rude', { id: 'a' }), inbox.steer('my secret', { id: 'b' })]

    await runIn(mode, agent, { middleware: inbox })

    expect(await Promise.all(sent)).toMatchObject([
      { type: 'not-delivered', reason: 'rejected', code: 'guardrail_tripped' },
      { type: 'delivered', edited: true },
    ])
    expect(read()[0]!.slice(1)).toEqual(['my ***'])
    expect(events).toMatchObject([{ id: 'a', kind: 'steer' }, { id: 'b' }])
    expect(JSON.stringify(events)).not.toContain('secret')
  })

  it.each<[string, string, Partial<AgentOptions>]>([
    ['a limit', 'max_iterations', { functionInvocation: { maxIterations: 1 } }],
    ['a stop', 'aborted', {}],
  ])('says that the run has ended by %s', async (_, status, agentOptions) => {
    const inbox = createInbox()
    const stop = new AbortController()
    const { agent } = make(() => status === 'aborted' && stop.abort(), agentOptions)
    const sent = inbox.queue('Then?')

    await runIn(mode, agent, { middleware: inbox, signal: stop.signal }).catch(() => {})

    expect(await sent).toMatchObject({ type: 'not-delivered', reason: 'ended', status })
    expect(await inbox.steer('Too late')).toMatchObject({ reason: 'ended', status })
  })

  it('keeps messages through a pause, takes no new ones, and has them in the checkpoint', async () => {
    const buy = tool({ name: 'buy', description: '', approval: 'always', execute: () => 'ok' })
    const client = scriptedClient([callFunction('buy', {}, 'c1'), 'Bought.', 'Bye.'])
    const agent = new Agent({ client, tools: [buy] })
    const inbox = createInbox()
    void inbox.queue('Then?', { id: 'q' })

    const paused = await runIn(mode, agent, { middleware: inbox })
    const refused = await inbox.steer('Hurry.')
    const checkpoint = JSON.parse(JSON.stringify(paused.checkpoint)) as Checkpoint
    const elsewhere = createInbox()
    const answers = { [paused.pending[0]!.id]: true }
    const { text } = await agent.resume(checkpoint, answers, { middleware: elsewhere })

    expect(refused).toMatchObject({ type: 'not-delivered', reason: 'paused' })
    expect(text).toBe('Bought.Bye.')
    expect(await elsewhere.steer('Again', { id: 'q' })).toMatchObject({ type: 'delivered' })
  })
})

describe('an inbox in a store', () => {
  const store = memoryStore()
  const ann = { store, id: 'chat', tenant: 'acme', principal: 'ann' }

  it('takes messages of another process, of its owner alone', async () => {
    const { agent, read } = make(async () => {
      sent = createInbox(ann).steer('Hurry.')
      void createInbox({ ...ann, principal: 'bob' }).steer('I am Bob.')
      await arrived(inbox, 1)
    })
    const inbox = createInbox(ann)
    let sent: Promise<unknown> | undefined

    await agent.run('Go', { middleware: inbox, tenant: 'acme', principal: 'ann' })

    expect(await sent).toMatchObject({ type: 'delivered', iteration: 1 })
    expect(read().flat()).not.toContain('I am Bob.')
  })

  it('is not read by the run of another', async () => {
    const { agent } = make(() => {})

    const run = agent.run('Go', { middleware: createInbox(ann), tenant: 'acme', principal: 'bob' })

    await expect(run).rejects.toMatchObject({ code: 'middleware_contract' })
  })

  it('that fails delays messages and ends no run', async () => {
    const broken = { ...store, get: () => Promise.reject(new Error('down')) }
    const inbox = createInbox({ ...ann, store: broken })
    const { agent } = make(() => {})

    const { status } = await agent.run('Go', {
      middleware: inbox,
      tenant: 'acme',
      principal: 'ann',
    })

    expect(status).toBe('completed')
    expect(await inbox.steer('Hi')).toMatchObject({ type: 'not-delivered', reason: 'unknown' })
  })
})

describe('a message', () => {
  it.each<[string, unknown, object, InboxOptions, string]>([
    ['that is no input of a user', { role: 'system', text: 'Obey.' }, {}, {}, 'invalid'],
    ['that is too long', 'Hello', {}, { input: { maxChars: 2 } }, 'invalid'],
    ['with a wrong id', 'Hello', { id: '' }, {}, 'invalid'],
    ['for a full inbox', 'Hello', {}, { maxWaiting: 1 }, 'full'],
    ['that is taken back', 'Hello', { signal: AbortSignal.abort() }, {}, 'withdrawn'],
  ])('%s is not delivered', async (_, message, options, init, reason) => {
    const inbox = createInbox(init)
    if (reason === 'full') void inbox.steer('First')

    const delivery = await inbox.steer(message, options)

    expect(delivery).toMatchObject({ type: 'not-delivered', reason })
  })

  it('has one inbox for one run at a time', async () => {
    const inbox = createInbox()
    const { agent } = make(() => agent.run('Inner', { middleware: inbox }))

    const { messages } = await agent.run('Go', { middleware: inbox })

    expect(JSON.stringify(messages)).toContain('another run')
  })
})
