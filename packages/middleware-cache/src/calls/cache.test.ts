import type { RunOptions } from '@lamella/core'
import {
  Agent,
  LamellaError,
  MiddlewareTermination,
  chatMiddleware,
  jsonSchema,
  text,
  tool,
} from '@lamella/core'
import { callFunction, runIn, runModes, scriptedClient, testClock } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import { cache } from './cache.ts'
import type { CacheEvent } from './cache-event.ts'
import type { CacheOptions } from './cache-options.ts'

function setUp(
  options: CacheOptions = {},
  agentOptions: Partial<ConstructorParameters<typeof Agent>[0]> = {},
) {
  const events: CacheEvent[] = []
  const clock = testClock(1_000_000)
  const client = scriptedClient(({ index }) => `Answer ${index}.`)
  const middleware = cache({ clock, onEvent: (event) => events.push(event), ...options })
  return {
    agent: new Agent({ client, middleware: middleware, ...agentOptions }),
    client,
    clock,
    events,
    middleware,
  }
}

describe('cache', () => {
  test.each(runModes)('answers the same call without the model, at no cost, %s', async (mode) => {
    const { agent, client, clock, events } = setUp()
    const first = await runIn(mode, agent)
    await clock.advance(1500)

    const second = await runIn(mode, agent)

    expect(client.requests).toHaveLength(1)
    expect(second.text).toBe(first.text)
    expect(second.finishReason).toBe('stop')
    expect(second.usage).toEqual({})
    expect(first.metadata['cache']).toMatchObject({ hit: false, stored: true })
    expect(second.metadata['cache']).toEqual({
      hit: true,
      key: expect.stringMatching(/^cache:[0-9a-f]{64}$/),
      ageMs: 1500,
      savedUsage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
    })
    expect(events.map(({ outcome }) => outcome)).toEqual(['miss', 'hit'])
  })

  test('a plain call answers a streamed one and the other way round', async () => {
    const { agent, client } = setUp()

    const texts = [await runIn('plain', agent), await runIn('streamed', agent)].map((r) => r.text)
    const more = [
      await runIn('streamed', agent, { input: 'Again' }),
      await runIn('plain', agent, { input: 'Again' }),
    ]

    expect(texts).toEqual(['Answer 0.', 'Answer 0.'])
    expect(more.map((r) => r.text)).toEqual(['Answer 1.', 'Answer 1.'])
    expect(client.requests).toHaveLength(2)
  })

  test('a streamed hit carries the whole answer and nothing else', async () => {
    const { agent } = setUp()
    await agent.run('Hello')

    let streamed = ''
    for await (const piece of agent.run('Hello', { stream: true }).text()) streamed += piece

    expect(streamed).toBe('Answer 0.')
  })

  test('the response of a bare client says that it cost nothing', async () => {
    const client = scriptedClient(['Hi.'], { middleware: cache() })
    await client.getResponse('Hello')

    const { usage, text: answer } = await client.getResponse('Hello')

    expect([answer, usage]).toEqual(['Hi.', { inputTokens: 0, outputTokens: 0, totalTokens: 0 }])
  })

  test('the calls of a tool conversation are answered one by one, and the tools run', async () => {
    let looked = 0
    const look = tool({
      name: 'look',
      description: 'Looks.',
      execute: () => `seen ${++looked > 0}`,
    })
    const client = scriptedClient([callFunction('look'), 'Done.'])
    const agent = new Agent({ client, tools: [look], middleware: cache() })
    const first = await agent.run('Look')

    const second = await agent.run('Look')

    expect([first.text, second.text, looked]).toEqual(['Done.', 'Done.', 2])
    client.assertDone()
  })

  test('messages of two hits in one conversation have ids of their own', async () => {
    const { agent } = setUp()
    await agent.run('Hello')

    const [one, two] = [await agent.run('Hello'), await agent.run('Hello')]

    expect(one.messages[0]?.id).not.toBe(two.messages[0]?.id)
  })

  test('an entry ends with its time to live, or with that of the call', async () => {
    const { agent, client, clock } = setUp({ ttlMs: 1000 })
    await agent.run('Hello')
    await agent.run('Longer', { options: { cache: { ttlMs: 5000 } } })

    await clock.advance(999)
    await agent.run('Hello')
    expect(client.requests).toHaveLength(2)
    await clock.advance(1)
    await agent.run('Hello')
    await agent.run('Longer')

    expect(client.requests).toHaveLength(3)
  })

  test.each([
    ['temperature', { temperature: 0 }],
    ['model', { model: 'other' }],
    ['tool choice', { toolChoice: 'none' }],
    ['format', { responseFormat: 'json' }],
    ['schema', { responseFormat: { schema: jsonSchema({ type: 'object', title: 'A' }) } }],
    ['length', { maxOutputTokens: 7 }],
    ['stop', { stop: ['x'] }],
    ['seed', { seed: 1 }],
    ['reasoning', { reasoning: { effort: 'low' } }],
    ['provider options', { providerOptions: { scripted: { tier: 'flex' } } }],
  ] as const)('a call with another %s is another call', async (_, options) => {
    const { agent, client } = setUp()
    await agent.run('Hello')

    await agent.run('Hello', { options })
    await agent.run('Hello', { options })

    expect(client.requests).toHaveLength(2)
  })

  test('a call with other instructions, tools, history or provider is another call', async () => {
    const { agent, client, middleware } = setUp()
    const named = (description: string) => tool({ name: 't', description, execute: () => 1 })
    const changes: readonly RunOptions[] = [
      { instructions: 'Be brief.' },
      { tools: [named('a')] },
      { tools: [named('b')] },
      {
        session: agent.createSession({
          messages: [{ id: '1', role: 'user', contents: [text('Hi')] }],
        }),
      },
    ]
    for (const options of [{}, ...changes]) await agent.run('Hello', options)
    await agent.run(['Hel', 'lo'])
    const other = scriptedClient(['Other.'], { provider: 'other' })
    const { text: answer } = await new Agent({ client: other, middleware: middleware }).run('Hello')

    expect(client.requests).toHaveLength(6)
    expect(answer).toBe('Other.')
  })

  test('ids and times of messages, retries and the name of the end user make no difference', async () => {
    const { agent, client } = setUp()
    const hello = { role: 'user', contents: 'Hello' } as const
    await agent.run(hello)

    await agent.run({ ...hello, id: 'mine', createdAt: '2026-01-01', metadata: { trace: 1 } })
    await agent.run(hello, { options: { user: 'u1', metadata: { a: 'b' }, transportRetries: 0 } })

    expect(client.requests).toHaveLength(1)
  })

  test('the order of keys and the form of bytes make no difference', async () => {
    const { agent, client } = setUp()
    const file = { type: 'data', mediaType: 'image/png', name: 'a' } as const
    await agent.run({ ...file, data: new Uint8Array([1, 2, 3]) })

    await agent.run({ name: 'a', data: 'AQID', mediaType: 'image/png', type: 'data' })

    expect(client.requests).toHaveLength(1)
  })

  test.each(runModes)('what fails, ends or is aborted is not kept, %s', async (mode) => {
    const { agent, client } = setUp()
    const boom = new Error('boom')
    const ends = [boom, new MiddlewareTermination('enough', { result: 'ended' })]
    for (const error of ends) {
      const middleware = chatMiddleware('ends', () => Promise.reject(error))
      await runIn(mode, agent, { middleware }).catch(() => {})
    }
    const aborted = new AbortController()
    const abort = chatMiddleware('aborts', async (_, callNext) => {
      aborted.abort(new Error('left'))
      await callNext()
    })
    await runIn(mode, agent, { middleware: abort, signal: aborted.signal }).catch(() => {})

    const { text: answer } = await runIn(mode, agent)

    expect(answer).toBe('Answer 0.')
    expect(client.requests).toHaveLength(1)
  })

  test('a stream that its reader leaves is not kept', async () => {
    const { agent } = setUp()
    for await (const _ of agent.run('Hello', { stream: true })) break

    const { text: answer, metadata } = await agent.run('Hello')

    expect(answer).toBe('Answer 1.')
    expect(metadata['cache']).toMatchObject({ hit: false })
  })

  test('a single call may reload, go past the cache, or demand a hit', async () => {
    const { agent, clock } = setUp()
    const ask = async (control: NonNullable<RunOptions['options']>['cache']) =>
      (await agent.run('Hello', { options: { cache: control } })).text
    const miss = await ask('only-if-cached').catch((error: unknown) => error)
    const past = await ask('no-store')

    const texts = [await ask('default'), await ask('reload'), await ask('only-if-cached')]
    await clock.advance(100)
    const young = await ask({ maxAgeMs: 100 })

    expect(LamellaError.is(miss, 'cache_miss')).toBe(true)
    expect([past, ...texts, young]).toEqual([
      'Answer 0.',
      'Answer 1.',
      'Answer 2.',
      'Answer 2.',
      'Answer 3.',
    ])
  })

  test('a mode that there is none of fails the call', async () => {
    const { agent } = setUp()

    const run = agent.run('Hello', { options: { cache: 'never' as never } })

    await expect(run).rejects.toThrow('cache: `options.cache.mode` must be one of default, reload')
  })

  test('an option of a call that there is none of fails the call', async () => {
    const { agent } = setUp()

    const run = agent.run('Hello', { options: { cache: { maxAge: 1 } as never } })

    await expect(run).rejects.toThrow(
      'cache: unknown option `options.cache.maxAge`; did you mean `options.cache.maxAgeMs`?',
    )
  })

  test('in shadow it keeps and looks, and never answers', async () => {
    const { agent, client, events } = setUp({ mode: 'shadow' })

    const texts = [await agent.run('Hello'), await agent.run('Hello')].map((r) => r.text)

    expect(texts).toEqual(['Answer 0.', 'Answer 1.'])
    expect(client.requests).toHaveLength(2)
    expect(events.map(({ outcome, shadow }) => [outcome, shadow])).toEqual([
      ['miss', true],
      ['hit', true],
    ])
  })

  test('events carry neither questions nor answers', async () => {
    const { agent, events } = setUp()
    await agent.run('SECRET')
    await agent.run('SECRET')

    expect(JSON.stringify(events)).not.toMatch(/SECRET|Answer/)
  })

  test.each([
    [{ ttlMs: 0 }, '`ttlMs` must be a whole number from 1 up, got 0'],
    [{ staleWhileRevalidateMs: -1 }, '`staleWhileRevalidateMs`'],
    [{ staleIfErrorMs: 0.5 }, '`staleIfErrorMs`'],
    [{ allow: ['everything'] }, '`allow` must be one of sampled'],
    [{ scope: 'user' }, "`scope` must be 'shared', 'tenant', 'session', 'run' or a function"],
    [{ store: {} }, '`store` must be a KeyValueStore or a Keyv'],
    [{ store: 'redis://:pass@host' }, '`store` must be a KeyValueStore or a Keyv, got a string'],
    [{ store: null }, '`store` must be a KeyValueStore or a Keyv'],
    [{ mode: 'on' }, '`mode`'],
    [{ key: 'id' }, '`key` must be a function'],
    [{ cacheable: true }, '`cacheable` must be a function'],
    [{ namespace: 1 }, '`namespace` must be a string'],
    [{ singleFlight: { leaseMs: 0 } }, '`singleFlight.leaseMs`'],
    [{ codec: { encode: () => '' } }, '`codec.decode` must be a function'],
    [{ storeTimeoutMs: 0 }, '`storeTimeoutMs`'],
  ])('wrong options throw when it is made: %j', (options, message) => {
    expect(() => cache(options as never)).toThrow(message)
  })
})
