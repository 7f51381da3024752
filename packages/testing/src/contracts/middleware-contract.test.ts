import { EventEmitter } from 'node:events'
import type { ChatMiddleware, ChatResponse, Content, MiddlewareInput } from '@lamella/core'
import {
  agentMiddleware,
  chatMiddleware,
  createId,
  functionMiddleware,
  isProviderError,
} from '@lamella/core'
import { describe, expect, it, vi } from 'vitest'
import type { Clock } from '@lamella/core/authoring'
import { systemClock } from '@lamella/core/authoring'
import { assertChunkInvariant, describeContract, middlewareContract } from '../index.ts'
import { unhandledRejections } from './unhandled-rejections.ts'

/** Replaces a word, whatever it is cut into, by holding back what could still become it. */
function replaceWord(word: string, by: string): ChatMiddleware {
  return chatMiddleware('replace-word', async (context, callNext) => {
    let held = ''
    context.transformUpdates({
      start: () => {
        held = ''
      },
      transform(update, controller) {
        const contents = update.contents.flatMap((content): readonly Content[] => {
          if (content.type !== 'text') return [content]
          held = (held + content.text).replaceAll(word, by)
          const keep = Array.from(word).findIndex((_, cut) =>
            held.endsWith(word.slice(0, word.length - cut)),
          )
          const size = keep === -1 ? 0 : word.length - keep
          const text = held.slice(0, held.length - size)
          held = held.slice(held.length - size)
          return [{ ...content, text }]
        })
        const isLast =
          update.finishReason !== undefined || contents.some(({ type }) => type !== 'text')
        if (isLast && held !== '') {
          controller.enqueue({ contents: [{ type: 'text', text: held }] })
          held = ''
        }
        controller.enqueue({ ...update, contents })
      },
    })
    await callNext()
  })
}

function retryOnce(clock: Clock): ChatMiddleware {
  return chatMiddleware('retry-once', async (context, callNext) => {
    try {
      await callNext()
    } catch (error) {
      if (!isProviderError(error) || !error.retry.retryable) throw error
      await clock.sleep(error.retry.afterMs ?? 0, context.signal)
      await callNext()
    }
  })
}

describeContract(
  middlewareContract({
    name: 'a feature with parts at all levels',
    create: ({ clock }) => [
      agentMiddleware('timing', async (context, callNext) => {
        const start = clock.now()
        await callNext()
        context.metadata['elapsedMs'] = clock.now() - start
      }),
      retryOnce(clock),
      replaceWord('secret', '***'),
      functionMiddleware('pass', (_, callNext) => callNext()),
    ],
    texts: ['The secret is secret.', 'sec', 'secsecret'],
  }),
  { describe, it },
)

describe('a limit of more than 25 days', () => {
  const limited = (limit: (ms: number) => Promise<unknown>) => (ms: number) =>
    chatMiddleware('limited', async (_, callNext) => {
      await Promise.race([callNext(), limit(ms)])
    })
  const check = async (createWithLimit: (ms: number) => MiddlewareInput) => {
    const { checks } = middlewareContract({ create: () => [], createWithLimit })
    await checks.find(({ name }) => name.includes('25 days'))!.run()
  }

  it.each<[string, (ms: number) => Promise<unknown>]>([
    [
      'a timer of the platform',
      (ms) =>
        new Promise((resolve) => {
          setTimeout(resolve, ms).unref()
        }),
    ],
    [
      'a signal of the platform',
      (ms) =>
        new Promise((resolve) => {
          AbortSignal.timeout(ms).addEventListener('abort', resolve)
        }),
    ],
  ])('is not kept by %s', async (_, limit) => {
    await expect(check(limited(limit))).rejects.toThrow(/timer of \d+ ms fires at once|completed/)
  })

  it('is kept by a clock', async () => {
    const stop = new AbortController()
    const limit = (ms: number) => systemClock.sleep(ms, stop.signal).catch(() => {})

    await expect(check(limited(limit))).resolves.toBeUndefined()

    stop.abort()
  })

  it('may be refused, clearly', async () => {
    const refuse = (error: unknown) => () => {
      throw error
    }

    await check(refuse(new RangeError('limited: `timeoutMs` must be below 2 ** 31')))
    await expect(check(refuse('no'))).rejects.toThrow('must be refused with a RangeError')
  })
})

