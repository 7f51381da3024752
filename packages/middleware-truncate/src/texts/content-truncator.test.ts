import type { FunctionResult, KeyValueStore } from '@lamella/core'
import { Agent, memoryStore, messageText, text, textOf, tool } from '@lamella/core'
import {
  callFunction,
  describeContract,
  middlewareContract,
  runFunctionMiddleware,
  scriptedClient,
} from '@lamella/testing'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ContentEvent, ContentTruncatorOptions } from '../index.ts'
import { contentTruncator, readMoreTool } from '../index.ts'
import { shrinkJson } from './shrink-json.ts'
import { truncateText } from './truncate-text.ts'

async function shorten(given: unknown, options: ContentTruncatorOptions = {}) {
  const events: ContentEvent[] = []
  const middleware = contentTruncator({ onEvent: (event) => events.push(event), ...options })
  const run = await runFunctionMiddleware(middleware, { execute: () => given })
  const { contents, error } = run.result as FunctionResult
  return { ...run, contents, toolError: error, words: textOf(contents), reported: events }
}

describe('a result of a tool', () => {
  it('within the limit passes as it is', async () => {
    const { words, reported } = await shorten('x'.repeat(50_000))

    expect(words).toHaveLength(50_000)
    expect(reported).toEqual([])
  })

  it('that is too long keeps its beginning and its end', async () => {
    const { words, reported } = await shorten(`first ${'x'.repeat(60_000)} last`)

    expect(words).toHaveLength(50_000)
    expect(words).toMatch(/^first x+\n\n\[\.\.\.truncated\.\.\.\]\n\nx+ last$/)
    expect(reported).toMatchObject([
      { tool: 'test_tool', charsBefore: 60_011, charsAfter: 50_000, spill: 'none' },
    ])
  })

  it('may keep its beginning alone', async () => {
    const marker = '\n\n[...truncated...]'
    const { words } = await shorten('x'.repeat(200), { maxChars: 100, strategy: 'head', marker })

    expect(words).toBe(`${'x'.repeat(100 - marker.length)}${marker}`)
  })

  it('stays JSON where it was', async () => {
    const rows = Array.from({ length: 500 }, (_, id) => ({ id, note: 'n'.repeat(300) }))
    const { words } = await shorten(
      { rows, total: 500 },
      { maxChars: 2000, strategy: 'json-aware' },
    )

    const left = JSON.parse(words) as { rows: { id: number }[]; total: number }
    expect(words.length).toBeLessThanOrEqual(2000)
    expect(left.rows[0]!.id).toBe(0)
    expect(left.rows.at(-1)).toMatch(/more\)$/)
    expect(left.total).toBe(500)
  })

  it('that is no JSON is cut as text by json-aware', async () => {
    const { words } = await shorten('x'.repeat(200), { maxChars: 100, strategy: 'json-aware' })

    expect(words).toContain('[...truncated...]')
  })

  it('is shortened by a function of your own', async () => {
    const { words } = await shorten('x'.repeat(200), {
      maxChars: 100,
      strategy: async (given, { maxChars, context }) =>
        `${context.function.name} ${given.length} ${maxChars}`,
    })

    expect(words).toBe('test_tool 200 100')
  })

  it('is limited as a whole: short texts stay, long ones share, media are untouched', async () => {
    const image = { type: 'data', mediaType: 'image/png', data: 'AAAA'.repeat(1000) } as const
    const given = [text('short'), image, text('a'.repeat(500)), text('b'.repeat(500))]
    const { contents } = await shorten(given, { maxChars: 205, marker: '…' })

    const [first, second, third, fourth] = contents
    expect([first, second]).toEqual([text('short'), image])
    expect((third as { text: string }).text).toHaveLength(100)
    expect((fourth as { text: string }).text).toHaveLength(100)
  })

  it('with numbers that would change is not written as JSON again', async () => {
    const rows = `[${Array.from({ length: 100 }, (_, n) => `{"id": 12345678901234567${n}}`).join(',')}]`
    const { words } = await shorten(rows, { maxChars: 300, strategy: 'json-aware' })

    expect(words).toContain('"id": 123456789012345670}')
    expect(words).toContain('[...truncated...]')
  })

  it('is never left with empty texts', async () => {
    const given = [text('a'.repeat(50)), text('b'.repeat(50)), text('c'.repeat(50))]
    const { contents } = await shorten(given, { maxChars: 2 })

    expect(contents.length).toBeGreaterThan(0)
    expect(contents).not.toContainEqual(text(''))
  })

  it('is limited by tokens', async () => {
    const { words } = await shorten('word '.repeat(1000), {
      maxTokens: 100,
      countTokens: (given) => given.length / 5,
    })

    expect(words).toHaveLength(500)
  })

  it('is limited by the tool', async () => {
    const maxChars = ({ function: { name } }: { function: { name: string } }) =>
      name === 'test_tool' ? 30 : 1000
    const { words } = await shorten('x'.repeat(200), { maxChars, marker: '…' })

    expect(words).toHaveLength(30)
  })

  it('keeps its error', async () => {
    const { toolError, words } = await shorten(
      { contents: [text('x'.repeat(200))], error: { code: 'tool_failed', message: 'no' } },
      { maxChars: 50 },
    )

    expect(toolError).toEqual({ code: 'tool_failed', message: 'no' })
    expect(words).toHaveLength(50)
  })

  it('is only reported on in shadow mode', async () => {
    const { words, reported } = await shorten('x'.repeat(200), { maxChars: 50, mode: 'shadow' })

    expect(words).toHaveLength(200)
    expect(reported).toMatchObject([{ charsBefore: 200 }])
  })

  it('never tells what it says in an event', async () => {
    const { events, reported } = await shorten('secret '.repeat(20), { maxChars: 50 })

    expect(JSON.stringify([events, reported])).not.toContain('secret')
  })
})

