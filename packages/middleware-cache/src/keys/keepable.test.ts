import type { ChatResponseInit } from '@lamella/core/authoring'
import type { RunOptions } from '@lamella/core'
import { Agent, chatMiddleware, hostedTool, jsonSchema, text } from '@lamella/core'
import { guardrail } from '@lamella/guardrail'
import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import { cache } from '../calls/cache.ts'
import type { CacheEvent } from '../calls/cache-event.ts'
import type { CacheOptions } from '../calls/cache-options.ts'

/** Asks twice and tells what the second call read, and what the cache said of the first. */
async function askTwice(
  reply: ChatResponseInit,
  { options = {}, run = {} }: { options?: CacheOptions; run?: RunOptions } = {},
) {
  const events: CacheEvent[] = []
  const client = scriptedClient(() => reply)
  const middleware = cache({ onEvent: (event) => events.push(event), ...options })
  const functionInvocation = { enabled: false }
  const agent = new Agent({ client, middleware: middleware, functionInvocation })
  await agent.run('Hello', run)
  await agent.run('Hello', run)
  return { calls: client.requests.length, reason: events[0]?.reason }
}

describe('what is cached', () => {
  const replies: readonly [string, ChatResponseInit, string | undefined][] = [
    ['a whole answer', { messages: 'Hi.' }, undefined],
    ['an answer that calls a tool', { messages: callFunction('look', {}, 'c1') }, undefined],
    ['an answer cut at the limit', { messages: 'Hi', finishReason: 'length' }, 'truncated'],
    [
      'an answer that was filtered',
      { messages: 'Hi', finishReason: 'content-filter' },
      'finish-reason',
    ],
    ['an answer of unknown end', { messages: 'Hi', finishReason: 'error' }, 'finish-reason'],
    ['a refusal', { messages: { type: 'refusal', text: 'No.' }, finishReason: 'stop' }, 'content'],
    ['an error inside', { messages: [text('a'), { type: 'error', message: 'x' }] }, 'content'],
    ['an empty answer', { messages: [], finishReason: 'stop' }, 'empty'],
    [
      'what the provider ran itself',
      { messages: [{ type: 'hosted', name: 'web' }, text('a')] },
      'hosted-tools',
    ],
    ['an answer in a kept conversation', { messages: 'Hi.', conversationId: 'conv' }, 'stateful'],
    ['a value that JSON cannot hold', { messages: 'Hi.', value: new Date(0) }, 'value'],
  ]

  test.each(replies)('%s', async (_, reply, reason) => {
    const told = await askTwice({ finishReason: 'stop', ...reply })

    expect(told).toEqual({ calls: reason === undefined ? 1 : 2, reason })
  })

  const asked: readonly [string, RunOptions['options'], string | undefined][] = [
    ['no temperature', {}, undefined],
    ['a temperature of 0', { temperature: 0 }, undefined],
    ['a temperature above 0', { temperature: 0.7 }, 'sampled'],
    ['a temperature and a seed', { temperature: 0.7, seed: 1 }, undefined],
    ['hosted tools', { tools: [hostedTool('web_search', {})] }, 'hosted-tools'],
    ['a function as tool choice', { toolChoice: () => 'auto' }, 'not-json'],
  ]

  test.each(asked)('a call with %s', async (_, options, reason) => {
    const told = await askTwice({ messages: 'Hi.' }, { run: { options } })

    expect(told).toEqual({ calls: reason === undefined ? 1 : 2, reason })
  })

  test('what is allowed is cached', async () => {
    const run = {
      options: { temperature: 1, tools: [hostedTool('web_search', {})] },
    }
    const reply: ChatResponseInit = {
      messages: [{ type: 'hosted', name: 'web_search' }, text('cut')],
      conversationId: 'conv',
      finishReason: 'length',
    }
    const allow = ['sampled', 'stateful', 'hosted-tools', 'truncated'] as const

    const told = await askTwice(reply, { options: { allow }, run })

    expect(told).toEqual({ calls: 1, reason: undefined })
  })

  test('a condition of the user may refuse, and one that fails refuses', async () => {
    const refused = await askTwice({ messages: 'Hi.' }, { options: { cacheable: () => false } })
    const failed = await askTwice(
      { messages: 'Hi.' },
      { options: { cacheable: () => Promise.reject(new Error('x')) } },
    )

    expect(refused).toEqual({ calls: 2, reason: 'cacheable' })
    expect(failed).toEqual({ calls: 2, reason: 'cacheable' })
  })

  test.each(runModes)(
    'an answer that a middleware further out changed is not kept, %s',
    async (mode) => {
      const client = scriptedClient(['for <name>', 'for <name>', 'for all', 'for all'])
      const restore = (name: string) =>
        chatMiddleware('restore', async (context, callNext) => {
          context.transformUpdates({
            transform(update, controller) {
              const contents = update.contents.map((content) =>
                content.type === 'text'
                  ? { ...content, text: content.text.replace('<name>', name) }
                  : content,
              )
              controller.enqueue({ ...update, contents })
            },
          })
          await callNext()
        })
      const shared = cache()
      const ask = async (name: string, input: string) => {
        const agent = new Agent({ client, middleware: [restore(name), shared] })
        return (await runIn(mode, agent, { input })).text
      }

      const texts = [await ask('Ada', 'Who?'), await ask('Ben', 'Who?')]
      const neutral = [await ask('Ada', 'All?'), await ask('Ben', 'All?')]

      expect(texts).toEqual(['for Ada', 'for Ben'])
      expect(neutral).toEqual(['for all', 'for all'])
      expect(client.requests).toHaveLength(3)
    },
  )

  test('an answer that was changed may be allowed, and is kept as it was changed', async () => {
    const secretive = guardrail({
      name: 'secrets',
      applyTo: ['output'],
      check: ({ text: words }) => {
        const start = words.indexOf('sk-1')
        return start < 0
          ? { action: 'allow' }
          : { action: 'replace', spans: [{ start, end: start + 4, replacement: '***' }] }
      },
    })
    const store: string[] = []
    const codec = {
      encode: (json: string) => (store.push(json), json),
      decode: (json: string) => json,
    }
    const client = scriptedClient(['key sk-1.'])
    const middleware = [secretive, cache({ allow: ['changed'], codec })]
    const agent = new Agent({ client, middleware })

    const texts = [await agent.run('Key?'), await agent.run('Key?')].map((r) => r.text)

    expect(texts).toEqual(['key ***.', 'key ***.'])
    expect(store.join()).not.toContain('sk-1')
  })

  test('a blocked answer is not kept', async () => {
    const client = scriptedClient(['bad', 'bad'])
    const block = guardrail({
      name: 'block',
      applyTo: ['output'],
      check: () => ({ action: 'block' as const, category: 'x' }),
    })
    const shared = cache()
    const guarded = new Agent({ client, middleware: [block, shared] })
    await guarded.run('Hello')

    const response = await new Agent({ client, middleware: shared }).run('Hello')

    expect(response.metadata['cache']).toMatchObject({ hit: false })
  })

  test('a typed answer has its value on a hit too', async () => {
    const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
    const client = scriptedClient(['{"n":1}'])
    const agent = new Agent({
      client,
      middleware: cache(),
      options: { responseFormat: { schema: jsonSchema(schema) } },
    })

    const values = [await agent.run('n?'), await agent.run('n?')].map((r) => r.value)

    expect(values).toEqual([{ n: 1 }, { n: 1 }])
  })

  test('a value that an inner middleware made is kept if JSON holds it', async () => {
    const client = scriptedClient(['one'])
    const inner = chatMiddleware('inner', async (context, callNext) => {
      context.result = {
        ...(await callNext()),
        value: { n: 1 },
        metadata: { by: 'inner', rateLimit: { requests: { remaining: 0 } }, fn: () => 1 },
      }
    })
    const agent = new Agent({ client, middleware: [cache(), inner] })
    await agent.run('n?')

    const { value, metadata } = await agent.run('n?')

    expect(value).toEqual({ n: 1 })
    expect(metadata).toEqual({ by: 'inner', cache: expect.objectContaining({ hit: true }) })
  })
})

test('every hit has a response id of its own', async () => {
  const client = scriptedClient(['Hi.'], { middleware: cache() })

  const ids: (string | undefined)[] = []
  for (let call = 0; call < 3; call++) ids.push((await client.getResponse('Hello')).id)

  expect(new Set(ids).size).toBe(3)
})
