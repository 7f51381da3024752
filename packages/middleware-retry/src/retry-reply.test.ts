import { Agent, chatMiddleware, hostedTool, message, outcomeOf } from '@lamella/core'
import type { ChatOptions } from '@lamella/core'
import { callFunction, runIn, runModes, scriptedClient, testClock } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { ReplyRejectedError, retry } from './index.ts'
import type { RetryEvent, RetryOptions } from './index.ts'
import { failure, readUpdates, textsOf, withTime } from './failing-run.test-helper.ts'

function setUp(steps: Parameters<typeof scriptedClient>[0], options: RetryOptions = {}) {
  const clock = testClock()
  const client = scriptedClient(steps)
  const events: RetryEvent[] = []
  const middleware = retry({
    clock,
    random: () => 0.5,
    rejectReply: ({ response }) =>
      response.text === '' && response.functionCalls.length === 0 ? { reason: 'empty' } : undefined,
    onEvent: (event) => events.push(event),
    ...options,
  })
  return { clock, client, events, agent: new Agent({ client, middleware: middleware }) }
}

const empty = { messages: [], usage: { inputTokens: 4 } }

describe.each(runModes)('a rejected reply, %s', (mode) => {
  it('is asked for again, and its tokens count', async () => {
    const { agent, clock, events } = setUp([empty, { messages: 'Hi.', usage: { inputTokens: 5 } }])

    const response = await withTime(clock, runIn(mode, agent))

    expect(response.text).toBe('Hi.')
    expect(response.usage.inputTokens).toBe(9)
    expect(response.attempts).toMatchObject([
      { status: 'rejected', reason: 'empty', usage: { inputTokens: 4 }, delayMs: 250 },
      { status: 'ok', usage: { inputTokens: 5 } },
    ])
    expect(events).toMatchObject([{ status: 'retrying', reason: 'empty' }, { status: 'recovered' }])
  })

  it('is asked for with other input, which adds up over the tries and ends with the call', async () => {
    const { agent, client, clock } = setUp(['Bad.', 'Worse.', [callFunction('none')], 'Good.'], {
      rejectReply: ({ response, attempt, context }) => {
        if (response.text === 'Bad.') return { options: { temperature: 0 }, delayMs: 0 }
        if (response.text !== 'Worse.') return false
        const note = message('user', `Try ${attempt} was bad.`)
        return { messages: [...context.messages, note], delayMs: 0 }
      },
    })

    const response = await withTime(clock, runIn(mode, agent, { options: { model: 'm' } }))

    expect(response.text).toBe('Good.')
    expect(
      client.requests.map(({ messages, options }) => [
        messages.length,
        options.temperature,
        options.model,
      ]),
    ).toEqual([
      [1, undefined, 'm'],
      [1, 0, 'm'],
      [2, 0, 'm'],
      [3, undefined, 'm'],
    ])
  })

  it('fails the run when there is no better one, and no text of it is in the error', async () => {
    const { agent, clock } = setUp(() => 'A secret.', { rejectReply: () => true, maxRetries: 1 })

    const error: unknown = await withTime(clock, runIn(mode, agent)).catch(
      (thrown: unknown) => thrown,
    )

    expect(error).toBeInstanceOf(ReplyRejectedError)
    expect(error).toMatchObject({ code: 'reply_rejected', reason: 'rejected', tries: 2 })
    expect((error as Error).message).not.toContain('secret')
    expect(outcomeOf(error)?.attempts).toHaveLength(2)
  })

  it('may be taken after all when there is no better one', async () => {
    const { agent, clock } = setUp(() => 'So so.', {
      rejectReply: () => true,
      onExhausted: ({ response }) => response,
    })

    const response = await withTime(clock, runIn(mode, agent))

    expect(response.text).toBe('So so.')
    expect(response.attempts).toHaveLength(3)
  })

  it('is not asked for again where hosted tools may have acted', async () => {
    const { agent, client, events } = setUp(() => 'Bad.', { rejectReply: () => true })

    const tools = [hostedTool('code', { type: 'code_interpreter' })]
    const running = runIn(mode, agent, { tools })

    await expect(running).rejects.toMatchObject({ code: 'reply_rejected' })
    expect(client.requests).toHaveLength(1)
    expect(events).toMatchObject([{ because: 'unsafe_replay' }])
  })

  it('tells middlewares further in what it cost', async () => {
    const seen: (number | undefined)[] = []
    const meter = chatMiddleware('meter', async (_, callNext) => {
      seen.push((await callNext()).usage.inputTokens)
    })
    const { agent, clock } = setUp([empty, { messages: 'Hi.', usage: { inputTokens: 5 } }])

    await withTime(clock, runIn(mode, agent, { middleware: meter }))

    expect(seen).toEqual([4, 5])
  })

  it.each([
    [undefined, { mode: 'reload' }],
    ['default', { mode: 'reload' }],
    [
      { ttlMs: 5, mode: 'default' },
      { ttlMs: 5, mode: 'reload' },
    ],
    ['no-store', 'no-store'],
  ])('is not taken from a cache further in again: %j', async (cache, next) => {
    const { agent, client, clock } = setUp([empty, 'Hi.'])

    await withTime(clock, runIn(mode, agent, { options: { cache } as ChatOptions }))

    expect(client.requests.map(({ options }) => (options as { cache?: unknown }).cache)).toEqual([
      cache,
      next,
    ])
  })

  it('whose judge hangs ends with the run', async () => {
    const { agent } = setUp(['Hi.'], { rejectReply: () => new Promise(() => {}) })
    const controller = new AbortController()
    const running = runIn(mode, agent, { signal: controller.signal })
    running.catch(() => {})
    await new Promise((resolve) => setTimeout(resolve))

    controller.abort(new Error('enough'))

    await expect(running).rejects.toThrow('enough')
  })

  it('is only reported in shadow', async () => {
    const { agent, events } = setUp(['Bad.'], { rejectReply: () => true, mode: 'shadow' })

    const response = await runIn(mode, agent)

    expect(response.text).toBe('Bad.')
    expect(events).toMatchObject([{ status: 'retrying', reason: 'rejected', shadow: true }])
  })

  it('and a failure share one count of tries', async () => {
    const { agent, client, clock } = setUp([failure('server'), empty, failure('server')])

    await expect(withTime(clock, runIn(mode, agent))).rejects.toMatchObject({ kind: 'server' })
    client.assertDone()
  })

  it('fails the run with what the judge throws', async () => {
    const { agent } = setUp(['Hi.'], {
      rejectReply: () => {
        throw new Error('judge broke')
      },
    })

    await expect(runIn(mode, agent)).rejects.toThrow('judge broke')
  })
})