/** The names of the checks that a middleware does not pass. */
async function failing(create: (clock: Clock) => MiddlewareInput): Promise<readonly string[]> {
  const suite = middlewareContract({
    create: ({ clock }) => create(clock),
    texts: ['The secret is secret.'],
    promptMs: 20,
  })
  const failed: string[] = []
  for (const check of suite.checks) await check.run().catch(() => failed.push(check.name))
  return failed
}

function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0))

describe('the middleware contract', () => {
  it.for<[string, (clock: Clock) => MiddlewareInput, string]>([
    [
      'replaces piece by piece',
      () =>
        chatMiddleware('naive', async (context, callNext) => {
          context.transformUpdates({
            transform(update, controller) {
              const contents = update.contents.map((content) =>
                content.type === 'text'
                  ? { ...content, text: content.text.replaceAll('secret', '***') }
                  : content,
              )
              controller.enqueue({ ...update, contents })
            },
          })
          await callNext()
        }),
      'chat: gives the same result streamed and plain, for any chunking',
    ],
    ...(['agent', 'chat', 'function'] as const).map(
      (level): [string, () => MiddlewareInput, string] => [
        `returns what is no result, at level ${level}`,
        () => {
          const log: unknown[] = []
          const count = (_: unknown, callNext: () => Promise<unknown>) =>
            callNext().then((result) => log.push(result))
          return { level, name: 'count', process: count } as unknown as MiddlewareInput
        },
        `${level}: passes a neutral answer unchanged, plain`,
      ],
    ),
    [
      'gives the answer of the model, whatever its inside returns',
      () =>
        chatMiddleware('deaf', async (context, callNext) => {
          let streamed = ''
          context.transformUpdates({
            transform(update, controller) {
              for (const content of update.contents) {
                if (content.type === 'text') streamed += content.text
              }
              controller.enqueue(update)
            },
          })
          await callNext()
          context.result = streamed
        }),
      'chat: passes a result that its inside returns, plain',
    ],
    [
      'swallows what it does not know',
      () =>
        chatMiddleware('swallow', async (context, callNext) => {
          await callNext().catch(() => {
            context.result = 'Something went wrong.'
          })
        }),
      'chat: rethrows a termination without a retry',
    ],
    ...[() => Date.now(), () => Math.random(), () => new Date(), () => createId('msg')].map(
      (value): [string, () => MiddlewareInput, string] => [
        `emits ${value.toString().replace('() => ', '')}`,
        () =>
          chatMiddleware('stamp', async ({ run }, callNext) => {
            run.emit({ type: 'stamp', data: value() })
            await callNext()
          }),
        'takes time, random numbers and ids from the run, so that a run can be repeated',
      ],
    ),
    [
      'retries everything',
      () =>
        agentMiddleware('eager', async (_, callNext) => {
          await callNext().catch(() => callNext())
        }),
      'agent: rethrows a tripped guardrail without a retry',
    ],
    [
      'makes a tool result of an interrupt',
      () =>
        functionMiddleware('lenient', async (context, callNext) => {
          await callNext().catch(() => {
            context.result = 'failed'
          })
        }),
      'function: lets the run pause',
    ],
    [
      'waits without the signal',
      (clock) =>
        chatMiddleware('deaf', async (_, callNext) => {
          await callNext().catch(async (error: unknown) => {
            if (!isProviderError(error) || !error.retry.retryable) throw error
            await clock.sleep(60_000)
            await callNext()
          })
        }),
      'chat: stops waiting when the run is aborted, plain',
    ],
    [
      'keeps data of a run',
      () => {
        let last = ''
        return chatMiddleware('shared', async (context, callNext) => {
          await tick()
          last = context.messages.map(({ id }) => id).join('')
          await tick()
          await callNext()
          if (last !== context.messages.map(({ id }) => id).join('')) context.result = 'mixed up'
        })
      },
      'chat: keeps concurrent runs separate, plain',
    ],
    [
      'is of use once',
      () => {
        let used = false
        return chatMiddleware('once', async (context, callNext) => {
          if (used) context.result = 'again'
          else await callNext()
          used = true
        })
      },
      'chat: gives the same result in a second run',
    ],
    [
      'has a name of several words',
      () => chatMiddleware('my own', (_, callNext) => callNext()),
      'has a name, a level and `process`',
    ],
  ])('catches a middleware that %s', async ([, create, name]) => {
    expect(await failing(create)).toContain(name)
  })

  it('passes a middleware whose process stands still for longer than it has time', async () => {
    const slow = () =>
      chatMiddleware('slow', async (_, callNext) => {
        await callNext().catch(async (error: unknown) => {
          await tick()
          standStill(40)
          await tick()
          await tick()
          throw error
        })
      })

    expect(await failing(slow)).toEqual([])
  })
})

