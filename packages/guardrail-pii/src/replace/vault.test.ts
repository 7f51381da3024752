import type {
  ChatMiddleware,
  FunctionCallContent,
  FunctionResultContent,
  MiddlewareInput,
  RunEvent,
  SessionSnapshot,
} from '@lamella/core'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  createSession,
  functionMiddleware,
  jsonSchema,
  memoryStore,
  text as textPart,
  tool,
} from '@lamella/core'
import type { ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { VaultOptions } from '../index.ts'
import { pii } from '../index.ts'

const ann = 'ann@example.com'
const bob = 'bob@example.com'

function setup(
  steps: Parameters<typeof scriptedClient>[0],
  { vault = true, around = [] }: { vault?: VaultOptions | true; around?: MiddlewareInput } = {},
) {
  const got: unknown[] = []
  const client = scriptedClient(steps, { chunk: 1 })
  const send = tool({
    name: 'send',
    description: 'Sends.',
    parameters: jsonSchema({ type: 'object' }),
    execute: (args) => {
      got.push(args)
      return { sent: true, copy: bob }
    },
  })
  const agent = new Agent({ client, tools: [send], middleware: [around, pii({ vault })] })
  return { agent, client, got }
}

const askAndSend = (): ScriptedStep[] => [
  callFunction('send', { to: '<EMAIL_1>', deep: [{ '<EMAIL_1>': 'for <EMAIL_1>' }] }),
  'Sent to <EMAIL_1>, copied <EMAIL_2>, not <EMAIL_3>.',
]

describe('a vault', () => {
  it.for(['plain', 'streamed'])(
    'shows the model placeholders, and the tool and the caller values: %s',
    async (mode) => {
      const { agent, client, got } = setup(askAndSend())

      const stream = agent.run(`I am ${ann}`, { stream: true })
      const response = await (mode === 'plain' ? setup(askAndSend()).agent.run(ann) : stream)
      const text =
        'finalResponse' in response ? (await response.finalResponse()).text : response.text

      expect(text).toBe(`Sent to ${ann}, copied ${bob}, not <EMAIL_3>.`)
      if (mode === 'plain') return
      expect(got).toEqual([{ to: ann, deep: [{ [ann]: `for ${ann}` }] }])
      expect(JSON.stringify(client.requests)).not.toMatch(/ann@|bob@/)
      expect(JSON.stringify(client.requests)).toContain('I am <EMAIL_1>')
      expect(JSON.stringify(client.requests[1])).toContain(
        JSON.stringify('{"sent":true,"copy":"<EMAIL_2>"}').slice(1, -1),
      )
    },
  )

  it('lets no value into what middlewares further in keep, into middlewares around the tool, or into events', async () => {
    const kept: unknown[] = []
    const events: RunEvent[] = []
    const cache: ChatMiddleware = chatMiddleware('cache', async (context, callNext) => {
      kept.push(structuredClone(context.messages), await callNext())
    })
    const traced = functionMiddleware('trace', async (context, callNext) => {
      kept.push(structuredClone(context.arguments), await callNext())
    })
    const client = scriptedClient(askAndSend(), { chunk: 1 })
    const send = tool({
      name: 'send',
      description: 'Sends.',
      parameters: jsonSchema({ type: 'object' }),
      execute: () => bob,
    })
    const agent = new Agent({
      client,
      tools: [send],
      middleware: [traced, pii({ vault: true }), cache],
    })

    const stream = agent.run(ann, { stream: true, onEvent: (event) => void events.push(event) })
    const { text } = await stream.finalResponse()

    expect(text).toContain(ann)
    expect(kept).toHaveLength(6)
    expect(JSON.stringify([kept, events])).not.toMatch(/ann@|bob@/)
    expect(JSON.stringify([kept, events])).toContain('<EMAIL_2>')
  })

  it('keeps one placeholder for all spellings of a value', async () => {
    const { agent, client } = setup(['Hi.'])

    await agent.run(`${ann}, Ann@Example.COM, 5555 5555 5555 4444 or 5555555555554444`)

    expect(JSON.stringify(client.requests)).toContain(
      '<EMAIL_1>, <EMAIL_1>, <CREDIT_CARD_1> or <CREDIT_CARD_1>',
    )
  })

  it('takes what the model says itself as well', async () => {
    const kept: unknown[] = []
    const inner = chatMiddleware('cache', async (_, callNext) => void kept.push(await callNext()))
    const client = scriptedClient([`Ask ${bob}.`], { chunk: 1 })
    const agent = new Agent({ client, middleware: [pii({ vault: true }), inner] })

    const stream = agent.run('Hi', { stream: true })

    expect((await stream.finalResponse()).text).toBe(`Ask ${bob}.`)
    expect(JSON.stringify(kept)).toContain('Ask <EMAIL_1>.')
  })

  it('keeps runs at the same time apart', async () => {
    const { agent } = setup(() => 'You are <EMAIL_1>.')

    const responses = await Promise.all(
      Array.from({ length: 1000 }, (_, at) => agent.run(`I am user${at}@example.com`)),
    )

    expect(responses.map((response) => response.text)).toEqual(
      responses.map((_, at) => `You are user${at}@example.com.`),
    )
  })

  it('puts values into JSON as JSON', async () => {
    const secret = 'password: Ab"1c2d3e4f5'
    const got: unknown[] = []
    const client = scriptedClient(['{"mail":"<EMAIL_1>"}'], { chunk: 1 })
    const agent = new Agent({ client, middleware: pii({ vault: true }) })

    const response = await agent.run(`"x y"@example.com ${secret}`, {
      options: { responseFormat: { schema: z.object({ mail: z.string() }) } },
    })

    got.push(response.value)
    expect(got).toEqual([{ mail: '"x y"@example.com' }])
  })
})

describe('over the runs of a session', () => {
  it.for([
    ['in the session itself', undefined],
    ['in a store', memoryStore()],
  ] as const)('placeholders stay, with values kept %s', async ([, store]) => {
    const { agent, client } = setup(() => 'Hello <EMAIL_1> and <EMAIL_2>.', {
      vault: store ? { store, ttlMs: 1000 } : true,
    })
    const session = createSession()

    await agent.run(`I am ${ann}, she is ${bob}`, { session })
    session.messages = []
    const response = await agent.run(`She is ${bob}`, { session })

    expect(JSON.stringify(client.requests[1]?.messages)).toContain('She is <EMAIL_2>')
    expect(response.text).toBe(`Hello ${ann} and ${bob}.`)
    expect('pii.vault' in session.state).toBe(store === undefined)
  })

  it('the session has values, and the model sees placeholders of them again', async () => {
    const { agent, client } = setup([...askAndSend(), 'Fine.'])
    const session = createSession()

    await agent.run(ann, { session })
    await agent.run('And?', { session })

    const texts = session.messages.filter(({ role }) => role !== 'assistant')
    expect(JSON.stringify(texts)).not.toMatch(/<EMAIL_[12]>/)
    expect(session.messages.at(-3)?.contents).toMatchObject([
      { text: expect.stringContaining(ann) },
    ])
    expect(JSON.stringify(client.requests)).not.toMatch(/ann@|bob@/)
  })

  it('runs at the same time do not lose what a store has of each other', async () => {
    const store = memoryStore()
    const { agent } = setup(() => 'Hi.', { vault: { store } })
    const session = createSession()

    await Promise.all([ann, bob].map((who) => agent.run(who, { session })))

    expect(
      Object.keys((await store.get(`pii:${JSON.stringify([null, null, session.id])}`)) as object),
    ).toContain('<EMAIL_1>')
  })

  it('a blocked run leaves nothing', async () => {
    const session = createSession()
    const blocker = agentMiddleware('x', (_, callNext) => callNext())
    const agent = new Agent({
      client: scriptedClient(['password = "hunter2hunter2"']),
      middleware: [blocker, pii({ vault: true, strategy: { secrets: 'block' } })],
    })

    const response = await agent.run(ann, { session })

    expect(response.status).toBe('blocked')
    expect(session.state).toEqual({})
  })
})

/** An agent whose tool waits for an approval, and what the tool was given. */
function asking(): { agent: Agent; got: unknown[] } {
  const got: unknown[] = []
  const send = tool({
    name: 'send',
    description: 'Sends.',
    parameters: jsonSchema({ type: 'object' }),
    approval: 'always',
    execute: (args) => {
      got.push(args)
      return 'ok'
    },
  })
  const client = scriptedClient([callFunction('send', { to: '<EMAIL_1>' }), 'Sent to <EMAIL_1>.'])
  const agent = new Agent({ client, tools: [send], middleware: pii({ vault: true }) })
  return { agent, got }
}

describe('a run that pauses', () => {
  it('continues with its placeholders', async () => {
    const { agent, got } = asking()

    const paused = await agent.run(ann)
    const checkpoint = JSON.parse(JSON.stringify(paused.checkpoint))
    const answers = Object.fromEntries(paused.pending.map(({ id }) => [id, true]))
    const response = await agent.resume(checkpoint, answers)

    expect(got).toEqual([{ to: ann }])
    expect(response.text).toBe(`Sent to ${ann}.`)
  })
})

describe('an approval', () => {
  it('in a later message finds its call', async () => {
    const { agent, got } = asking()
    const session = createSession()

    const { pending } = await agent.run(ann, { session })
    const snapshot = JSON.parse(JSON.stringify(session)) as SessionSnapshot
    const response = await agent.run([], {
      answers: { [pending[0]!.id]: true },
      session: createSession(snapshot),
    })

    expect(got).toEqual([{ to: ann }])
    expect(response.text).toBe(`Sent to ${ann}.`)
  })

  it('placeholders of a conversation that lost its vault are given to nobody', async () => {
    const { agent, client } = setup(['Hi.'])
    const call = {
      type: 'function-call',
      callId: 'c',
      name: 'send',
      arguments: '{"to":"<EMAIL_1>"}',
    }
    const result = { type: 'function-result', callId: 'c', contents: [textPart('ok')] }

    await agent.run([
      { role: 'user', contents: [textPart('Go')] },
      { role: 'assistant', contents: [call as FunctionCallContent] },
      { role: 'tool', contents: [result as FunctionResultContent] },
      { role: 'user', contents: [textPart(`I am ${ann}`)] },
    ])

    expect(JSON.stringify(client.requests)).toContain('I am <EMAIL_2>')
  })
})

describe('options of a vault', () => {
  it('values go only to the tools that may have them', async () => {
    const { agent, got } = setup(askAndSend(), { vault: { restoreFor: (name) => name !== 'send' } })

    const response = await agent.run(ann)

    expect(got).toMatchObject([{ to: '<EMAIL_1>' }])
    expect(response.text).toContain(ann)
  })

  it('values go only where they are to be restored', async () => {
    const { agent, got } = setup(askAndSend(), { vault: { restore: [] } })

    const response = await agent.run(ann)

    expect(got).toMatchObject([{ to: '<EMAIL_1>' }])
    expect(response.text).toContain('<EMAIL_1>')
  })

  it('placeholders must differ', async () => {
    const client = scriptedClient(['Hi.'])
    const agent = new Agent({ client, middleware: pii({ vault: true, placeholder: () => 'X' }) })

    expect((await agent.run(`${ann} ${bob}`)).block?.category).toBe('guardrail_error')
  })

  it('a placeholder may look like what it stands for, so that it fits a schema', async () => {
    const got: unknown[] = []
    const send = tool({
      name: 'send',
      description: 'Sends.',
      parameters: z.object({ to: z.email() }),
      execute: (args) => {
        got.push(args)
        return 'ok'
      },
    })
    const client = scriptedClient([callFunction('send', { to: 'email1@vault.example' }), 'Done.'])
    const agent = new Agent({
      client,
      tools: [send],
      middleware: pii({ vault: true, placeholder: (kind, n) => `${kind}${n}@vault.example` }),
    })

    await agent.run([textPart(`To ${ann}`)])

    expect(got).toEqual([{ to: ann }])
    expect(JSON.stringify(client.requests)).toContain('To email1@vault.example')
  })
})

describe('what looks like a placeholder', () => {
  it('and was written by somebody stays what it is', async () => {
    const { agent, client } = setup(['You wrote <EMAIL_1>, and are <EMAIL_2>.'])

    const response = await agent.run(`<EMAIL_1> is not ${ann}`)

    expect(JSON.stringify(client.requests)).toContain('<EMAIL_1> is not <EMAIL_2>')
    expect(response.text).toBe(`You wrote <EMAIL_1>, and are ${ann}.`)
  })
})

describe('a store that hangs', () => {
  it('does not keep a run that is aborted', async () => {
    const controller = new AbortController()
    const store = { ...memoryStore(), get: () => new Promise<never>(() => {}) }
    const { agent } = setup(['Hi.'], { vault: { store } })

    const run = agent.run('Hi', { session: createSession(), signal: controller.signal })
    setTimeout(() => controller.abort(), 0)

    await expect(run).rejects.toThrow('aborted')
  })
})

describe('a session after a pause', () => {
  it.each([ann, '<EMAIL_1>'])('has values, when the model wrote %s', async (written) => {
    const pay = tool({
      name: 'pay',
      description: 'Pays.',
      approval: 'always',
      execute: () => 'paid',
    })
    const client = scriptedClient([
      [textPart(`I write to ${written}.`), callFunction('pay')],
      'Done.',
    ])
    const agent = new Agent({ client, tools: [pay], middleware: pii({ vault: true }) })
    const session = createSession()

    const paused = await agent.run(`Pay ${ann}`, { session })
    const checkpoint = JSON.parse(JSON.stringify(paused.checkpoint)) as typeof paused.checkpoint
    const later = createSession(JSON.parse(JSON.stringify(session)) as SessionSnapshot)
    await agent.resume(checkpoint!, { [paused.pending[0]!.id]: true }, { session: later })

    const said = later.messages.filter(({ role }) => role === 'assistant')
    expect(JSON.stringify(said)).toContain(`I write to ${ann}.`)
    expect(JSON.stringify(said)).not.toContain('EMAIL_1')
  })
})
