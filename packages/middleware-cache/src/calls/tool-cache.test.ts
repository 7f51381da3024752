import type { RunOptions, Schema, ToolOptions } from '@lamella/core'
import { Agent, LamellaError, jsonSchema, tool } from '@lamella/core'
import { callFunction, scriptedClient, testClock } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { CacheEvent } from './cache-event.ts'
import type { ToolCacheOptions } from './tool-cache.ts'
import { toolCache } from './tool-cache.ts'

type Args = Record<string, unknown>

/** Calls a tool named `look` with the arguments, and gives what the model read of the result. */
function setUp(options: ToolCacheOptions = {}, of: Partial<ToolOptions<Schema>> = {}) {
  const clock = testClock(1_000_000)
  const events: CacheEvent[] = []
  const ran: Args[] = []
  const look = tool({
    name: 'look',
    description: 'Looks.',
    parameters: jsonSchema({ type: 'object' }),
    readOnly: true,
    execute: (args) => `seen ${ran.push(args as Args)}`,
    ...of,
  })
  const middleware = toolCache({ clock, onEvent: (event) => events.push(event), ...options })
  const call = async (args: Args | Args[] = {}, run: RunOptions = {}) => {
    const list = Array.isArray(args) ? args : [args]
    const client = scriptedClient([
      list.map((one, at) => callFunction('look', one, `c${at}`)),
      'Done.',
    ])
    await new Agent({ client, tools: [look], middleware }).run('Look', run)
    return client.requests[1]!.messages.at(-1)!.contents.map((content) =>
      content.type === 'function-result' && content.contents[0]?.type === 'text'
        ? content.contents[0].text
        : content,
    )
  }
  return { call, clock, events, ran }
}

describe('toolCache', () => {
  test('answers a read-only tool for the same arguments in any order of keys', async () => {
    const { call, ran, events } = setUp()

    const results = [await call({ a: 1, b: 2 }), await call({ b: 2, a: 1 }), await call({ a: 1 })]

    expect(results).toEqual([['seen 1'], ['seen 1'], ['seen 2']])
    expect(ran).toHaveLength(2)
    expect(events.map(({ outcome }) => outcome)).toEqual(['miss', 'hit', 'miss'])
  })

  test('parallel calls that are the same run once', async () => {
    const { call, ran } = setUp()

    const results = await call([{ a: 1 }, { a: 2 }, { a: 1 }])

    expect(results).toEqual(['seen 1', 'seen 2', 'seen 1'])
    expect(ran).toHaveLength(2)
  })

  test('leaves tools alone that may change something, unless they are named', async () => {
    const changing = setUp({}, { readOnly: false })
    const named = setUp({ tools: { look: true } }, { readOnly: false })
    const excluded = setUp({ tools: { look: false } })

    for (const { call } of [changing, named, excluded]) for (let n = 0; n < 2; n++) await call()

    expect([changing.ran.length, named.ran.length, excluded.ran.length]).toEqual([2, 1, 2])
  })

  test('a tool may have a time to live and a key of its own', async () => {
    const rule = {
      ttlMs: 100,
      key: ({ arguments: { city } }: { arguments: Args }) => String(city).toLowerCase(),
    }
    const { call, clock, ran } = setUp({ tools: { look: rule } })
    await call({ city: 'Rome', at: 1 })
    await call({ city: 'ROME', at: 2 })
    await clock.advance(100)

    await call({ city: 'rome' })

    expect(ran).toHaveLength(2)
  })

  test.each([
    ['throws', () => Promise.reject(new Error('x'))],
    ['gives an error', () => ({ contents: [], error: { code: 'tool_failed', message: 'x' } })],
  ])('what fails is not kept: it %s', async (_, execute) => {
    let ran = 0
    const { call, events } = setUp({}, { execute: () => (ran++, execute()) })

    await call()
    await call()

    expect(ran).toBe(2)
    expect(events.filter(({ stored }) => stored)).toEqual([])
  })

  test('a condition of the user may refuse', async () => {
    const { call, ran } = setUp({ cacheable: ({ contents }) => contents.length > 1 })

    await call()
    await call()

    expect(ran).toHaveLength(2)
  })

  test('in a run with data, a scope must be stated', async () => {
    const loud = setUp()
    const stated = setUp({ scope: ({ run }) => String(run.data) })

    const error: unknown = await loud.call({}, { data: 'ada' }).catch((thrown: unknown) => thrown)
    for (const data of ['ada', 'ben', 'ada']) await stated.call({}, { data })

    expect(LamellaError.is(error, 'cache_scope_missing')).toBe(true)
    expect(stated.ran).toHaveLength(2)
  })

  test('hits share no object: what one changes, the next does not see', async () => {
    const { call } = setUp({}, { execute: () => ({ list: [1] }) })
    const first = await call([{}, {}])

    expect(first).toEqual(['{"list":[1]}', '{"list":[1]}'])
    expect(await call()).toEqual(['{"list":[1]}'])
  })

  test('arguments that JSON cannot tell apart are not cached, and dates are', async () => {
    const sets = setUp(
      {},
      {
        parameters: z.object({ ids: z.array(z.number()).transform((ids) => new Set(ids)) }),
      },
    )
    const dates = setUp(
      {},
      {
        parameters: z.object({ day: z.string().transform((day) => new Date(day)) }),
      },
    )

    for (const ids of [[1], [2], [1]]) await sets.call({ ids })
    for (const day of ['2026-01-01', '2026-01-02', '2026-01-01']) await dates.call({ day })

    expect(sets.ran).toHaveLength(3)
    expect(sets.events[0]).toMatchObject({ outcome: 'skipped', reason: 'not-json' })
    expect(dates.ran).toHaveLength(2)
  })

  test('bytes in a result come back', async () => {
    const part = { type: 'data', mediaType: 'image/png', data: new Uint8Array([1, 2]) }
    const { call } = setUp({}, { execute: () => part })
    await call()

    expect(await call()).toEqual([
      expect.objectContaining({ contents: [{ ...part, data: 'AQI=' }] }),
    ])
  })

  test('in shadow it never answers', async () => {
    const { call, ran, events } = setUp({ mode: 'shadow' })

    await call()
    await call()

    expect(ran).toHaveLength(2)
    expect(events.at(-1)).toMatchObject({ outcome: 'hit', shadow: true })
  })

  test.each([
    [{ tools: { look: { ttlMs: 0 } } }, 'tool "look": `ttlMs`'],
    [{ tools: { look: { key: 'city' } } }, 'tool "look": `key` must be a function'],
    [{ tools: { look: { ttl: 5 } } }, 'tool "look": unknown option `ttl`; did you mean `ttlMs`?'],
    [{ tools: { look: 'no' } }, '`tools.look` must be true, false or a rule, got "no"'],
    [{ cacheable: true }, '`cacheable` must be a function'],
    [{ scope: 1 }, '`scope`'],
    [{ ttlMs: -1 }, 'toolCache: `ttlMs`'],
  ])('wrong options throw when it is made: %j', (options, message) => {
    expect(() => toolCache(options as never)).toThrow(message)
  })
})
