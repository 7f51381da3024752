import {
  Agent,
  chatMiddleware,
  GuardrailTripped,
  outcomeOf,
  ProviderError,
  withMiddleware,
} from '@lamella/core'
import type { ProviderErrorKind } from '@lamella/core'
import { runIn, runModes, scriptedClient, testClock } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { retry, timeout } from './index.ts'
import type { RetryEvent, RetryOptions } from './index.ts'
import { failure, withTime } from './failing-run.test-helper.ts'

function setUp(steps: Parameters<typeof scriptedClient>[0], options: RetryOptions = {}) {
  const clock = testClock()
  const client = scriptedClient(steps)
  const events: RetryEvent[] = []
  const middleware = retry({
    clock,
    random: () => 0.5,
    onEvent: (event) => events.push(event),
    ...options,
  })
  return { clock, client, events, agent: new Agent({ client, middleware: middleware }) }
}

const rejection = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

describe.each(runModes)('retry, %s', (mode) => {
  it('calls again until there is an answer, and records each try', async () => {
    const usage = { inputTokens: 3 }
    const partial = { messages: [], text: '', functionCalls: [], usage, metadata: {} }
    const { agent, client, clock, events } = setUp([
      failure('overloaded', { partial }),
      failure('rate_limit', { retry: { afterMs: 30 } }),
      { messages: 'Hi.', usage: { inputTokens: 5 }, model: 'm-1' },
    ])

    const response = await withTime(clock, runIn(mode, agent))

    const of = { iteration: 0, provider: 'scripted' }
    expect(response.text).toBe('Hi.')
    expect(response.attempts).toEqual([
      { ...of, status: 'failed', reason: 'overloaded', usage, delayMs: 250 },
      { ...of, status: 'failed', reason: 'rate_limit', delayMs: 30 },
      { ...of, model: 'm-1', status: 'ok', usage: { inputTokens: 5 } },
    ])
    expect(response.usage.inputTokens).toBe(8)
    expect(events).toEqual([
      { status: 'retrying', level: 'chat', attempt: 1, reason: 'overloaded', delayMs: 250 },
      { status: 'retrying', level: 'chat', attempt: 2, reason: 'rate_limit', delayMs: 30 },
      { status: 'recovered', level: 'chat', attempt: 3 },
    ])
    expect(client.requests).toHaveLength(3)
  })

  it('leaves no trace of a call that succeeds at once', async () => {
    const { agent, events } = setUp(['Hi.'])

    const { attempts } = await runIn(mode, agent)

    expect(attempts).toEqual([])
    expect(events).toEqual([])
  })

  it('throws the last error itself, with all tries on its outcome', async () => {
    const last = failure('server')
    const { agent, clock, client } = setUp([failure('network'), failure('timeout'), last])

    const error = await rejection(withTime(clock, runIn(mode, agent)))

    expect(error).toBe(last)
    expect(outcomeOf(error)?.attempts.map(({ reason, delayMs }) => [reason, delayMs])).toEqual([
      ['network', 250],
      ['timeout', 500],
      ['server', undefined],
    ])
    client.assertDone()
  })

  it.each<ProviderErrorKind>([
    'auth',
    'content_filter',
    'context_length',
    'invalid_request',
    'not_found',
    'quota',
  ])('does not repeat a call that failed with %s', async (kind) => {
    const { agent, client, events } = setUp([failure(kind), 'Hi.'])

    expect(await rejection(runIn(mode, agent))).toMatchObject({ kind })

    expect(client.requests).toHaveLength(1)
    expect(events).toMatchObject([{ status: 'gave_up', because: 'not_retryable', reason: kind }])
  })

  it.each<ProviderErrorKind>([
    'network',
    'overloaded',
    'rate_limit',
    'server',
    'timeout',
    'truncated_stream',
  ])('repeats a call that failed with %s', async (kind) => {
    const { agent, clock } = setUp([failure(kind), 'Hi.'])

    expect(await withTime(clock, runIn(mode, agent))).toMatchObject({ text: 'Hi.' })
  })

  it('does not repeat what no provider has failed with, unless `retryOn` says so', async () => {
    const broken = new Error('broken')
    const bare = setUp([broken, 'Hi.'])
    expect(await rejection(runIn(mode, bare.agent))).toBe(broken)

    const asked = setUp([broken, 'Hi.'], {
      retryOn: async ({ error, attempt }) => error === broken && attempt === 1,
    })
    const response = await withTime(asked.clock, runIn(mode, asked.agent))

    expect(response.text).toBe('Hi.')
    expect(response.attempts[0]?.reason).toBe('error')
  })

  it('lets `retryOn` overrule the provider, change the next try, and leave the rest to it', async () => {
    const { agent, client, clock } = setUp(
      [failure('context_length'), failure('auth'), failure('server'), 'Hi.'],
      {
        maxRetries: 3,
        retryOn: ({ error, context }) => {
          const { kind } = error as { kind: ProviderErrorKind }
          if (kind === 'auth') return { delayMs: 7, options: { model: 'other' } }
          return kind === 'context_length'
            ? { messages: context.messages.slice(-1), instructions: 'Short.' }
            : undefined
        },
      },
    )

    const { attempts } = await withTime(clock, runIn(mode, agent, { instructions: 'Long.' }))

    expect(
      client.requests.map(({ instructions, options }) => [instructions, options.model]),
    ).toEqual([
      ['Long.', undefined],
      ['Short.', undefined],
      ['Short.', 'other'],
      ['Short.', 'other'],
    ])
    expect(attempts.map(({ delayMs }) => delayMs)).toEqual([250, 7, 1000, undefined])
  })

  it('gives up where `retryOn` says no to what the provider would repeat', async () => {
    const { agent, client } = setUp([failure('server'), 'Hi.'], { retryOn: () => false })

    expect(await rejection(runIn(mode, agent))).toMatchObject({ kind: 'server' })
    expect(client.requests).toHaveLength(1)
  })

  it('has limits of its own for kinds of failure', async () => {
    const { agent, client, clock } = setUp(() => failure('rate_limit'), {
      maxRetries: 0,
      maxRetriesByKind: { rate_limit: 4 },
    })

    await rejection(withTime(clock, runIn(mode, agent), 10_000))

    expect(client.requests).toHaveLength(5)
  })

  it('waits exactly as long as the provider asks, and fails at once where that is too long', async () => {
    const patient = setUp([failure('rate_limit', { retry: { afterMs: 59_000 } }), 'Hi.'])
    const running = runIn(mode, patient.agent)
    await patient.clock.advance(58_999)
    expect(patient.client.requests).toHaveLength(1)
    await patient.clock.advance(1)
    await running
    expect(patient.client.requests).toHaveLength(2)

    const tooLong = failure('rate_limit', { retry: { afterMs: 60_001 } })
    const hasty = setUp([tooLong, 'Hi.'])
    const error = await rejection(runIn(mode, hasty.agent))
    expect(error).toBe(tooLong)
    expect(hasty.events).toMatchObject([{ because: 'retry_after_too_long' }])
  })

  it('goes by its own waits where it is told to', async () => {
    const { agent, clock } = setUp([failure('rate_limit', { retry: { afterMs: 99_000 } }), 'Hi.'], {
      respectRetryAfter: false,
      jitter: 'none',
    })

    const { attempts } = await withTime(clock, runIn(mode, agent))

    expect(attempts[0]?.delayMs).toBe(500)
  })

  it('begins no wait that would end after the time for all tries', async () => {
    const { agent, client, clock, events } = setUp(() => failure('server'), {
      maxRetries: 99,
      maxElapsedMs: 3000,
      jitter: 'none',
    })

    await rejection(withTime(clock, runIn(mode, agent)))

    expect(client.requests).toHaveLength(3)
    expect(events.at(-1)).toMatchObject({ because: 'max_elapsed', attempt: 3 })
    expect(clock.now()).toBeLessThanOrEqual(1600)
  })

  it('does not repeat what may have had an effect, unless it may', async () => {
    const unsafe = failure('server', { retry: { replay: 'unsafe' } })
    const careful = setUp([unsafe, 'Hi.'])
    expect(await rejection(runIn(mode, careful.agent))).toBe(unsafe)
    expect(careful.events).toMatchObject([{ because: 'unsafe_replay' }])

    const careless = setUp([unsafe, 'Hi.'], { replay: 'any' })
    const response = await withTime(careless.clock, runIn(mode, careless.agent))
    expect(response.text).toBe('Hi.')
  })

  it('returns what the function returns instead of the error', async () => {
    const { agent, clock } = setUp(() => failure('server'), {
      maxRetries: 1,
      onExhausted: async ({ attempt, because, error }) =>
        `No luck: ${attempt} ${because} ${(error as Error).message}`,
    })

    const response = await withTime(clock, runIn(mode, agent))

    expect(response).toMatchObject({
      status: 'completed',
      text: 'No luck: 2 max_retries failed: server',
    })
    expect(response.attempts).toHaveLength(2)
  })

  it('owns the retries: SDKs and retry middlewares further in make none', async () => {
    const clock = testClock()
    const events: RetryEvent[] = []
    const client = scriptedClient(() => failure('server'))
    const outer = retry({ clock, maxRetries: 1 })
    const inner = retry({
      clock,
      maxRetries: 5,
      name: 'inner',
      onEvent: (event) => events.push(event),
    })
    const agent = new Agent({
      client,
      middleware: [outer, inner],
      options: { transportRetries: 4 },
    })

    await rejection(withTime(clock, runIn(mode, agent)))

    expect(client.requests.map(({ options }) => options.transportRetries)).toEqual([0, 0])
    expect(events).toEqual([
      { status: 'not_owner', level: 'chat', attempt: 1 },
      { status: 'not_owner', level: 'chat', attempt: 1 },
    ])
  })

  it('owns also the retries of a client that a middleware puts in place', async () => {
    const { clock, client, agent } = setUp([])
    const other = scriptedClient(() => failure('server'), {
      middleware: retry({ clock, maxRetries: 5 }),
    })
    const swap = chatMiddleware('swap', async (context, callNext) => {
      context.client = other
      await callNext()
    })

    await rejection(withTime(clock, runIn(mode, agent, { middleware: swap })))

    expect(other.requests).toHaveLength(3)
    expect(client.requests).toHaveLength(0)
  })

  it('does nothing in shadow but tell what it would have done', async () => {
    const { agent, client, events } = setUp([failure('server'), 'Hi.'], { mode: 'shadow' })

    expect(await rejection(runIn(mode, agent))).toMatchObject({ kind: 'server' })

    expect(client.requests.map(({ options }) => options.transportRetries)).toEqual([undefined])
    expect(events).toMatchObject([{ status: 'retrying', shadow: true }])
  })

  it('keeps out of calls that `when` excludes', async () => {
    const { agent, client } = setUp([failure('server')], { when: async () => false })

    expect(await rejection(runIn(mode, agent))).toMatchObject({ kind: 'server' })
    expect(client.requests[0]?.options.transportRetries).toBeUndefined()
  })

  it('lets what steers a run pass, also where `retryOn` would repeat anything', async () => {
    let entered = 0
    const guardrail = chatMiddleware('guardrail', () => {
      entered++
      throw new GuardrailTripped({
        guardrail: 'g',
        level: 'chat',
        stage: 'input',
        category: 'c',
        message: 'No.',
      })
    })
    const { agent, events } = setUp([], { retryOn: () => true })

    const { status } = await runIn(mode, agent, { middleware: guardrail })

    expect([status, entered, events]).toEqual(['blocked', 1, []])
  })

  it('ends with the run also where `retryOn` hangs', async () => {
    const { agent, clock } = setUp([failure('server')], { retryOn: () => new Promise(() => {}) })
    const controller = new AbortController()
    const running = runIn(mode, agent, { signal: controller.signal })
    running.catch(() => {})
    await clock.advance(1)

    controller.abort(new Error('enough'))

    await expect(running).rejects.toThrow('enough')
  })

  it('serves a client without an agent', async () => {
    const clock = testClock()
    const bare = scriptedClient([failure('server'), 'Hi.'])
    const client = withMiddleware(bare, retry({ clock }), timeout({ clock }))

    const answer =
      mode === 'plain'
        ? client.getResponse('Hello')
        : client.getResponse('Hello', { stream: true }).finalResponse()

    expect((await withTime(clock, answer)).text).toBe('Hi.')
  })

  it('ends its wait as soon as the run is aborted', async () => {
    const { agent, clock, client } = setUp([failure('server'), 'Hi.'], { retryOn: () => true })
    const controller = new AbortController()
    const running = runIn(mode, agent, { signal: controller.signal })
    running.catch(() => {})
    await clock.advance(1)
    expect(clock.sleeping).toBe(1)

    controller.abort(new Error('enough'))

    await expect(running).rejects.toThrow('enough')
    expect(clock.sleeping).toBe(0)
    expect(client.requests).toHaveLength(1)
  })

  it('keeps a thousand runs at the same time apart', async () => {
    const clock = testClock()
    const tries = new Map<string, number>()
    const client = scriptedClient(({ messages }) => {
      const [content] = messages.at(-1)?.contents ?? []
      const text = content?.type === 'text' ? content.text : ''
      const count = (tries.get(text) ?? 0) + 1
      tries.set(text, count)
      return count <= Number(text) % 3 ? failure('overloaded') : `${text} at last`
    })
    const agent = new Agent({ client, middleware: retry({ clock, jitter: 'none' }) })
    const inputs = Array.from({ length: 1000 }, (_, index) => `${index}`)

    const all = Promise.all(inputs.map((input) => runIn(mode, agent, { input })))
    const responses = await withTime(clock, all, 500)

    expect(responses.map(({ text }) => text)).toEqual(inputs.map((input) => `${input} at last`))
    expect(responses.map(({ attempts }) => attempts.length)).toEqual(
      inputs.map((input) => (Number(input) % 3 === 0 ? 0 : (Number(input) % 3) + 1)),
    )
  })
})

it('waits come from the clock and the random numbers of the agent', async () => {
  const clock = testClock()
  const error = new ProviderError('busy', { kind: 'overloaded', provider: 'acme' })
  const client = scriptedClient([error, 'Hello.'])
  const random = () => 0.5
  const agent = new Agent({ client, clock, random, middleware: retry({ initialDelayMs: 10_000 }) })

  const running = agent.run('Hi')
  await clock.advance(4_999)
  const before = client.requests.length
  await clock.advance(1)

  expect((await running).text).toBe('Hello.')
  expect(before).toBe(1)
})