describe('a streamed reply that is judged', () => {
  it('is held back until then: nothing of a rejected one is sent', async () => {
    const { agent, clock } = setUp(['Bad bad bad.', 'Good.'], {
      rejectReply: ({ response }) => response.text.startsWith('Bad'),
    })

    const { updates, response } = await withTime(clock, readUpdates(agent))

    expect(textsOf(updates).join('')).toBe('Good.')
    expect(updates.some(({ restart }) => restart)).toBe(false)
    expect(response?.text).toBe('Good.')
  })

  it('is sent live where restarts were asked for, and superseded when it is rejected', async () => {
    const { agent, clock } = setUp(['Bad.', 'Good.'], {
      stream: 'restart',
      rejectReply: ({ response }) => response.text.startsWith('Bad'),
    })

    const { updates, response } = await withTime(clock, readUpdates(agent))

    const at = updates.findIndex(({ restart }) => restart)
    expect(textsOf(updates.slice(0, at)).join('')).toBe('Bad.')
    expect(textsOf(updates.slice(at)).join('')).toBe('Good.')
    expect(response?.text).toBe('Good.')
  })

  it('is not judged where streams are never repeated', async () => {
    const { agent } = setUp(['Bad.'], { stream: 'never', rejectReply: () => true })

    expect((await readUpdates(agent)).response?.text).toBe('Bad.')
  })
})
