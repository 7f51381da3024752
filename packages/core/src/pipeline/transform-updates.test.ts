import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it, test } from 'vitest'
import type { AgentResponseUpdate, Middleware } from '../index.ts'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  chatResponse,
  createSession,
  messageText,
  MiddlewareTermination,
  ProviderError,
  text,
  textOf,
} from '../index.ts'
import { respondIn } from '../run/run.test-helper.ts'
import type { Transformer } from './transform-updates.test-helper.ts'
import { transforming, editing, adding, look } from './transform-updates.test-helper.ts'

describe.each(runModes)('what a transform does to updates, %s', (mode) => {
  const run = async (middleware: Middleware | readonly Middleware[], answer = 'Some words.') => {
    const client = scriptedClient([answer], { chunk: 4 })
    const response = await runIn(mode, new Agent({ client, middleware }))
    expect(client.openStreams).toBe(0)
    return response
  }

  it('a transform passes them on', async () => {
    const pass: Transformer = { transform: (update, controller) => controller.enqueue(update) }

    expect((await run(transforming(pass))).text).toBe('Some words.')
  })

  it('a transform replaces them', async () => {
    expect((await run(transforming(editing((value) => value.toUpperCase())))).text).toBe(
      'SOME WORDS.',
    )
  })

  it('a transform drops them', async () => {
    const drop: Transformer = {
      transform(update, controller) {
        if (update.contents.length === 0) controller.enqueue(update)
      },
    }

    const { text: got, messages, finishReason } = await run(transforming(drop))

    expect([got, messages, finishReason]).toEqual(['', [], 'stop'])
  })

  it('a transform makes many of one', async () => {
    const double: Transformer = {
      transform(update, controller) {
        for (const content of update.contents) {
          if (content.type !== 'text') continue
          for (const character of content.text) {
            controller.enqueue({ ...update, contents: [text(character)] })
            controller.enqueue({ ...update, contents: [text(character)] })
          }
        }
      },
    }

    expect((await run(transforming(double), 'abc')).text).toBe('aabbcc')
  })

  it('a transform may take its time, and order is kept', async () => {
    const slow: Transformer = {
      async transform(update, controller) {
        controller.enqueue({ ...update, contents: update.contents.slice(0, 1) })
        await Promise.resolve()
        controller.enqueue({ contents: update.contents.length > 0 ? [text('|')] : [] })
      },
      async flush(controller) {
        await Promise.resolve()
        controller.enqueue({ contents: [text('end')] })
      },
    }

    const { text: got } = await run([transforming(slow), transforming(slow)], 'abcd')

    expect(got).toBe('abcd|||end|end')
  })

  it('a transform adds at the start and at the end', async () => {
    const around: Transformer = {
      start: (controller) => controller.enqueue({ contents: [text('<')] }),
      flush: (controller) => controller.enqueue({ contents: [text('>')] }),
    }

    expect((await run(transforming(around))).text).toBe('<Some words.>')
  })

  it('what it adds at the start passes the transforms further out, as all else does', async () => {
    const around: Transformer = {
      start: (controller) => controller.enqueue({ contents: [text('a')] }),
      flush: (controller) => controller.enqueue({ contents: [text('z')] }),
    }
    const upper = transforming(editing((value) => value.toUpperCase()))

    expect((await run([upper, transforming(around)])).text).toBe('ASOME WORDS.Z')
    expect((await run([transforming(around), upper])).text).toBe('aSOME WORDS.z')
  })

  it('what an outer one adds at the start comes first, also if it takes its time', async () => {
    const late: Transformer = {
      async start(controller) {
        await Promise.resolve()
        controller.enqueue({ contents: [text('A ')] })
      },
    }
    const early: Transformer = {
      start: (controller) => controller.enqueue({ contents: [text('B ')] }),
    }

    const { text: whole } = await run([transforming(late, 'agent'), transforming(early)])

    expect(whole).toBe('A B Some words.')
  })

  it('a transform ends them, and what would have come from inside is not asked for', async () => {
    const first: Transformer = {
      transform(update, controller) {
        controller.enqueue({ ...update, contents: [text('Only this.')] })
        controller.terminate()
        controller.enqueue(update)
      },
    }

    const { text: got } = await run([transforming(adding('!')), transforming(first)])

    expect(got).toBe('Only this.!')
  })

  it('a transform that ends them again changes nothing', async () => {
    const none: Transformer = {
      transform(_, controller) {
        controller.terminate()
        controller.terminate()
      },
    }

    expect((await run(transforming(none))).text).toBe('')
  })

  it('what it makes after it has ended them does not leave it', async () => {
    const three: Transformer = {
      transform(update, controller) {
        for (const value of ['a', 'b', 'c'])
          controller.enqueue({ ...update, contents: [text(value)] })
      },
    }
    const first: Transformer = {
      transform(update, controller) {
        controller.enqueue(update)
        controller.terminate()
      },
    }

    expect((await run([transforming(first), transforming(three)])).text).toBe('a')
  })

  it('the innermost middleware’s come first', async () => {
    const middleware = ['1', '2', '3'].map((name) =>
      transforming(editing((value) => `${name}${value}`)),
    )
    const client = scriptedClient(['.'], { chunk: 'whole' })

    const { text: got } = await runIn(mode, new Agent({ client, middleware }))

    expect(got).toBe('123.')
  })

  it('of one middleware, the last registered comes first', async () => {
    const both = chatMiddleware('both', (context, callNext) => {
      context.transformUpdates(adding('a'))
      context.transformUpdates(adding('b'))
      return callNext()
    })

    expect((await run(both)).text).toBe('Some words.ba')
  })

  it('chat middlewares’ come before agent middlewares’, whose transforms see tool results too', async () => {
    const redact = transforming(editing((value) => value.replace('secret', '***')))
    const results: AgentResponseUpdate[] = []
    const observe: Transformer = {
      transform(update, controller) {
        if (update.role === 'tool') results.push(update)
        controller.enqueue(update)
      },
    }
    const exclaim = transforming(
      editing((value) => `${value}!`),
      'agent',
    )
    const client = scriptedClient([callFunction('look'), 'A secret.'], { chunk: 'whole' })
    const middleware = [exclaim, transforming(observe, 'agent'), redact]

    const response = await runIn(mode, new Agent({ client, tools: [look], middleware }))

    expect(response.text).toBe('A ***.!')
    expect(results.flatMap(({ contents }) => contents)).toMatchObject([{ type: 'function-result' }])
  })

  it('what it throws fails the call', async () => {
    const broken: Transformer = {
      transform() {
        throw new Error('broken')
      },
    }

    await expect(run(transforming(broken))).rejects.toThrow('broken')
    await expect(
      run(transforming({ start: () => Promise.reject(new Error('s')) })),
    ).rejects.toThrow('s')
    await expect(
      run(transforming({ flush: () => Promise.reject(new Error('f')) })),
    ).rejects.toThrow('f')
    await expect(run(transforming(broken, 'agent'))).rejects.toThrow('broken')
  })

  it('what it throws can be caught by its own middleware and by those outside', async () => {
    const recovering = chatMiddleware('recovering', async (context, callNext) => {
      context.transformUpdates({
        transform() {
          throw new Error('broken')
        },
      })
      await callNext().catch(() => {
        context.result = 'Recovered.'
      })
    })

    expect((await run(recovering)).text).toBe('Recovered.')
  })

  it.each([
    ['chat', chatMiddleware],
    ['agent', agentMiddleware],
  ] as const)(
    'what a failed model call had said does not pass those of %s middlewares in its error',
    async (level, outside) => {
      const said: unknown[] = []
      const reading = (name: string) =>
        outside(name, async (_: unknown, callNext: () => Promise<unknown>) => {
          await callNext().catch((error: ProviderError) => {
            said.push([name, error.partial?.text])
            throw error
          })
        })
      const failure = new ProviderError('cut off', {
        kind: 'network',
        provider: 'scripted',
        partial: chatResponse('a secret'),
      })
      const client = scriptedClient([failure])
      const middle = transforming({ transform() {} }, level)
      const agent = new Agent({ client, middleware: [reading('out'), middle, reading('in')] })

      await expect(runIn(mode, agent)).rejects.toBe(failure)

      expect(said).toEqual([
        ['in', 'a secret'],
        ['out', ''],
      ])
    },
  )

  it('a transform registered after callNext() is refused, naming the middleware', async () => {
    const late = chatMiddleware('late', async (context, callNext) => {
      await callNext()
      context.transformUpdates(adding('!'))
    })

    await expect(run(late)).rejects.toThrow(/"late" called transformUpdates\(\) after callNext\(\)/)
  })

  it('what was streamed, the result, history and the next model call are the same thing', async () => {
    const session = createSession()
    const redact = transforming(editing((value) => value.replaceAll('secret', '***')))
    const client = scriptedClient([['A secret.', callFunction('look')], 'The secret.'], {
      chunk: 'whole',
    })

    const response = await runIn(mode, new Agent({ client, tools: [look], middleware: redact }), {
      session,
    })

    expect(response.text).toBe('A ***.The ***.')
    expect(session.messages.map(messageText).join('')).toBe('HelloA ***.The ***.')
    expect(client.requests[1]!.messages.map(messageText)).toEqual(['Hello', 'A ***.', ''])
  })

  it('an agent middleware’s transform is what history stores, though the next call reads the chat middlewares’', async () => {
    const session = createSession()
    const redact = transforming(
      editing((value) => value.replaceAll('secret', '***')),
      'agent',
    )
    const client = scriptedClient([['A secret.', callFunction('look')], 'Done.'], {
      chunk: 'whole',
    })

    await runIn(mode, new Agent({ client, tools: [look], middleware: redact }), { session })

    expect(session.messages.map(messageText).join('')).toBe('HelloA ***.Done.')
    expect(client.requests[1]!.messages.map(messageText)).toEqual(['Hello', 'A secret.', ''])
  })
})

