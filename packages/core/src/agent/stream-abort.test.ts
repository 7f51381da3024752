import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { Middleware } from '../index.ts'
import {
  Agent,
  GuardrailTripped,
  LamellaError,
  agentMiddleware,
  chatMiddleware,
  functionMiddleware,
  jsonSchema,
  outcomeOf,
  text,
  tool,
} from '../index.ts'
import { respondIn } from '../run/run.test-helper.ts'

const enough = new Error('enough')

/** Middleware that writes down how it is left. */
function watching(log: string[]): Middleware[] {
  const process =
    (name: string) =>
    async (_: unknown, callNext: () => Promise<unknown>): Promise<void> => {
      try {
        await callNext()
        log.push(`${name} after`)
      } finally {
        log.push(`${name} finally`)
      }
    }
  return [
    agentMiddleware('agent', process('agent')),
    chatMiddleware('chat', process('chat')),
    functionMiddleware('function', process('function')),
  ]
}

/** A signal that knows who listens to it. */
function countedController() {
  const controller = new AbortController()
  const { signal } = controller
  const listening = new Set<unknown>()
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listening.add(args[1])
    add(...args)
  }
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listening.delete(args[1])
    remove(...args)
  }
  return { controller, signal, listening }
}

function tripped(): GuardrailTripped {
  return new GuardrailTripped({
    guardrail: 'g',
    level: 'chat',
    stage: 'input',
    category: 'c',
    message: 'Blocked.',
  })
}

const hanging = { updates: ['one ', 'two '], hang: true }
const left = ['chat finally', 'agent finally']

describe('leaving the loop', () => {
  it('aborts the request, unwinds the middlewares and cleans up once before it is left', async () => {
    const log: string[] = []
    const client = scriptedClient([hanging])
    const stream = new Agent({ client, middleware: watching(log) })
      .run('Hello', { stream: true })
      .withCleanupHook(() => log.push('cleanup'))

    for await (const _ of stream) break
    log.push('left')

    expect(log).toEqual([...left, 'cleanup', 'left'])
    expect(client.requests[0]!.signal.aborted).toBe(true)
    expect(client.openStreams).toBe(0)
  })

  it('by an error in its body does the same', async () => {
    const log: string[] = []
    const client = scriptedClient([hanging])
    const stream = new Agent({ client, middleware: watching(log) }).run('Hello', { stream: true })

    const reading = (async () => {
      for await (const _ of stream) throw enough
    })()

    await expect(reading).rejects.toBe(enough)
    expect([log, client.openStreams]).toEqual([left, 0])
  })

  it('at any update leaves what came until then on outcome(), and the final value rejects', async () => {
    const client = scriptedClient(() => ['one ', callFunction('look')], { chunk: 'whole' })
    const agent = new Agent({ client, functionInvocation: { enabled: false } })
    const stream = agent.run('Hello', { stream: true })

    for await (const _ of stream) break

    const outcome = await stream.outcome()
    expect(outcome).toMatchObject({
      status: 'aborted',
      error: { code: 'aborted' },
      partial: { text: 'one ' },
    })
    await expect(stream.finalResponse()).rejects.toBe(outcome.status === 'aborted' && outcome.error)
  })

  it('ends the reader: what it asks for then is done', async () => {
    const stream = new Agent({ client: scriptedClient([hanging]) }).run('Hello', { stream: true })
    const iterator = stream[Symbol.asyncIterator]()
    await iterator.next()

    expect(await iterator.return!()).toEqual({ done: true, value: undefined })
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
  })

  it('while a tool runs ends the tool', async () => {
    const log: string[] = []
    const waiting = tool({
      name: 'wait',
      description: 'Waits.',
      parameters: jsonSchema({ type: 'object' }),
      execute: (_, { signal, run }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            log.push('tool aborted')
            reject(signal.reason as Error)
          })
          run.emit({ type: 'waiting' })
        }),
    })
    const client = scriptedClient([callFunction('wait')])
    const agent = new Agent({ client, tools: [waiting], middleware: watching(log) })

    for await (const { event } of agent.run('Hello', { stream: true })) {
      if (event?.type === 'waiting') break
    }

    expect(log).toEqual([
      'chat after',
      'chat finally',
      'tool aborted',
      'function finally',
      'agent finally',
    ])
  })

  it('is not answered by a middleware that takes it for a failure', async () => {
    const retry = chatMiddleware('retry', (_, callNext) => callNext().catch(() => callNext()))
    const recovering = agentMiddleware('recovering', async (context, callNext) => {
      await callNext().catch(() => {
        context.result = 'Recovered.'
      })
    })
    const client = scriptedClient([hanging, 'Again.'])
    const stream = new Agent({ client, middleware: [recovering, retry] }).run('Hello', {
      stream: true,
    })

    for await (const _ of stream) break

    expect((await stream.outcome()).status).toBe('aborted')
    await expect(stream.finalResponse()).rejects.toMatchObject({ code: 'aborted' })
    expect(client.openStreams).toBe(0)
  })
})