describe('a result that is kept', () => {
  const whole = Array.from({ length: 100 }, (_, n) => `line ${n}`).join('\n')
  const report = tool({ name: 'report', description: '', execute: () => whole })
  const idIn = (given: string): string => /the id "(\S+)"/.exec(given)![1]!

  const play = async (store: KeyValueStore, options: { readonly stream?: boolean } = {}) => {
    const client = scriptedClient([
      callFunction('report', {}, 'c1'),
      ({ messages }) =>
        callFunction(
          'read_more',
          { id: idIn(JSON.stringify(messages).replaceAll('\\"', '"')), offset: 100 },
          'c2',
        ),
      'Done.',
    ])
    const middleware = contentTruncator({ maxChars: 300, spill: { store, pageChars: 200 } })
    const agent = new Agent({ client, tools: [report], middleware: middleware })
    const session = agent.createSession({ id: 's1' })
    const response = options.stream
      ? await agent.run('Go', { session, stream: true }).finalResponse()
      : await agent.run('Go', { session })
    return { client, response, agent }
  }

  it.each([false, true])(
    'is read on by the model with a tool that comes with it (stream: %s)',
    async (stream) => {
      const { client, response } = await play(memoryStore(), { stream })

      expect(response.text).toBe('Done.')
      expect(client.requests[0]!.options.tools?.map(({ name }) => name)).toEqual(['report'])
      expect(client.requests[1]!.options.tools?.map(({ name }) => name)).toEqual([
        'report',
        'read_more',
      ])
      const [, read] = response.messages.filter(({ role }) => role === 'tool')
      const [content] = read!.contents
      const page = content?.type === 'function-result' ? textOf(content.contents) : ''
      expect(page).toContain(whole.slice(100, 300))
      expect(page).toContain(`Characters 100 to 300 of ${whole.length}. Read on at offset 300.`)
    },
  )

  it('can be read on after a pause', async () => {
    const pay = tool({ name: 'pay', description: '', approval: 'always', execute: () => 'paid' })
    const client = scriptedClient([
      callFunction('report', {}, 'c1'),
      callFunction('pay', {}, 'c2'),
      ({ messages }) =>
        callFunction(
          'read_more',
          { id: idIn(JSON.stringify(messages).replaceAll('\\"', '"')), offset: 100 },
          'c3',
        ),
      'Done.',
    ])
    const middleware = contentTruncator({ maxChars: 300, spill: { store: memoryStore() } })
    const agent = new Agent({ client, tools: [report, pay], middleware })
    const session = agent.createSession({ id: 's1' })

    const paused = await agent.run('Go', { session })
    const answers = { [paused.pending[0]!.id]: true }
    const { text: said, messages } = await agent.resume(paused.checkpoint!, answers, { session })

    expect(said).toBe('Done.')
    expect(JSON.stringify(messages.slice(-2))).toContain('line 50')
  })

  it('is found by nobody else: not by another session, and not by a guessed id', async () => {
    const store = memoryStore()
    const { response } = await play(store)
    const id = idIn(JSON.stringify(response.messages).replaceAll('\\"', '"'))
    const reader = readMoreTool({ store })
    const read = async (sessionId: string, wanted: string) => {
      const client = scriptedClient([
        callFunction('read_more', { id: wanted, offset: 0 }, 'c1'),
        '.',
      ])
      const agent = new Agent({ client, tools: [reader] })
      const { messages } = await agent.run('Go', {
        session: agent.createSession({ id: sessionId }),
      })
      return JSON.stringify(messages)
    }

    expect(await read('s1', id)).toContain('line 0')
    expect(await read('s2', id)).toContain('There is no such result any more.')
    expect(await read('s', `1:${id}`)).toContain('There is no such result any more.')
    expect(await read('s1', 'result_1')).toContain('There is no such result any more.')
    await store.set('result:session:s:1:x', 'of the session s:1')
    expect(await read('s', '1:x')).toContain('There is no such result any more.')
  })

  it('is shortened all the same when the store fails', async () => {
    const store: KeyValueStore = { ...memoryStore(), set: () => Promise.reject(new Error('full')) }
    const { words, reported, error } = await shorten('x'.repeat(500), {
      maxChars: 100,
      spill: { store },
    })

    expect(error).toBeUndefined()
    expect(words).toHaveLength(100)
    expect(reported).toMatchObject([{ spill: 'failed' }])
  })

  it('says so within the limit', async () => {
    const { words, contents } = await shorten('x'.repeat(900), {
      maxChars: 400,
      spill: { store: memoryStore() },
    })

    expect(words.length).toBeLessThanOrEqual(400)
    expect(contents).toHaveLength(2)
  })

  it('is not waited for when the run is aborted', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const store: KeyValueStore = {
      ...memoryStore(),
      set: () => {
        controller.abort(reason)
        return new Promise(() => {})
      },
    }
    const middleware = contentTruncator({ maxChars: 10, spill: { store } })
    const { error } = await runFunctionMiddleware(middleware, {
      execute: () => 'x'.repeat(50),
      signal: controller.signal,
    })

    expect(error).toBe(reason)
  })
})

