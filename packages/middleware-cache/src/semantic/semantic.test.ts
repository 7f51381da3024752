import type { RunOptions } from '@lamella/core'
import { Agent } from '@lamella/core'
import { runIn, runModes, scriptedClient, testClock } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import { cache } from '../calls/cache.ts'
import type { CacheEvent } from '../calls/cache-event.ts'
import type { CacheOptions } from '../calls/cache-options.ts'
import type { SemanticOptions, SimilarQuestion } from './semantic-options.ts'
import { memoryVectorIndex } from './vector-index.ts'

/** Counts words: texts with the same words lie in the same direction. */
function embed(question: string): number[] {
  const vector = Array.from({ length: 64 }, () => 0)
  for (const word of question.toLowerCase().match(/\p{L}+/gu) ?? []) {
    let hash = 7
    for (const character of word) hash = (hash * 31 + character.codePointAt(0)!) % 64
    vector[hash]! += 1
  }
  return vector
}

function setUp(semantic: Partial<SemanticOptions> = {}, options: CacheOptions = {}) {
  const clock = testClock(1_000_000)
  const events: CacheEvent[] = []
  const client = scriptedClient(({ index }) => `Answer ${index}.`)
  const middleware = cache({
    clock,
    onEvent: (event) => events.push(event),
    semantic: { embed, threshold: 0.9, ...semantic },
    ...options,
  })
  const agent = new Agent({ client, middleware })
  const ask = async (question: string, run: RunOptions = {}) =>
    (await agent.run(question, run)).text
  return { agent, ask, client, clock, events }
}

const asked = 'please tell me how to reset a forgotten password'
const alike = 'tell me please how to reset a forgotten password'