it('rejections that nobody handles are found', async () => {
  const emitter = new EventEmitter()
  vi.stubGlobal('process', emitter)

  const found = await unhandledRejections(async () => {
    emitter.emit('unhandledRejection', 'left behind')
  })

  vi.unstubAllGlobals()
  expect(found).toEqual(['left behind'])
  expect(emitter.listenerCount('unhandledRejection')).toBe(0)
})

describe('chunk invariance', () => {
  it('names the reply and the cut that differ', async () => {
    const naive = chatMiddleware('naive', async (context, callNext) => {
      context.transformUpdates({
        transform: (update, controller) =>
          controller.enqueue({
            ...update,
            contents: update.contents.filter(
              (content) => content.type !== 'text' || content.text !== 'b',
            ),
          }),
      })
      await callNext()
    })

    const asserted = assertChunkInvariant(naive, {
      replies: ['aa', 'abc'],
      chunkings: ['whole', 'char'],
    })

    await expect(asserted).rejects.toThrow('the streamed outcome of "abc", cut by "char", must be')
  })

  it('holds for a middleware that ends a run, and for one that fails', async () => {
    const picky = chatMiddleware('picky', async (context, callNext) => {
      await callNext()
      if (context.result?.text.includes('bad')) throw new TypeError('bad')
    })

    await assertChunkInvariant(() => picky, { replies: ['good', 'bad'], randomCuts: 3, seed: 9 })
    expect.assertions(0)
  })
})

describe('a cache that keeps whatever it got', () => {
  const naive = (): MiddlewareInput => {
    let kept: ChatResponse | undefined
    return chatMiddleware('naive-cache', async (context, callNext) => {
      if (kept === undefined) kept = await callNext()
      else context.result = kept
    })
  }
  const { checks } = middlewareContract({ create: naive })

  it.each([
    ['chat: gives each answer an id of its own', 'an id of its own'],
    ['chat: gives no incomplete answer again', 'ended by length'],
  ])('fails: %s', async (name, words) => {
    const check = checks.find((one) => one.name === name)

    await expect(check?.run()).rejects.toThrow(words)
  })

  it('fails where it gives the value of another schema', async () => {
    let kept: ChatResponse | undefined
    const create = (): MiddlewareInput =>
      chatMiddleware('naive-cache', async (context, callNext) => {
        if (kept === undefined) kept = { ...(await callNext()), value: { cents: 5 } }
        else context.result = kept
      })
    const name = 'chat: gives no value that does not fit the schema of the call'
    const check = middlewareContract({ create }).checks.find((one) => one.name === name)

    await expect(check?.run()).rejects.toThrow('must fit the schema')
  })
})