describe.each(runModes)('which results pass which transforms, %s', (mode) => {
  const outer = transforming(adding(' outer'))
  const inner = transforming(adding(' inner'))
  const own = (process: 'before' | 'after'): Middleware =>
    chatMiddleware('own', async (context, callNext) => {
      context.transformUpdates(adding(' own'))
      if (process === 'after') await callNext()
      context.result = 'Set.'
    })

  it.each(['before', 'after'] as const)(
    'a result that a middleware sets %s callNext() passes those outside it and not its own',
    async (when) => {
      const client = scriptedClient(['Done.'])

      const { text: got } = await runIn(
        mode,
        new Agent({ client, middleware: [outer, own(when), inner] }),
      )

      expect(got).toBe('Set. outer')
    },
  )

  it('a model’s answer passes all of them once', async () => {
    const client = scriptedClient(['Done.'])

    const { text: got } = await runIn(mode, new Agent({ client, middleware: [outer, inner] }))

    expect(got).toBe('Done. inner outer')
  })

  it('an agent middleware’s result passes those of the agent middlewares outside', async () => {
    const short = agentMiddleware('short', (context) => {
      context.result = 'Set.'
    })
    const middleware = [transforming(adding(' outer'), 'agent'), short, inner]

    const { text: got } = await runIn(mode, new Agent({ client: scriptedClient([]), middleware }))

    expect(got).toBe('Set. outer')
  })

  it('on a second callNext() inner middlewares register anew, and what they had registered is gone', async () => {
    const retry = chatMiddleware('retry', async (context, callNext) => {
      context.transformUpdates(adding(' retry'))
      await callNext().catch(() => callNext())
    })
    let attempts = 0
    const counting = chatMiddleware('counting', (context, callNext) => {
      context.transformUpdates(adding(` attempt ${++attempts}`))
      return callNext()
    })
    const client = scriptedClient([new Error('refused'), 'Done.'])

    const { text: got } = await runIn(mode, new Agent({ client, middleware: [retry, counting] }))

    expect(got).toBe('Done. attempt 2 retry')
  })

  it('a transform starts anew with each pass, and may reset what it keeps', async () => {
    const log: string[] = []
    const counting: Transformer = {
      start: () => void log.push('start'),
      flush: () => void log.push('flush'),
    }
    const replacing = chatMiddleware('replacing', async (context, callNext) => {
      await callNext().catch(() => callNext())
      context.result = 'Replaced.'
    })
    const client = scriptedClient([{ updates: ['some'], error: new Error('cut') }, 'Done.'])

    await runIn(mode, new Agent({ client, middleware: [transforming(counting), replacing] }))

    const failed = mode === 'plain' ? [] : ['start']
    expect(log).toEqual([...failed, 'start', 'flush', 'start', 'flush'])
  })

  it('a run can begin anew after a transform failed on a tool result', async () => {
    let runs = 0
    const retry = agentMiddleware('retry', (_, callNext) => callNext().catch(() => callNext()))
    const failing = agentMiddleware('failing', (context, callNext) => {
      const isFirst = runs++ === 0
      context.transformUpdates({
        transform(update, controller) {
          if (isFirst && update.role === 'tool') throw new Error('broken')
          controller.enqueue(update)
        },
      })
      return callNext()
    })
    const client = scriptedClient(({ messages }) =>
      messages.at(-1)!.role === 'user' ? callFunction('look') : 'Done.',
    )
    const agent = new Agent({ client, tools: [look], middleware: [retry, failing] })

    expect([(await runIn(mode, agent)).text, runs]).toEqual(['Done.', 2])
  })

  it('a client’s middlewares transform without an agent', async () => {
    const client = scriptedClient(['Done.'], { middleware: [outer, inner] as never })

    expect((await respondIn(mode, client)).text).toBe('Done. inner outer')
  })
})

test.each(runModes)(
  'what a termination puts in place of a termination passes no transform again, %s',
  async (mode) => {
    const strict = agentMiddleware('strict', async (context, callNext) => {
      context.transformUpdates({
        transform(update, controller) {
          const words = textOf(update.contents)
          if (words === 'One.') throw new MiddlewareTermination('two', { result: 'Two.' })
          controller.enqueue({ ...update, contents: [text(`${words}!`)] })
        },
      })
      await callNext()
    })
    const ending = agentMiddleware('ending', () => {
      throw new MiddlewareTermination('one', { result: 'One.' })
    })
    const agent = new Agent({ client: scriptedClient([]), middleware: [strict, ending] })

    const { text: got, reason } = await runIn(mode, agent)

    expect([got, reason]).toEqual(['Two.', 'two'])
  },
)
