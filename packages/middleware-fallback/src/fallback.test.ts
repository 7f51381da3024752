import {
  Agent,
  chatMiddleware,
  GuardrailTripped,
  LamellaError,
  outcomeOf,
  tool,
  withMiddleware,
} from '@lamella/core'
import type { ProviderErrorKind } from '@lamella/core'
import { callFunction, runIn, runModes, scriptedClient, testClock } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { fallback } from './index.ts'
import type { FallbackEvent, FallbackOptions } from './index.ts'
import { failure, rejection } from './failing-run.test-helper.ts'

type Steps = Parameters<typeof scriptedClient>[0]

function setUp(own: Steps, other: Steps, options: Partial<FallbackOptions> = {}) {
  const first = scriptedClient(own, { provider: 'one', model: 'm-1' })
  const second = scriptedClient(other, { provider: 'two', model: 'm-2' })
  const events: FallbackEvent[] = []
  const middleware = fallback({
    clients: [second],
    onEvent: (event) => events.push(event),
    ...options,
  })
  const agent = new Agent({ client: first, middleware: middleware })
  return { first, second, events, middleware, agent }
}

describe.each(runModes)('fallback, %s', (mode) => {
  it('continues with the next client, and says who served', async () => {
    const usage = { inputTokens: 2 }
    const { agent, first, second, events } = setUp(
      [failure('overloaded')],
      [{ messages: 'Hi.', usage }],
    )

    const response = await runIn(mode, agent)

    expect(response.text).toBe('Hi.')
    expect(response.metadata['servedBy']).toEqual({ provider: 'two', model: 'm-2' })
    expect(response.messages.at(-1)?.origin?.provider ?? 'two').toBe('two')
    expect(response.attempts).toEqual([
      { iteration: 0, provider: 'one', model: 'm-1', status: 'failed', reason: 'overloaded' },
      { iteration: 0, provider: 'two', model: 'm-2', status: 'ok', usage },
    ])
    expect(events).toEqual([
      { status: 'switching', provider: 'two', model: 'm-2', reason: 'overloaded' },
      { status: 'served', provider: 'two', model: 'm-2' },
    ])
    expect([first.requests.length, second.requests.length]).toEqual([1, 1])
  })

  it('leaves no trace of a call that its own client serves', async () => {
    const { agent, second, events } = setUp(['Hi.'], [])

    const response = await runIn(mode, agent)

    expect([response.attempts, response.metadata, events]).toEqual([[], {}, []])
    expect(second.requests).toHaveLength(0)
  })

  it('throws the last error when no client is left, with all tries on its outcome', async () => {
    const last = failure('network')
    const third = scriptedClient([last], { provider: 'three' })
    const second = scriptedClient([failure('quota')], { provider: 'two' })
    const { agent, events } = setUp([failure('server')], [], {
      clients: [second, { client: third }],
    })

    const error = await rejection(runIn(mode, agent))

    expect(error).toBe(last)
    expect(outcomeOf(error)?.attempts.map(({ provider, reason }) => [provider, reason])).toEqual([
      ['one', 'server'],
      ['two', 'quota'],
      ['three', 'network'],
    ])
    expect(events.at(-1)).toMatchObject({ status: 'gave_up', because: 'no_client_left' })
  })

  it.each<ProviderErrorKind>(['auth', 'content_filter', 'context_length', 'invalid_request'])(
    'calls no other client after %s, unless it is listed',
    async (kind) => {
      const { agent, second, events } = setUp([failure(kind)], [])
      expect(await rejection(runIn(mode, agent))).toMatchObject({ kind })
      expect(second.requests).toHaveLength(0)
      expect(events).toMatchObject([{ status: 'gave_up', because: 'not_qualified' }])

      const listed = setUp([failure(kind)], ['Hi.'], { fallbackOn: [kind] })
      expect(await runIn(mode, listed.agent)).toMatchObject({ text: 'Hi.' })
    },
  )

  it('continues after an answer that was rejected inside, if that is listed', async () => {
    const invalid = new LamellaError('does not fit', { code: 'schema_invalid' })
    const inside = chatMiddleware('inside', async (context, callNext) => {
      const { text } = await callNext()
      if (text === 'Bad.') throw invalid
      context.metadata['checked'] = true
    })
    const usual = setUp(['Bad.'], ['Good.'])
    expect(await rejection(runIn(mode, usual.agent, { middleware: inside }))).toBe(invalid)

    const { agent } = setUp(['Bad.'], ['Good.'], {
      fallbackOn: ['invalid_output'],
      midStream: 'restart',
    })
    expect(await runIn(mode, agent, { middleware: inside })).toMatchObject({ text: 'Good.' })
  })

  it('lets a function decide, which leaves to the default what it does not know', async () => {
    const broken = new Error('broken')
    const fallbackOn: FallbackOptions['fallbackOn'] = async ({ error, attempt, context }) => {
      if (error === broken) return attempt === 1 && context.client.provider === 'one'
      return undefined
    }

    expect(await runIn(mode, setUp([broken], ['Hi.'], { fallbackOn }).agent)).toMatchObject({
      text: 'Hi.',
    })
    const usual = setUp([failure('server')], ['Hi.'], { fallbackOn })
    expect(await runIn(mode, usual.agent)).toMatchObject({ text: 'Hi.' })
    const refused = setUp([failure('auth')], [], { fallbackOn })
    expect(await rejection(runIn(mode, refused.agent))).toMatchObject({ kind: 'auth' })
  })

  it('gives each client its own model, options and messages', async () => {
    const second = scriptedClient([failure('server')], { provider: 'two' })
    const third = scriptedClient(['Hi.'], { provider: 'three' })
    const own = scriptedClient([failure('server')], { provider: 'one' })
    const middleware = fallback({
      clients: [
        { client: second, options: { temperature: 0.9, providerOptions: { two: { fast: true } } } },
        {
          client: third,
          model: 'm-3',
          messages: (messages, failed) => (failed?.attempt === 2 ? messages.slice(-1) : messages),
        },
      ],
    })
    const agent = new Agent({ client: own, middleware: middleware })
    const options = {
      model: 'm-1',
      temperature: 0.1,
      seed: 7,
      providerOptions: { one: { slow: true } },
    }

    await runIn(mode, agent, { options, instructions: 'Be brief.' })

    const of = [own, second, third].map(({ requests }) => requests[0])
    expect(of.map((request) => request?.options)).toMatchObject([
      options,
      {
        model: undefined,
        temperature: 0.9,
        seed: 7,
        providerOptions: { one: { slow: true }, two: { fast: true } },
      },
      { model: 'm-3', temperature: 0.1, seed: 7 },
    ])
    expect(of.map((request) => request?.instructions)).toEqual(Array(3).fill('Be brief.'))
  })

  it('asks another model of the same client', async () => {
    const client = scriptedClient([failure('overloaded'), 'Hi.'], { model: 'large' })
    const middleware = fallback({ clients: [{ client, model: 'small' }] })

    const response = await runIn(mode, new Agent({ client, middleware: middleware }))

    expect(client.requests.map(({ options }) => options.model)).toEqual([undefined, 'small'])
    expect(response.attempts.map(({ model }) => model)).toEqual(['large', 'small'])
  })

  it('passes over clients whose `when` says no', async () => {
    const never = scriptedClient([], { provider: 'never' })
    const { agent, second } = setUp([failure('server')], ['Hi.'])
    const clients = [
      { client: never, when: async ({ error }: { error: unknown }) => !(error instanceof Error) },
      second,
    ]

    const { text } = await runIn(mode, agent, { middleware: fallback({ name: 'inner', clients }) })

    expect(text).toBe('Hi.')
    expect(never.requests).toHaveLength(0)
  })

  it('runs the middlewares further in for each client, and those of the client itself', async () => {
    const seen: string[] = []
    const trace = (name: string) =>
      chatMiddleware(name, async ({ client }, callNext) => {
        seen.push(`${name} ${client.provider}`)
        await callNext()
      })
    const { first, second } = setUp([failure('server')], ['Hi.'])
    const middleware = fallback({ clients: [withMiddleware(second, trace('its-own'))] })
    const agent = new Agent({ client: first, middleware: [middleware, trace('inside')] })

    await runIn(mode, agent)

    expect(seen).toEqual(['inside one', 'inside two', 'its-own two'])
  })

  it('stays with the client that served for the rest of the run, and no longer', async () => {
    const look = tool({ name: 'look', description: 'Looks.', execute: () => 'seen' })
    const { first, second, middleware } = setUp(
      [failure('server'), 'Hi again.'],
      [callFunction('look'), 'Hi.'],
    )
    const agent = new Agent({ client: first, tools: [look], middleware: middleware })

    const one = await runIn(mode, agent)
    const two = await runIn(mode, agent)

    expect([one.text, two.text]).toEqual(['Hi.', 'Hi again.'])
    expect([first.requests.length, second.requests.length]).toEqual([2, 2])
    expect(one.metadata['servedBy']).toEqual({ provider: 'two', model: 'm-2' })
    expect(one.attempts).toHaveLength(2)
  })

  it('goes back to the first client when the one it stayed with fails', async () => {
    const look = tool({ name: 'look', description: 'Looks.', execute: () => 'seen' })
    const { first, middleware } = setUp(
      [failure('server'), 'Back.'],
      [callFunction('look'), failure('server')],
    )

    const response = await runIn(
      mode,
      new Agent({ client: first, tools: [look], middleware: middleware }),
    )

    expect(response.text).toBe('Back.')
    expect(response.metadata['servedBy']).toEqual({ provider: 'one', model: 'm-1' })
  })

  it('begins with its own client at each call where it does not stick', async () => {
    const look = tool({ name: 'look', description: 'Looks.', execute: () => 'seen' })
    const { first, middleware } = setUp([failure('server'), 'Hi.'], [callFunction('look')], {
      sticky: 'none',
    })

    const response = await runIn(
      mode,
      new Agent({ client: first, tools: [look], middleware: middleware }),
    )

    expect(response.text).toBe('Hi.')
  })

  it('keeps to the client that served when a paused run continues elsewhere', async () => {
    const ask = tool({
      name: 'ask',
      description: 'Asks.',
      approval: 'always',
      execute: () => 'done',
    })
    const { first, second, middleware } = setUp([failure('server')], [callFunction('ask'), 'Hi.'])
    const agent = new Agent({ client: first, tools: [ask], middleware: middleware })
    const paused = await runIn(mode, agent)
    const [pending] = paused.pending

    const checkpoint: unknown = JSON.parse(JSON.stringify(paused.checkpoint))
    const response = await agent.resume(checkpoint as never, {
      [pending?.id ?? '']: { approved: true },
    })

    expect(response.text).toBe('Hi.')
    expect([first.requests.length, second.requests.length]).toEqual([1, 2])
  })

  it('calls no other client after a call that may have had an effect, unless allowed', async () => {
    const unsafe = failure('server', { retry: { replay: 'unsafe' } })
    const careful = setUp([unsafe], [])
    expect(await rejection(runIn(mode, careful.agent))).toBe(unsafe)
    expect(careful.events).toMatchObject([{ because: 'unsafe_replay' }])

    const careless = setUp([unsafe], ['Hi.'], { replay: 'any' })
    expect(await runIn(mode, careless.agent)).toMatchObject({ text: 'Hi.' })
  })

  it('aborts the request to a client that does not answer in time', async () => {
    const clock = testClock()
    const { agent, first } = setUp([{ updates: [], hang: true }], ['Hi.'], {
      clock,
      timeoutMs: 1000,
    })
    const running = runIn(mode, agent)

    await clock.advance(1000)

    const response = await running
    expect(response.text).toBe('Hi.')
    expect(response.attempts[0]).toMatchObject({ provider: 'one', reason: 'timeout' })
    expect(first.requests[0]?.signal.aborted).toBe(true)
    expect(clock.sleeping).toBe(0)
  })

  it('only tells in shadow', async () => {
    const { agent, second, events } = setUp([failure('server')], [], { mode: 'shadow' })

    expect(await rejection(runIn(mode, agent))).toMatchObject({ kind: 'server' })

    expect(second.requests).toHaveLength(0)
    expect(events).toEqual([
      { status: 'switching', provider: 'two', model: 'm-2', reason: 'server', shadow: true },
    ])
  })

  it('keeps out of calls that `when` excludes', async () => {
    const { agent, second } = setUp([failure('server')], [], { when: () => false })

    expect(await rejection(runIn(mode, agent))).toMatchObject({ kind: 'server' })
    expect(second.requests).toHaveLength(0)
  })

  it('lets what steers a run pass, and aborts too', async () => {
    const block = {
      guardrail: 'g',
      level: 'chat',
      stage: 'input',
      category: 'c',
      message: 'No.',
    } as const
    const { agent, events, second } = setUp([], [], { fallbackOn: () => true })
    const guardrail = chatMiddleware('guardrail', () => {
      throw new GuardrailTripped(block)
    })
    expect(await runIn(mode, agent, { middleware: guardrail })).toMatchObject({ status: 'blocked' })

    const controller = new AbortController()
    const hanging = setUp(
      () => {
        controller.abort(new Error('enough'))
        return { updates: [], hang: true }
      },
      [],
      { fallbackOn: () => true },
    )
    const error = await rejection(runIn(mode, hanging.agent, { signal: controller.signal }))
    expect(error).toMatchObject({ message: 'enough' })
    expect([...events, ...hanging.events]).toEqual([])
    expect(second.requests).toHaveLength(0)
  })

  it.each<Partial<FallbackOptions>>([
    { fallbackOn: () => new Promise(() => {}) },
    { clients: [{ client: scriptedClient([]), when: () => new Promise(() => {}) }] },
    { clients: [{ client: scriptedClient([]), messages: () => new Promise(() => {}) }] },
  ])('ends with the run also where what it is given hangs: %o', async (options) => {
    const { agent } = setUp([failure('server')], [], options)
    const controller = new AbortController()
    const running = rejection(runIn(mode, agent, { signal: controller.signal }))
    await new Promise((resolve) => setTimeout(resolve))

    controller.abort(new Error('enough'))

    expect(await running).toMatchObject({ message: 'enough' })
  })

  it('keeps a thousand runs at the same time apart', async () => {
    const { agent } = setUp(
      ({ messages }) => (JSON.stringify(messages).includes('odd') ? failure('server') : 'one'),
      () => 'two',
    )

    const responses = await Promise.all(
      Array.from({ length: 1000 }, (_, index) => {
        const input = index % 2 === 0 ? 'even' : 'odd'
        return runIn(mode, agent, { input })
      }),
    )

    expect(responses.every(({ text }, index) => text === (index % 2 === 0 ? 'one' : 'two'))).toBe(
      true,
    )
  })
})

