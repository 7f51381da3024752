import { Agent, chatMiddleware } from '@lamella/core'
import type { ChatResponseUpdate } from '@lamella/core'
import { scriptedClient, testClock } from '@lamella/testing'
import type { ScriptedStep } from '@lamella/testing'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { retry } from './index.ts'
import type { RetryOptions } from './index.ts'
import { failure, readUpdates, textsOf, withTime } from './failing-run.test-helper.ts'

const broken = failure('truncated_stream')

function setUp(steps: readonly ScriptedStep[], options: RetryOptions = {}) {
  const clock = testClock()
  const client = scriptedClient(steps)
  const agent = new Agent({ client, middleware: retry({ clock, random: () => 0.5, ...options }) })
  return { clock, client, agent }
}

describe('a stream that fails', () => {
  it('before any content is repeated, and nothing of the first try is sent', async () => {
    const { agent, clock } = setUp([
      { updates: [{ responseId: 'one' }, { model: 'm' }], error: broken },
      { updates: [{ responseId: 'two' }, 'The ', 'answer.', { finishReason: 'stop' }] },
    ])

    const { updates, response } = await withTime(clock, readUpdates(agent))

    expect(updates.flatMap(({ responseId }) => responseId ?? [])).toEqual(['two'])
    expect(textsOf(updates)).toEqual(['The ', 'answer.'])
    expect(updates.some(({ restart }) => restart)).toBe(false)
    expect(response?.text).toBe('The answer.')
  })

  it('after content is not repeated: the error reaches the reader, who keeps what came', async () => {
    const { agent, clock, client } = setUp([{ updates: ['The '], error: broken }, 'The answer.'])

    const { updates, error } = await withTime(clock, readUpdates(agent))

    expect(error).toBe(broken)
    expect(textsOf(updates)).toEqual(['The '])
    expect(client.requests).toHaveLength(1)
  })

  it('after reasoning is not repeated either: that is content', async () => {
    const { agent, client } = setUp([
      { updates: [{ type: 'reasoning', text: 'Hm.' }], error: broken },
      'The answer.',
    ])

    const { error } = await readUpdates(agent)

    expect(error).toBe(broken)
    expect(client.requests).toHaveLength(1)
  })

  it('is repeated after content where that was asked for, and the reader is told to begin anew', async () => {
    const { agent, clock } = setUp(
      [{ updates: ['The ans'], error: broken }, { messages: 'Another answer.' }],
      { stream: 'restart' },
    )

    const { updates, response } = await withTime(clock, readUpdates(agent))

    const at = updates.findIndex(({ restart }) => restart)
    expect(textsOf(updates.slice(0, at))).toEqual(['The ans'])
    expect(textsOf(updates.slice(at)).join('')).toBe('Another answer.')
    expect(response?.text).toBe('Another answer.')
  })

  it('is not repeated at all where that was asked for, and a plain call still is', async () => {
    const steps = [failure('server'), failure('server'), 'The answer.']
    const { agent, clock, client } = setUp(steps, { stream: 'never' })

    const { error } = await readUpdates(agent)
    expect(error).toMatchObject({ kind: 'server' })
    expect(client.requests[0]?.options.transportRetries).toBe(0)

    const response = await withTime(clock, agent.run('Hello'))
    expect(response.text).toBe('The answer.')
  })

  it('is repeated as long as a middleware further out has held all of it back', async () => {
    const held = chatMiddleware('held', async (context, callNext) => {
      const kept: ChatResponseUpdate[] = []
      context.transformUpdates({
        start: () => void kept.splice(0),
        transform: (update) => void kept.push(update),
        flush: (controller) => kept.forEach((update) => controller.enqueue(update)),
      })
      await callNext()
    })
    const clock = testClock()
    const client = scriptedClient([{ updates: ['The ans'], error: broken }, 'The answer.'])
    const agent = new Agent({ client, middleware: [held, retry({ clock })] })

    const { updates, response } = await withTime(clock, readUpdates(agent))

    expect(textsOf(updates).join('')).toBe('The answer.')
    expect(response?.text).toBe('The answer.')
  })

  it('gives a reader of text the answer once', async () => {
    const { agent, clock } = setUp([{ updates: ['The '], error: broken }, 'The answer.'], {
      stream: 'restart',
    })
    const read = async () => {
      let text = ''
      for await (const piece of agent.run('Hello', { stream: true }).text()) text += piece
      return text
    }

    expect(await withTime(clock, read())).toBe('The answer.')
  })
})

it('whatever fails wherever, what is not superseded is sent once and is the answer', async () => {
  const piece = fc.constantFrom<Partial<ChatResponseUpdate> | string>(
    { responseId: 'r' },
    { contents: [], model: 'm' },
    'some ',
    'text ',
  )
  const failing = fc.record({
    updates: fc.array(piece, { maxLength: 4 }),
    error: fc.constant(broken),
  })
  const stream = fc.constantFrom('before-first-content' as const, 'restart' as const)
  await fc.assert(
    fc.asyncProperty(fc.array(failing, { maxLength: 3 }), stream, async (failures, mode) => {
      const { agent, clock } = setUp([...failures, 'the answer'], { maxRetries: 3, stream: mode })

      const { updates, response, error } = await withTime(clock, readUpdates(agent), 5000)

      const restarts = updates.filter(({ restart }) => restart).length
      const last = updates.findLastIndex(({ restart }) => restart)
      const shown = textsOf(updates.slice(last + 1)).join('')
      const texts = failures.map(({ updates: sent }) =>
        sent.filter((one) => typeof one === 'string'),
      )
      const released = mode === 'restart' ? undefined : texts.find((sent) => sent.length > 0)

      expect(shown).toBe(released === undefined ? 'the answer' : released.join(''))
      expect(response?.text).toBe(released === undefined ? 'the answer' : undefined)
      expect(error).toBe(released === undefined ? undefined : broken)
      expect(restarts > 0 && mode !== 'restart').toBe(false)
    }),
    { numRuns: 60 },
  )
})
