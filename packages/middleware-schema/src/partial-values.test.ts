import { Agent, chatMiddleware, text } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { parsePartialJson, partialValues, schemaValidator } from './index.ts'

interface Trip {
  readonly city: string
  readonly days: readonly number[]
}

async function collect(agent: Agent): Promise<unknown[]> {
  const seen: unknown[] = []
  const stream = agent.run('Go', { stream: true })
  for await (const value of partialValues<Trip>(stream)) seen.push(value)
  return seen
}

describe('partial values of a stream', () => {
  it('grow as the answer comes in', async () => {
    const client = scriptedClient(['{"city":"Rome","days":[1,2]}'], { chunk: 10 })

    const seen = await collect(new Agent({ client }))

    expect(seen).toEqual([{ city: 'R' }, { city: 'Rome' }, { city: 'Rome', days: [1, 2] }])
  })

  it('are those of what middlewares let out', async () => {
    const client = scriptedClient(['{"city":"Rome"}'], { chunk: 5 })
    const redact = chatMiddleware('redact', async (context, callNext) => {
      let held = ''
      context.transformUpdates({
        start: () => void (held = ''),
        transform(update) {
          for (const content of update.contents) if (content.type === 'text') held += content.text
        },
        flush(controller) {
          controller.enqueue({ contents: [{ type: 'text', text: held.replace('Rome', 'X') }] })
        },
      })
      await callNext()
    })

    expect(await collect(new Agent({ client, middleware: redact }))).toEqual([{ city: 'X' }])
  })

  it('begin anew with the answer that supersedes another', async () => {
    const schema = z.object({ city: z.string() })
    const client = scriptedClient(['{"town":"Rome"}', '{"city":"Oslo"}'], { chunk: 'whole' })
    const middleware = schemaValidator({ schema, repair: ['re-ask'] })

    expect(await collect(new Agent({ client, middleware }))).toEqual([
      { town: 'Rome' },
      { city: 'Oslo' },
    ])
  })

  it('begin anew where a message does', async () => {
    const updates = (async function* () {
      yield { contents: [text('{"a":1')] }
      yield { contents: [], restart: true as const }
      yield { contents: [text('{"b":2}')] }
    })()
    const values = []
    for await (const value of partialValues(updates)) values.push(value)

    expect(values.at(-1)).toEqual({ b: 2 })
  })

  it('are of one message at a time, and never of results of tools', async () => {
    const client = scriptedClient([['{"a":1}', callFunction('none', {}, 'c1')], '{"b":2}'], {
      chunk: 'whole',
    })

    expect(await collect(new Agent({ client }))).toEqual([{ a: 1 }, { b: 2 }])
  })

  it('are none where there is no JSON', async () => {
    expect(await collect(new Agent({ client: scriptedClient(['Hello there.']) }))).toEqual([])
  })

  it.each([
    ['an open list in another', '['],
    ['a list of numbers', '1,'],
    ['objects in one another', '{"a":'],
  ])('copy in all at most a hundred entries per character, with %s', async (_, piece) => {
    const answer = `[${piece.repeat(3000 / piece.length)}`
    const updates = (async function* () {
      for (const char of answer) yield { contents: [text(char)] }
    })()
    const seen = new WeakSet<object>()
    let [copies, values, last] = [0, 0, undefined as unknown]

    for await (const value of partialValues(updates)) {
      values++
      copies += newEntries(value, seen)
      last = value
    }

    expect(copies).toBeLessThanOrEqual(101 * answer.length)
    expect(values).toBeGreaterThan(200)
    expect(last).toEqual(parsePartialJson(answer))
  })
})

/** Counts the entries of lists and objects that were not seen before. */
function newEntries(value: unknown, seen: WeakSet<object>): number {
  let count = 0
  const waiting = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next !== 'object' || next === null || seen.has(next)) continue
    seen.add(next)
    const inner = Object.values(next)
    count += inner.length
    waiting.push(...inner.filter((entry) => typeof entry === 'object'))
  }
  return count
}