it.each<[string, object]>([
  ['`clients` must be a list of clients that is not empty, got a list', { clients: [] }],
  ['`clients` must be a list of clients that is not empty, got undefined', {}],
  [
    '`clients.0` must be a client, or an object with a `client`, got an object',
    { clients: [{ apiKey: 'x' }] },
  ],
  ['`clients.0` must be a client, or an object with a `client`, got null', { clients: [null] }],
  [
    '`clients.0.timeoutMs` must be more than 0',
    { clients: [{ client: scriptedClient([]), timeoutMs: 0 }] },
  ],
  [
    '`clients.0.model` must be a string, got 5',
    { clients: [{ client: scriptedClient([]), model: 5 }] },
  ],
  [
    'unknown option `clients.1.modle`; did you mean `clients.1.model`?',
    { clients: [scriptedClient([]), { client: scriptedClient([]), modle: 'small' }] },
  ],
  [
    '`timeoutMs` must be more than 0 milliseconds, got -1',
    { clients: [scriptedClient([])], timeoutMs: -1 },
  ],
  [
    '`fallbackOn` must be a function or a list of',
    { clients: [scriptedClient([])], fallbackOn: ['all'] },
  ],
  ['`midStream` must be one of', { clients: [scriptedClient([])], midStream: 'go' }],
  ['`sticky` must be one of run, none, got true', { clients: [scriptedClient([])], sticky: true }],
])('fallback: %s', (words, options) => {
  expect(() => fallback(options as never)).toThrow(`fallback: ${words}`)
})