describe('semantic', () => {
  test.each(runModes)('a question that means the same has the same answer, %s', async (mode) => {
    const { agent, client } = setUp()
    await runIn(mode, agent, { input: asked })

    const { text, metadata } = await runIn(mode, agent, { input: alike })

    expect(text).toBe('Answer 0.')
    expect(metadata['cache']).toMatchObject({ hit: true, similarity: expect.closeTo(1) })
    expect(client.requests).toHaveLength(1)
  })

  test('the very same question is answered without an embedding', async () => {
    let embedded = 0
    const { ask } = setUp({ embed: (question) => (embedded++, embed(question)) })
    await ask(asked)

    await ask(asked)

    expect(embedded).toBe(1)
  })

  test('questions below the threshold are asked', async () => {
    const { ask } = setUp()

    expect([await ask(asked), await ask('what is the weather')]).toEqual(['Answer 0.', 'Answer 1.'])
  })

  test('near questions with another number or name are asked', async () => {
    const { ask } = setUp({ threshold: 0.5 })

    const texts = [
      await ask('the weather in Paris on day 1'),
      await ask('the weather in Rome on day 1'),
      await ask('the weather in Paris on day 2'),
      await ask('on day... the weather in Paris 1'),
    ]

    expect(texts).toEqual(['Answer 0.', 'Answer 1.', 'Answer 2.', 'Answer 0.'])
  })

  test.each<[string, RunOptions]>([
    ['instructions', { instructions: 'Be brief.' }],
    ['model', { options: { model: 'other' } }],
    ['tenant', { tenant: 'b' }],
  ])('another %s is another partition', async (_, run) => {
    const { ask } = setUp({}, { scope: ({ run: { tenant } }) => tenant ?? 'a' })
    await ask(asked)

    expect(await ask(alike, run)).toBe('Answer 1.')
  })

  test('what was said before is part of the partition', async () => {
    const { agent, ask } = setUp()
    const session = agent.createSession()
    await ask('Hello', { session })
    await ask(asked, { session })

    expect(await ask(alike)).toBe('Answer 2.')
  })

  test('a check of the user has the last word', async () => {
    const seen: SimilarQuestion[] = []
    const { ask } = setUp({ verify: async (similar) => seen.push(similar) > 1 })
    await ask(asked)

    const texts = [await ask(alike), await ask(`${alike} please`)]

    expect(texts).toEqual(['Answer 1.', 'Answer 0.'])
    expect(seen[0]).toMatchObject({ question: alike, answered: asked })
  })

  test('questions that are long, excepted or no text alone are only answered exactly', async () => {
    const { ask, agent, client } = setUp({
      maxQuestionTokens: 20,
      except: (question) => question.includes('my'),
    })
    for (const words of ['long '.repeat(50), 'where is my order', 'order']) {
      await ask(words)
      await ask(`${words} `)
    }
    const image = { type: 'data', mediaType: 'image/png', data: 'AQID' } as const
    await agent.run(['what is this', image])
    await agent.run(['what is  this', image])

    expect(client.requests).toHaveLength(7)
  })

  test.each<[string, Partial<SemanticOptions>]>([
    ['embedding', { embed: () => Promise.reject(new Error('down')) }],
    ['search', { index: { ...memoryVectorIndex(), search: () => Promise.reject(new Error('x')) } }],
    ['index', { index: { ...memoryVectorIndex(), add: () => Promise.reject(new Error('x')) } }],
  ])('a failing %s costs the cache and not the call', async (_, semantic) => {
    const { ask, events } = setUp(semantic)

    const texts = [await ask(asked), await ask(alike)]

    expect(texts).toEqual(['Answer 0.', 'Answer 1.'])
    expect(events.some(({ reason }) => reason === 'semantic')).toBe(true)
  })

  test('an embedding that hangs is given up in time, or with the run', async () => {
    const { agent, clock } = setUp({ embed: () => new Promise(() => {}), timeoutMs: 100 })
    const late = agent.run(asked)
    await clock.advance(100)
    const aborted = new AbortController()
    const left = agent.run('Other', { signal: aborted.signal })
    const reason = new Error('left')
    setTimeout(() => aborted.abort(reason), 0)

    expect((await late).text).toBe('Answer 0.')
    await expect(left).rejects.toBe(reason)
    expect(clock.sleeping).toBe(0)
  })

  test('an entry that has expired does not answer', async () => {
    const { ask, clock } = setUp({}, { ttlMs: 1000 })
    await ask(asked)
    await clock.advance(1000)

    expect(await ask(alike)).toBe('Answer 1.')
  })

  test.each([
    [{ threshold: 0 }, '`semantic.threshold`'],
    [{ threshold: 1.1 }, '`semantic.threshold`'],
    [{ embed: 'model' }, '`semantic.embed` must be a function'],
    [{ maxQuestionTokens: 0 }, '`semantic.maxQuestionTokens`'],
    [{ sameFacts: false }, '`semantic.sameFacts` must be a function'],
    [{ verify: true }, '`semantic.verify` must be a function'],
    [{ except: [/my/] }, '`semantic.except` must be a function'],
  ])('wrong options throw when it is made: %j', (semantic, message) => {
    expect(() => setUp(semantic as never)).toThrow(message)
  })
})

describe('memoryVectorIndex', () => {
  const options = { limit: 5, signal: new AbortController().signal }

  test('forgets the oldest question beyond its limit', async () => {
    const index = memoryVectorIndex({ maxEntries: 2 })
    for (const key of ['a', 'b', 'c']) await index.add('p', { key, vector: [1, 0], ttlMs: 1 })

    const keys = (await index.search('p', [2, 0], options)).map(({ key }) => key)

    expect(keys).toEqual(['b', 'c'])
    expect(() => memoryVectorIndex({ maxEntries: 0 })).toThrow('`maxEntries`')
  })

  test('finds the nearest first, in its partition only, and nothing of another dimension', async () => {
    const index = memoryVectorIndex()
    await index.add('p', { key: 'far', vector: [0, 1], ttlMs: 1 })
    await index.add('p', { key: 'near', vector: [1, 0.1], ttlMs: 1 })
    await index.add('q', { key: 'other', vector: [1, 0], ttlMs: 1 })
    await index.add('p', { key: 'odd', vector: [1, 0, 0], ttlMs: 1 })

    const found = await index.search('p', [1, 0], options)

    expect(found.map(({ key }) => key).slice(0, 1)).toEqual(['near'])
    expect(found.map(({ key }) => key)).not.toContain('other')
    expect(found.find(({ key }) => key === 'odd')?.similarity).toBe(0)
  })
})
