import { callFunction, runIn, runModes, scriptedClient, testClock } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { callWithin } from '../authoring.ts'
import { Agent, chatMiddleware, GuardrailTripped, outcomeOf, textOf } from '../index.ts'
import type { ChatMiddleware } from '../index.ts'
import { readUpdates } from '../run/run.test-helper.ts'

const late = new Error('late')

function within(clock: ReturnType<typeof testClock>, ms: number): ChatMiddleware {
  return chatMiddleware('within', (context, callNext) =>
    callWithin(context, callNext, {
      clock,
      late: async (over) => {
        await clock.sleep(ms, over)
        return late
      },
    }),
  )
}

describe.each(runModes)('callWithin, %s', (mode) => {
  it('leaves a call that is in time alone, and nothing waits behind it', async () => {
    const clock = testClock()
    const client = scriptedClient([callFunction('none'), 'Hi.'])
    const agent = new Agent({ client, middleware: within(clock, 100) })

    await expect(runIn(mode, agent)).resolves.toMatchObject({ text: 'Hi.' })
    expect(clock.sleeping).toBe(0)
  })

  it('ends what is late with the error that it was given, and aborts the request with it', async () => {
    const clock = testClock()
    const heard: unknown[] = []
    const client = scriptedClient(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            heard.push(signal.reason)
            reject(new DOMException('stopped', 'AbortError'))
          })
        }),
    )
    const running = runIn(mode, new Agent({ client, middleware: within(clock, 100) }))
    running.catch(() => {})

    await clock.advance(100)

    const error = await running.catch((thrown: unknown) => thrown)
    expect(error).toBe(late)
    expect(outcomeOf(error)?.status).toBe('failed')
    expect(heard).toEqual([late])
    expect(clock.sleeping).toBe(0)
  })

  it('ends with that error also what fails with another one when it is aborted', async () => {
    const clock = testClock()
    const listening = chatMiddleware(
      'listening',
      ({ signal }) =>
        new Promise<void>((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('stopped')))
        }),
    )
    const middleware = [within(clock, 100), listening]
    const running = runIn(mode, new Agent({ client: scriptedClient([]), middleware }))
    running.catch(() => {})

    await clock.advance(100)

    await expect(running).rejects.toBe(late)
  })

  it('lets the error of a call that is in time pass', async () => {
    const broken = new Error('broken')
    const agent = new Agent({
      client: scriptedClient([broken]),
      middleware: within(testClock(), 100),
    })

    await expect(runIn(mode, agent)).rejects.toBe(broken)
  })

  it('ends also what does not listen', async () => {
    const clock = testClock()
    const deaf = chatMiddleware('deaf', () => new Promise<void>(() => {}))
    const agent = new Agent({ client: scriptedClient([]), middleware: [within(clock, 100), deaf] })
    const running = runIn(mode, agent)
    running.catch(() => {})

    await clock.advance(100)

    await expect(running).rejects.toBe(late)
  })

  it('lets what steers the run pass, also when it is late', async () => {
    const clock = testClock()
    const guardrail = chatMiddleware('guardrail', async ({ signal }) => {
      await clock.sleep(1000, signal).catch(() => {
        const block = {
          guardrail: 'g',
          level: 'chat',
          stage: 'input',
          category: 'c',
          message: 'No.',
        } as const
        throw new GuardrailTripped(block)
      })
    })
    const agent = new Agent({
      client: scriptedClient([]),
      middleware: [within(clock, 100), guardrail],
    })
    const running = runIn(mode, agent)

    await clock.advance(100)

    await expect(running).resolves.toMatchObject({ status: 'blocked' })
  })

  it('rejects with the reason of the run where that was aborted', async () => {
    const clock = testClock()
    const controller = new AbortController()
    const client = scriptedClient([{ updates: [], hang: true }])
    const agent = new Agent({ client, middleware: within(clock, 100) })
    const running = runIn(mode, agent, { signal: controller.signal })
    running.catch(() => {})
    await clock.advance(1)

    controller.abort(new Error('enough'))

    await expect(running).rejects.toThrow('enough')
    expect(clock.sleeping).toBe(0)
  })
})

it('gives the context its signal back, and leaves that of the call alone afterwards', async () => {
  const clock = testClock()
  const controller = new AbortController()
  const context = { signal: controller.signal }
  let inner: AbortSignal | undefined
  const callNext = async () => void (inner = context.signal)

  await callWithin(context, callNext, { clock, late: (over) => clock.sleep(100, over) })
  controller.abort()

  expect(context.signal).toBe(controller.signal)
  expect(inner?.aborted).toBe(false)
})

it('ends the wait of a call that fails at once', async () => {
  const clock = testClock()
  const context = { signal: new AbortController().signal }
  const callNext = (): Promise<never> => {
    throw late
  }

  const calling = callWithin(context, callNext, { clock, late: (over) => clock.sleep(100, over) })

  await expect(calling).rejects.toBe(late)
  expect(clock.sleeping).toBe(0)
})

it('leaves a reader who is slow the events that came before it was late', async () => {
  const clock = testClock()
  let emit = (): void => {}
  const telling = chatMiddleware('telling', ({ run }, callNext) => {
    emit = () => run.emit({ type: 'slow' })
    return callNext()
  })
  const client = scriptedClient([{ updates: ['Hi.'], hang: true }])
  const stream = new Agent({ client, middleware: [within(clock, 100), telling] }).run('Hello', {
    stream: true,
  })
  const iterator = stream[Symbol.asyncIterator]()

  await iterator.next()
  emit()
  await clock.advance(100)

  expect((await iterator.next()).value?.event?.type).toBe('slow')
  await expect(iterator.next()).rejects.toBe(late)
})

it('shows nothing of what a transform makes of a call that was late', async () => {
  const clock = testClock()
  let release = (): void => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const slow = chatMiddleware('slow', (context, callNext) => {
    context.transformUpdates({
      async transform(update, controller) {
        await released
        controller.enqueue(update)
      },
    })
    return callNext()
  })
  const recovering = chatMiddleware('recovering', async (context, callNext) => {
    await callNext().catch(async () => {
      release()
      await new Promise((resolve) => setTimeout(resolve))
      context.result = 'Recovered.'
    })
  })
  const client = scriptedClient([{ updates: ['Hi.'], hang: true }])
  const agent = new Agent({ client, middleware: [recovering, within(clock, 100), slow] })
  const reading = readUpdates(agent)

  await clock.advance(100)
  const { updates } = await reading

  expect(updates.map(({ contents }) => textOf(contents)).join('')).toBe('Recovered.')
})