describe('cancel()', () => {
  it('while the reader waits rejects its pull and the final value with the reason', async () => {
    const log: string[] = []
    const client = scriptedClient([{ updates: [], hang: true }])
    const stream = new Agent({ client, middleware: watching(log) }).run('Hello', { stream: true })
    const pending = stream[Symbol.asyncIterator]().next()
    await Promise.resolve()

    const [settled] = await Promise.allSettled([pending, stream.cancel(enough)])

    expect(settled).toEqual({ status: 'rejected', reason: enough })
    await expect(stream.finalResponse()).rejects.toBe(enough)
    expect([log, client.openStreams]).toEqual([left, 0])
  })

  it('before anything was read starts nothing', async () => {
    const log: string[] = []
    const client = scriptedClient([])
    const stream = new Agent({ client, middleware: watching(log) })
      .run('Hello', { stream: true })
      .withCleanupHook(() => log.push('cleanup'))

    await stream.cancel(enough)

    await expect(stream.finalResponse()).rejects.toBe(enough)
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toBe(enough)
    await new Promise((resolve) => setTimeout(resolve))
    expect([log, client.requests]).toEqual([['cleanup'], []])
  })

  it('after the end changes nothing', async () => {
    const stream = new Agent({ client: scriptedClient(['Done.']) }).run('Hello', { stream: true })
    await stream.finalResponse()

    await stream.cancel(enough)

    expect((await stream.finalResponse()).text).toBe('Done.')
  })

  it('twice cleans up once, with the first reason', async () => {
    const log: string[] = []
    const stream = new Agent({ client: scriptedClient([hanging]) })
      .run('Hello', { stream: true })
      .withCleanupHook(() => log.push('cleanup'))
    await stream[Symbol.asyncIterator]().next()

    await Promise.all([stream.cancel(enough), stream.cancel(new Error('second'))])

    await expect(stream.finalResponse()).rejects.toBe(enough)
    expect(log).toEqual(['cleanup'])
  })

  it('without a reason says that it was cancelled', async () => {
    const stream = new Agent({ client: scriptedClient([]) }).run('Hello', { stream: true })

    await stream.cancel()

    await expect(stream.finalResponse()).rejects.toSatisfy((error) =>
      LamellaError.is(error, 'aborted'),
    )
  })

  it('by `await using` ends a stream that goes out of scope', async () => {
    const client = scriptedClient([hanging])
    const stream = new Agent({ client }).run('Hello', { stream: true })
    await stream[Symbol.asyncIterator]().next()

    await stream[Symbol.asyncDispose]()

    expect([(await stream.outcome()).status, client.openStreams]).toEqual(['aborted', 0])
  })

  it('ends a middleware that calls the model again with a signal of its own', async () => {
    const stubborn = chatMiddleware('stubborn', (context, callNext) =>
      callNext().catch(() => {
        context.signal = new AbortController().signal
        return callNext()
      }),
    )
    const client = scriptedClient([{ updates: [], hang: true }, 'Again.'])
    const stream = new Agent({ client, middleware: stubborn }).run('Hello', { stream: true })
    const pending = stream[Symbol.asyncIterator]().next()
    await Promise.resolve()

    const [settled] = await Promise.allSettled([pending, stream.cancel(enough)])

    expect(settled).toEqual({ status: 'rejected', reason: enough })
    expect(client.openStreams).toBe(0)
  })

  it.each([new Error('failed'), tripped()])(
    'rejects with its reason, whatever a middleware throws then: %s',
    async (error) => {
      const failing = agentMiddleware('failing', (_, callNext) =>
        callNext().catch(() => {
          throw error
        }),
      )
      const client = scriptedClient([{ updates: [], hang: true }])
      const stream = new Agent({ client, middleware: failing }).run('Hello', { stream: true })
      const contents: unknown[] = []
      const reading = (async () => {
        for await (const update of stream) contents.push(...update.contents)
      })()
      await Promise.resolve()

      await stream.cancel(enough)

      await expect(reading).rejects.toBe(enough)
      expect(contents).toEqual([])
      expect(await stream.outcome()).toMatchObject({ status: 'aborted', error: enough })
    },
  )

  it('by a transform shows nothing more', async () => {
    const cancelling = chatMiddleware('cancelling', (context, callNext) => {
      context.transformUpdates({
        transform(update, controller) {
          void stream.cancel(enough)
          controller.enqueue(update)
        },
      })
      return callNext()
    })
    const client = scriptedClient([hanging])
    const stream = new Agent({ client, middleware: cancelling }).run('Hello', { stream: true })

    await expect(stream[Symbol.asyncIterator]().next()).rejects.toBe(enough)
  })

  it('after the run has ended leaves its end and what was not read as they are', async () => {
    const blocking = chatMiddleware('blocking', () => {
      throw tripped()
    })
    const wordy = agentMiddleware('wordy', ({ run }, callNext) => {
      run.emit({ type: 'begins' })
      return callNext()
    })
    const stream = new Agent({ client: scriptedClient([]), middleware: [wordy, blocking] }).run(
      'Hello',
      { stream: true },
    )
    const iterator = stream[Symbol.asyncIterator]()
    await iterator.next()
    await new Promise((resolve) => setTimeout(resolve))

    await stream.cancel(enough)

    expect((await stream.finalResponse()).status).toBe('blocked')
    expect((await iterator.next()).value).toMatchObject({ contents: [text('Blocked.')] })
  })

  it('shows nothing of what had been made and not been read', async () => {
    const many = chatMiddleware('many', (context, callNext) => {
      context.transformUpdates({
        transform(update, controller) {
          for (let at = 0; at < 3; at++) controller.enqueue(update)
        },
      })
      return callNext()
    })
    const client = scriptedClient([hanging])
    const stream = new Agent({ client, middleware: many }).run('Hello', { stream: true })
    const iterator = stream[Symbol.asyncIterator]()
    await iterator.next()

    await stream.cancel(enough)

    await expect(iterator.next()).rejects.toBe(enough)
  })
})