describe('shortening', () => {
  it('never goes beyond the limit and cuts no character in half', () => {
    const given = fc.string({ unit: 'grapheme', minLength: 1 })
    fc.assert(
      fc.property(
        given,
        fc.integer({ min: 0, max: 40 }),
        fc.constantFrom('head', 'head-tail'),
        (words, maxChars, strategy) => {
          const whole = `${words}😀`.repeat(5)
          const short = truncateText(whole, { maxChars, marker: '…', strategy })

          expect(short.length).toBeLessThanOrEqual(Math.max(maxChars, 0))
          // It throws for half a pair of surrogates.
          expect(() => encodeURIComponent(short)).not.toThrow()
        },
      ),
    )
  })

  it('of JSON gives JSON within the limit, or nothing', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 5 }),
        fc.integer({ min: 2, max: 200 }),
        (value, maxChars) => {
          const short = shrinkJson(JSON.stringify(value), maxChars)

          if (short === undefined) return
          expect(() => JSON.parse(short) as unknown).not.toThrow()
          expect(short.length).toBeLessThanOrEqual(maxChars)
        },
      ),
    )
    expect(shrinkJson('{"__proto__":{"a":1},"b":"' + 'x'.repeat(500) + '"}', 100)).toContain(
      '__proto__',
    )
  })

  it('of much JSON is JSON', () => {
    const rows = Array.from({ length: 50_000 }, (_, id) => ({ id, note: `note ${id}` }))
    const short = shrinkJson(JSON.stringify(rows), 1000)

    expect(JSON.parse(short!)).toBeInstanceOf(Array)
  })
})

describe('the middleware', () => {
  it.each([
    [{ maxChars: 0 }, 'maxChars'],
    [{ maxTokens: -1 }, 'maxTokens'],
    [{ strategy: 'tail' }, 'strategy'],
    [{ marker: 1 }, 'marker'],
    [{ spill: { store: {} } }, 'spill.store'],
    [{ spill: { store: memoryStore(), ttlMs: 0 } }, 'spill.ttlMs'],
    [{ countTokens: 1 }, 'countTokens'],
    [{ mode: 'on' }, 'mode'],
  ])('refuses %j when it is made', (options, name) => {
    expect(() => contentTruncator(options as never)).toThrow(`contentTruncator: \`${name}\``)
  })

  it('serves a thousand runs at once', async () => {
    const middleware = contentTruncator({ maxChars: 20, marker: '…' })
    const runs = await Promise.all(
      Array.from({ length: 1000 }, (_, n) =>
        runFunctionMiddleware(middleware, { execute: () => `${n} ${'x'.repeat(100)}` }),
      ),
    )

    expect(
      runs.every(({ result }, n) =>
        textOf((result as FunctionResult).contents).startsWith(`${n} x`),
      ),
    ).toBe(true)
    expect(
      messageText({ id: '', role: 'user', contents: (runs[0]!.result as FunctionResult).contents }),
    ).toHaveLength(20)
  })
})

describeContract(
  middlewareContract({
    create: () => contentTruncator({ maxChars: 200, spill: { store: memoryStore() } }),
    createWithLimit: (ms) => {
      const spill = { store: memoryStore(), ttlMs: ms, storeTimeoutMs: ms }
      return contentTruncator({ maxChars: 20, spill })
    },
  }),
  { describe, it },
)
