import { scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { StreamFold, StreamSource } from './stream-source.ts'
import { Agent, chatMiddleware, LamellaError, ResponseStream, text } from '../index.ts'

interface Watched {
  readonly source: AsyncIterable<number>
  readonly pulled: number[]
  readonly closed: () => number
}

/** A source that knows how far it was read and how often it was closed. */
function watched(count: number, failure?: Error): Watched {
  const pulled: number[] = []
  let closed = 0
  async function* generate(): AsyncGenerator<number> {
    try {
      for (let at = 1; at <= count; at++) {
        pulled.push(at)
        yield await Promise.resolve(at)
      }
      if (failure !== undefined) throw failure
    } finally {
      closed++
    }
  }
  return { source: generate(), pulled, closed: () => closed }
}

function sum(updates: readonly number[]): number {
  return updates.reduce((all, update) => all + update, 0)
}

function summing(count = 3): ResponseStream<number, number> {
  return ResponseStream.from(watched(count).source, { finalizer: sum })
}

async function read<Update>(stream: AsyncIterable<Update>): Promise<Update[]> {
  const updates: Update[] = []
  for await (const update of stream) updates.push(update)
  return updates
}

describe('reading a stream', () => {
  it('gives every update in order and consumes the source once', async () => {
    const { source, pulled } = watched(3)
    const stream = ResponseStream.from(source, { finalizer: sum })

    expect(await read(stream)).toEqual([1, 2, 3])
    expect(await stream.finalResponse()).toBe(6)
    expect(pulled).toEqual([1, 2, 3])
  })

  it('starts with the first pull', async () => {
    const { source, pulled } = watched(3)
    const stream = ResponseStream.from(source)
    const iterator = stream[Symbol.asyncIterator]()
    expect(pulled).toEqual([])

    await iterator.next()

    expect(pulled).toEqual([1])
  })

  it('takes any iterable, also a plain list', async () => {
    expect(await read(ResponseStream.from([1, 2]))).toEqual([1, 2])
  })

  it('to its end finalises it, though nobody asks for the final value', async () => {
    const log: string[] = []
    const stream = ResponseStream.from(watched(1).source, {
      finalizer: () => void log.push('finalizer'),
    }).withResultHook(() => void log.push('result'))

    await read(stream)

    expect(log).toEqual(['finalizer', 'result'])
  })

  it('ends again and again with done', async () => {
    const iterator = summing(1)[Symbol.asyncIterator]()
    await iterator.next()

    expect(await iterator.next()).toEqual({ done: true, value: undefined })
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
  })

  it('answers pulls that do not wait for each other in their order', async () => {
    const iterator = summing()[Symbol.asyncIterator]()

    const steps = await Promise.all([1, 2, 3, 4].map(() => iterator.next()))

    expect(steps.map(({ value }) => value)).toEqual([1, 2, 3, undefined])
  })

  it('by a second reader is a clear error, which does the first one no harm', async () => {
    const log: string[] = []
    const stream = summing().withCleanupHook(() => log.push('cleanup'))
    const iterator = stream[Symbol.asyncIterator]()
    await iterator.next()

    expect(() => stream[Symbol.asyncIterator]()).toThrow(/read once; use tee\(stream\)/)
    await expect(read(stream)).rejects.toMatchObject({ code: 'stream_consumed' })
    expect(log).toEqual([])
    expect((await iterator.next()).value).toBe(2)
  })

  it('after it was drained is a clear error', async () => {
    const stream = summing()
    await stream.finalResponse()

    await expect(read(stream)).rejects.toMatchObject({ code: 'stream_consumed' })
  })
})

describe('the final value', () => {
  it('is made from all updates', async () => {
    expect(await summing().finalResponse()).toBe(6)
  })

  it('may be made by a fold, which keeps no updates', async () => {
    const fold = (): StreamFold<number, number> => {
      let total = 0
      return { add: (update) => void (total += update), finish: async () => total }
    }

    expect(await ResponseStream.from([1, 2], { finalizer: fold() }).finalResponse()).toBe(3)
  })

  it('may be waited for', async () => {
    const stream = ResponseStream.from([1, 2], { finalizer: async (all) => sum(all) })

    expect(await stream.finalResponse()).toBe(3)
  })

  it('without a finalizer is the list of updates', async () => {
    expect(await ResponseStream.from([1, 2]).finalResponse()).toEqual([1, 2])
  })

  it('of an empty stream is made too, and hooks on updates are left alone', async () => {
    const log: string[] = []
    const stream = ResponseStream.from([], { finalizer: sum })
      .withTransformHook(() => void log.push('transform'))
      .withCleanupHook(() => log.push('cleanup'))
      .withResultHook(() => void log.push('result'))

    expect([await stream.finalResponse(), log]).toEqual([0, ['cleanup', 'result']])
  })

  it('is computed once, and the same for all who ask', async () => {
    let made = 0
    const stream = ResponseStream.from(watched(3).source, { finalizer: () => ({ at: ++made }) })

    const finals = await Promise.all([stream.finalResponse(), stream.finalResponse()])

    expect(finals[0]).toBe(finals[1])
    expect(await stream.finalResponse()).toBe(finals[0])
    expect(made).toBe(1)
  })

  it('can be asked for first, and the stream be read at once', async () => {
    const stream = summing()
    const final = stream.finalResponse()

    expect(await read(stream)).toEqual([1, 2, 3])
    expect(await final).toBe(6)
  })

  it('asked for while the reader waits for an update is not read ahead of the reader', async () => {
    const { source, pulled } = watched(3)
    const stream = ResponseStream.from(source, { finalizer: sum })
    const iterator = stream[Symbol.asyncIterator]()
    const first = iterator.next()
    const final = stream.finalResponse()

    await first
    await new Promise((resolve) => setTimeout(resolve))
    const before = [...pulled]
    while ((await iterator.next()).done !== true);

    expect(before).toEqual([1])
    expect(await final).toBe(6)
  })

  it('asked for in the middle drains the rest and keeps it for the reader who paused', async () => {
    const { source, pulled } = watched(4)
    const stream = ResponseStream.from(source, { finalizer: sum })
    const seen: number[] = []
    let final: readonly number[] | undefined

    for await (const update of stream) {
      seen.push(update)
      if (update === 2) final = [await stream.finalResponse(), pulled.length]
    }

    expect([final, seen]).toEqual([
      [10, 4],
      [1, 2, 3, 4],
    ])
  })

  it('asked for while the reader continues leaves it every update, in order', async () => {
    const stream = summing(5)
    const iterator = stream[Symbol.asyncIterator]()
    const first = await iterator.next()
    const final = stream.finalResponse()
    await Promise.resolve()
    await Promise.resolve()

    const rest = await read({ [Symbol.asyncIterator]: () => iterator })

    expect([first.value, rest, await final]).toEqual([1, [2, 3, 4, 5], 15])
  })

  it('can be asked for at each moment of the end', async () => {
    for (let moment = 0; moment < 30; moment++) {
      const stream = summing(1)
      const iterator = stream[Symbol.asyncIterator]()
      await iterator.next()
      void iterator.next()
      for (let at = 0; at < moment; at++) await Promise.resolve()

      expect(await stream.finalResponse()).toBe(1)
    }
  })
})

describe('transform hooks', () => {
  it('see every update; what they return takes its place, nothing keeps it', async () => {
    const seen: number[] = []
    const stream = summing()
      .withTransformHook((update) => void seen.push(update))
      .withTransformHook((update) => (update === 2 ? 20 : undefined))
      .withTransformHook((update) => (update === 3 ? null : update + 1))

    expect(await read(stream)).toEqual([2, 21, 3])
    expect(seen).toEqual([1, 2, 3])
  })

  it('change the final value as they change the stream', async () => {
    const stream = summing().withTransformHook(async (update) => update * 10)

    expect(await stream.finalResponse()).toBe(60)
  })

  it('change the final value of a run, and its `raw` is gone', async () => {
    const stream = new Agent({ client: scriptedClient(['A secret.'], { chunk: 'whole' }) })
      .run('Hello', { stream: true })
      .withTransformHook((update) =>
        update.contents.length > 0 ? { ...update, contents: [text('***')] } : undefined,
      )

    const response = await stream.finalResponse()

    expect(response).toMatchObject({ text: '***', status: 'completed', finishReason: 'stop' })
    expect(JSON.stringify(response)).not.toContain('secret')
  })

  it('run one update at a time, though nobody waits', async () => {
    const log: string[] = []
    const stream = summing(2).withTransformHook(async (update) => {
      log.push(`in ${update}`)
      await Promise.resolve()
      log.push(`out ${update}`)
    })
    const iterator = stream[Symbol.asyncIterator]()

    await Promise.all([iterator.next(), iterator.next()])

    expect(log).toEqual(['in 1', 'out 1', 'in 2', 'out 2'])
  })

  it('that fail end the stream: the source is closed, cleanup runs, the final value fails too', async () => {
    const error = new Error('hook')
    const { source, closed } = watched(3)
    const log: string[] = []
    const stream = ResponseStream.from(source, { finalizer: sum })
      .withTransformHook((update) => {
        if (update === 2) throw error
      })
      .withCleanupHook(() => log.push('cleanup'))

    const seen: number[] = []
    const reading = (async () => {
      for await (const update of stream) seen.push(update)
    })()

    await expect(reading).rejects.toBe(error)
    await expect(stream.finalResponse()).rejects.toBe(error)
    expect(await stream.outcome()).toMatchObject({ status: 'failed', error })
    expect([seen, closed(), log]).toEqual([[1], 1, ['cleanup']])
  })

  it('added after reading had begun are refused, since they would miss what has passed', async () => {
    const stream = summing()
    await stream[Symbol.asyncIterator]().next()

    expect(() => stream.withTransformHook(() => {})).toThrow(/after reading had begun/)
  })
})

describe('result hooks', () => {
  it('run after the finalizer, each with what the last one made', async () => {
    const stream = summing()
      .withResultHook((final) => final + 1)
      .withResultHook(() => undefined)
      .withResultHook(async (final) => final * 10)
      .withResultHook(() => null)

    expect(await stream.finalResponse()).toBe(70)
  })

  it('that fail do not stop the others; the error takes the place of the end', async () => {
    const log: string[] = []
    const error = new Error('hook')
    const stream = summing()
      .withResultHook(() => {
        throw error
      })
      .withResultHook((final) => void log.push(`${final}`))

    await expect(read(stream)).rejects.toBe(error)

    await expect(stream.finalResponse()).rejects.toBe(error)
    expect(await stream.outcome()).toEqual({ status: 'failed', error, partial: 6 })
    expect(log).toEqual(['6'])
  })

  it('several that fail are told together', async () => {
    const fail = (): never => {
      throw new Error('hook')
    }
    const stream = summing().withResultHook(fail).withCleanupHook(fail)

    const error: unknown = await stream.finalResponse().catch((caught: unknown) => caught)

    expect(error).toBeInstanceOf(AggregateError)
    expect((error as AggregateError).errors).toHaveLength(2)
  })

  it('run once, however often the final value is asked for', async () => {
    let runs = 0
    const stream = summing().withResultHook(() => {
      runs++
      throw new Error('hook')
    })

    await Promise.allSettled([stream.finalResponse(), stream.finalResponse()])
    await Promise.allSettled([stream.finalResponse()])

    expect(runs).toBe(1)
  })
})

describe('cleanup hooks', () => {
  it('run once, in order, each waited for, before the end is told', async () => {
    const log: string[] = []
    const stream = summing()
      .withCleanupHook(async () => {
        await Promise.resolve()
        log.push('first')
      })
      .withCleanupHook(() => log.push('second'))

    await read(stream)
    log.push('read')
    await stream.finalResponse()

    expect(log).toEqual(['first', 'second', 'read'])
  })

  it('run also when the stream is drained', async () => {
    const log: string[] = []

    await summing()
      .withCleanupHook(() => log.push('cleanup'))
      .finalResponse()

    expect(log).toEqual(['cleanup'])
  })

  it('that fail do not stop the others, nor the final value from being made', async () => {
    const error = new Error('hook')
    const log: string[] = []
    const stream = summing()
      .withCleanupHook(() => Promise.reject(error))
      .withCleanupHook(() => log.push('second'))

    await expect(stream.finalResponse()).rejects.toBe(error)

    expect(log).toEqual(['second'])
    expect(await stream.outcome()).toEqual({ status: 'failed', error, partial: 6 })
  })

  it('that are added after the end run at once', async () => {
    const log: string[] = []
    const stream = summing()
    await stream.finalResponse()

    stream.withCleanupHook(() => log.push('late'))

    expect(log).toEqual(['late'])
  })

  it('that read on run once', async () => {
    const log: string[] = []
    const stream = new Agent({ client: scriptedClient(['One two.']) }).run('Hello', {
      stream: true,
    })
    const iterator = stream[Symbol.asyncIterator]()
    await iterator.next()
    const rest: Promise<unknown>[] = []
    stream.withCleanupHook(() => {
      log.push('cleanup')
      rest.push(iterator.next())
    })

    await stream.cancel()

    await expect(rest[0]).rejects.toMatchObject({ code: 'aborted' })
    expect(log).toEqual(['cleanup'])
  })

  it('may cancel the stream and ask how it ended', async () => {
    const stream = summing()
    stream.withCleanupHook(() => stream.cancel())

    expect(await stream.finalResponse()).toBe(6)
  })
})

describe('the end of a stream', () => {
  const ordered = (log: string[]): ResponseStream<number, string> =>
    ResponseStream.from(watched(2).source, {
      finalizer() {
        log.push('finalizer')
        return 'final'
      },
    })
      .withTransformHook((update) => void log.push(`transform ${update}`))
      .withCleanupHook(() => log.push('cleanup'))
      .withResultHook(() => void log.push('result'))
  const order = ['transform 1', 'transform 2', 'cleanup', 'finalizer', 'result']

  it('is transforms, cleanup, finalizer, result hooks, done', async () => {
    const log: string[] = []
    for await (const update of ordered(log)) expect(log.at(-1)).toBe(`transform ${update}`)

    expect(log).toEqual(order)
  })

  it('is the same when only the final value is asked for', async () => {
    const log: string[] = []
    await ordered(log).finalResponse()

    expect(log).toEqual(order)
  })

  it('of a run comes after its transforms’ flush, whether or not a middleware watches', async () => {
    const log: string[] = []
    const watching = chatMiddleware('watching', (context, callNext) => {
      context.transformUpdates({ flush: () => void log.push('flush') })
      return callNext()
    })
    const stream = new Agent({ client: scriptedClient(['Done.']), middleware: watching })
      .run('Hello', { stream: true })
      .withCleanupHook(() => log.push('cleanup'))
      .withResultHook(() => void log.push('result'))

    await read(stream)

    expect(log).toEqual(['flush', 'cleanup', 'result'])
  })

  it('is final: hooks on updates and results are refused from then on', async () => {
    const stream = summing()
    await stream.finalResponse()

    expect(() => stream.withTransformHook(() => {})).toThrow(/after the stream had ended/)
    expect(() => stream.withResultHook(() => {})).toThrow(/after the stream had ended/)
  })
})

describe('a stream that fails', () => {
  it('rejects with the same error, always; cleanup runs, the finalizer and result hooks do not', async () => {
    const error = new Error('cut')
    const log: string[] = []
    const stream = ResponseStream.from(watched(1, error).source, {
      finalizer: () => void log.push('finalizer'),
    })
      .withCleanupHook(() => log.push('cleanup'))
      .withResultHook(() => void log.push('result'))

    await expect(read(stream)).rejects.toBe(error)

    await expect(stream.finalResponse()).rejects.toBe(error)
    await expect(stream.finalResponse()).rejects.toBe(error)
    expect(log).toEqual(['cleanup'])
    expect(await stream.outcome()).toEqual({ status: 'failed', error, partial: undefined })
  })

  it('is judged by its error if the source says no more about it', async () => {
    const error = new Error('cut')
    const source: StreamSource<number, number> = {
      onEnd: async () => {},
      busy: false,
      next: async () => {
        await source.onEnd({ error })
        throw error
      },
      cancel: async () => {},
      final: () => 0,
    }

    const outcome = await new ResponseStream(source).outcome()

    expect(outcome).toEqual({ status: 'failed', error, partial: undefined })
  })

  it('keeps failing when it is read again', async () => {
    const error = new Error('cut')
    const iterator = ResponseStream.from(watched(0, error).source)[Symbol.asyncIterator]()

    await expect(iterator.next()).rejects.toBe(error)
    await expect(iterator.next()).rejects.toBe(error)
  })

  it('in its finalizer says so to the reader and to who asks for the value', async () => {
    const error = new Error('finalizer')
    const stream = ResponseStream.from(watched(1).source, {
      finalizer: () => Promise.reject(error),
    })

    await expect(read(stream)).rejects.toBe(error)
    await expect(stream.finalResponse()).rejects.toBe(error)
    expect((await stream.outcome()).status).toBe('failed')
  })

  it('in its fold closes the source', async () => {
    const error = new Error('fold')
    const { source, closed } = watched(3)
    const fold: StreamFold<number, number> = {
      add() {
        throw error
      },
      finish: () => 0,
    }

    await expect(read(ResponseStream.from(source, { finalizer: fold }))).rejects.toBe(error)
    expect(closed()).toBe(1)
  })

  it('of a run keeps on outcome() what had come through', async () => {
    const error = new Error('cut')
    const client = scriptedClient([{ updates: ['Some ', 'words'], error }])
    const stream = new Agent({ client }).run('Hello', { stream: true })

    await expect(read(stream)).rejects.toBe(error)

    const outcome = await stream.outcome()
    expect(outcome).toMatchObject({ status: 'failed', error, partial: { text: 'Some words' } })
    expect(LamellaError.is(error)).toBe(false)
  })
})