describe.each(runModes)('the caller’s signal, %s', (mode) => {
  it('ends a run that waits for the model, with its reason; middlewares unwind, nothing listens on', async () => {
    const log: string[] = []
    const { controller, signal, listening } = countedController()
    const client = scriptedClient(() => {
      queueMicrotask(() => controller.abort(enough))
      return hanging
    })

    const running = runIn(mode, new Agent({ client, middleware: watching(log) }), { signal })

    await expect(running).rejects.toBe(enough)
    expect(log).toEqual(left)
    expect([listening.size, client.openStreams]).toEqual([0, 0])
    expect(client.requests[0]!.signal.aborted).toBe(true)
  })

  it('that was aborted before calls nothing', async () => {
    const log: string[] = []
    const { controller, signal, listening } = countedController()
    controller.abort(enough)
    const client = scriptedClient([])

    const running = runIn(mode, new Agent({ client, middleware: watching(log) }), { signal })

    await expect(running).rejects.toBe(enough)
    expect([log, client.requests, listening.size]).toEqual([[], [], 0])
  })

  it('has no listener left after a run that completes', async () => {
    const { signal, listening } = countedController()
    const agent = new Agent({ client: scriptedClient(() => 'Done.') })

    await runIn(mode, agent, { signal })
    await runIn(mode, agent, { signal })

    expect(listening.size).toBe(0)
  })

  it('ends a client’s own call too', async () => {
    const { controller, signal, listening } = countedController()
    const client = scriptedClient(() => {
      queueMicrotask(() => controller.abort(enough))
      return hanging
    })

    await expect(respondIn(mode, client, { signal })).rejects.toBe(enough)
    expect([listening.size, client.openStreams]).toEqual([0, 0])
  })

  it('reaches every context, and the tool', async () => {
    const { controller, signal } = countedController()
    const seen: AbortSignal[] = []
    const note = async (
      context: { readonly signal: AbortSignal },
      callNext: () => Promise<unknown>,
    ): Promise<void> => {
      seen.push(context.signal)
      await callNext()
    }
    const look = tool({
      name: 'look',
      description: 'Looks.',
      parameters: jsonSchema({ type: 'object' }),
      execute(_, context) {
        seen.push(context.signal)
        controller.abort(enough)
        return 'found'
      },
    })
    const middleware = [
      agentMiddleware('a', note),
      chatMiddleware('c', note),
      functionMiddleware('f', note),
    ]
    const agent = new Agent({
      client: scriptedClient([callFunction('look')]),
      tools: [look],
      middleware,
    })

    await expect(runIn(mode, agent, { signal })).rejects.toBe(enough)
    expect(seen).toHaveLength(4)
    expect(seen.every(({ aborted, reason }) => aborted && reason === enough)).toBe(true)
  })

  it('that ends a run leaves its outcome on the error', async () => {
    const { controller, signal } = countedController()
    const look = tool({
      name: 'look',
      description: 'Looks.',
      parameters: jsonSchema({ type: 'object' }),
      execute: () => controller.abort(enough),
    })
    const client = scriptedClient([['Let me look.', callFunction('look')]])

    const error: unknown = await runIn(mode, new Agent({ client, tools: [look] }), {
      signal,
    }).catch((caught: unknown) => caught)

    expect(outcomeOf(error)).toMatchObject({
      status: 'aborted',
      messages: [
        { role: 'assistant', contents: [text('Let me look.'), { type: 'function-call' }] },
        { role: 'tool' },
      ],
      usage: { totalTokens: 15 },
    })
  })

  it('a reason that is no error is passed on as it is', async () => {
    const { controller, signal } = countedController()
    controller.abort('enough')

    await expect(runIn(mode, new Agent({ client: scriptedClient([]) }), { signal })).rejects.toBe(
      'enough',
    )
  })
})

describe('a signal while nobody reads', () => {
  it('ends a paused stream: cleanup runs, and the reader who comes back learns of it', async () => {
    const log: string[] = []
    const { controller, signal, listening } = countedController()
    const client = scriptedClient([hanging])
    const stream = new Agent({ client, middleware: watching(log) })
      .run('Hello', { stream: true, signal })
      .withCleanupHook(() => log.push('cleanup'))
    const iterator = stream[Symbol.asyncIterator]()
    await iterator.next()

    controller.abort(enough)
    const outcome = await stream.outcome()

    expect(outcome).toMatchObject({ status: 'aborted', error: enough, partial: { text: 'one ' } })
    expect([log, listening.size]).toEqual([[...left, 'cleanup'], 0])
    await expect(iterator.next()).rejects.toBe(enough)
  })

  it('has no listener for a stream that was never read', () => {
    const { signal, listening } = countedController()

    new Agent({ client: scriptedClient([]) }).run('Hello', { stream: true, signal })

    expect(listening.size).toBe(0)
  })
})
