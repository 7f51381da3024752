import { scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { AgentResponse, AgentResponseUpdate } from '../index.ts'
import { Agent, ResponseStream, tee, text } from '../index.ts'

function sum(updates: readonly number[]): number {
  return updates.reduce((all, update) => all + update, 0)
}

async function* counting(count: number, log: string[] = []): AsyncGenerator<number> {
  try {
    for (let at = 1; at <= count; at++) {
      log.push(`pull ${at}`)
      yield await Promise.resolve(at)
    }
  } finally {
    log.push('closed')
  }
}

function summing(log?: string[], count = 3): ResponseStream<number, number> {
  return ResponseStream.from(counting(count, log), { finalizer: sum })
}

async function read<Update>(stream: AsyncIterable<Update>): Promise<Update[]> {
  const updates: Update[] = []
  for await (const update of stream) updates.push(update)
  return updates
}

function answer(): ResponseStream<AgentResponseUpdate, AgentResponse> {
  return new Agent({ client: scriptedClient(['One two.']) }).run('Hello', { stream: true })
}

describe('text', () => {
  it('passes over updates that have no contents', async () => {
    async function* updates() {
      yield* [{ model: 'm' }, { contents: [text('One')] }]
    }

    expect(
      await read(ResponseStream.from<object, object>(updates(), { finalizer: () => ({}) }).text()),
    ).toEqual(['One'])
  })
})

describe('map', () => {
  it('ends as the stream that it reads', async () => {
    const late = new Error('late')
    const agent = new Agent({ client: scriptedClient(['One.']) })
    const inner = agent.run('Hello', { stream: true, signal: AbortSignal.abort(late) })
    const stream = inner.map(
      (update) => update,
      () => undefined,
    )

    const aborted = { status: 'aborted', error: late }
    expect(await stream.outcome()).toMatchObject(aborted)
    expect(await inner.outcome()).toMatchObject(aborted)
  })

  it('makes one update of each, and the final value of those it made', async () => {
    const log: string[] = []
    const stream = summing(log).map(
      (update) => `<${update}>`,
      (all) => all.join(''),
    )

    expect(await read(stream)).toEqual(['<1>', '<2>', '<3>'])
    expect(await stream.finalResponse()).toBe('<1><2><3>')
    expect(log).toEqual(['pull 1', 'pull 2', 'pull 3', 'closed'])
  })

  it('waits for a transform that takes its time', async () => {
    const stream = summing().map(async (update) => update * 2, sum)

    expect(await stream.finalResponse()).toBe(12)
  })

  it('runs the hooks of the stream it reads', async () => {
    const log: string[] = []
    const inner = summing()
      .withCleanupHook(() => log.push('cleanup'))
      .withResultHook((final) => void log.push(`result ${final}`))

    await inner.map((update) => update, sum).finalResponse()

    expect(log).toEqual(['cleanup', 'result 6'])
    expect(await inner.finalResponse()).toBe(6)
  })

  it('that fails ends both streams and closes the source', async () => {
    const error = new Error('map')
    const log: string[] = []
    const inner = summing(log).withCleanupHook(() => log.push('cleanup'))
    const stream = inner.map((update) => {
      if (update === 2) throw error
      return update
    }, sum)

    await expect(read(stream)).rejects.toBe(error)

    await expect(stream.finalResponse()).rejects.toBe(error)
    expect(log).toEqual(['pull 1', 'pull 2', 'closed', 'cleanup'])
  })
})

describe('flatMap', () => {
  it('makes none, one or many updates of each', async () => {
    const stream = summing().flatMap((update) => Array<number>(update - 1).fill(update), sum)

    expect(await read(stream)).toEqual([2, 3, 3])
    expect(await stream.finalResponse()).toBe(8)
  })

  it('may make nothing of all', async () => {
    const stream = summing().flatMap(
      () => [],
      (all) => all.length,
    )

    expect([await read(stream), await stream.finalResponse()]).toEqual([[], 0])
  })

  it('runs the result hooks of the stream it reads', async () => {
    const log: string[] = []
    const inner = summing().withResultHook((final) => void log.push(`${final}`))

    await inner.flatMap((update) => [update, update], sum).finalResponse()

    expect(log).toEqual(['6'])
  })
})

describe('withFinalizer', () => {
  it('keeps the updates and makes another value of the final one, hooks and all', async () => {
    const stream = summing()
      .withResultHook((final) => final + 1)
      .withFinalizer((final) => `final ${final}`)
      .withResultHook((final) => `${final}!`)

    expect(await read(stream)).toEqual([1, 2, 3])
    expect(await stream.finalResponse()).toBe('final 7!')
  })

  it('keeps what only the inner final value knows', async () => {
    const stream = answer().withFinalizer((final) => final)

    expect(await stream.finalResponse()).toMatchObject({
      text: 'One two.',
      status: 'completed',
      usage: { totalTokens: 15 },
    })
  })

  it('has no partial value of a stream that fails', async () => {
    const error = new Error('cut')
    const client = scriptedClient([{ updates: ['Some words'], error }])
    const stream = new Agent({ client })
      .run('Hello', { stream: true })
      .withFinalizer((final) => final.text)

    expect(await stream.outcome()).toEqual({ status: 'failed', error, partial: undefined })
  })

  it('has a hook of its own, and so has the stream that it reads', async () => {
    const inner = summing().withTransformHook((update) => update + 1)
    const outer = inner
      .withFinalizer((final) => `sum ${final}`)
      .withTransformHook((update) => update * 10)

    expect(await outer.finalResponse()).toBe('sum 90')
    expect(await inner.finalResponse()).toBe(9)
  })

  it('refuses a hook where a fold of the caller makes the inner final value', () => {
    const fold = { add: () => {}, finish: () => 0 }
    const inner = ResponseStream.from([1, 2], { finalizer: fold })
    const stream = inner.withFinalizer((final) => final)

    expect(() => stream.withTransformHook(() => {})).toThrow(/use map\(\)/)
  })

  it('of a run has hooks on both streams, one after the other', async () => {
    const add = (more: string) => (update: AgentResponseUpdate) => {
      const [content] = update.contents
      return content?.type === 'text'
        ? { ...update, contents: [text(content.text + more)] }
        : undefined
    }
    const client = scriptedClient(['One'], { chunk: 'whole' })
    const inner = new Agent({ client })
      .run('Hello', { stream: true })
      .withTransformHook(add(' two'))
    const outer = inner.withFinalizer((final) => final.text).withTransformHook(add(' three'))

    expect(await outer.finalResponse()).toBe('One two three')
    expect((await inner.finalResponse()).text).toBe('One two')
  })

  it('makes its value once, of what transform hooks made of the updates and of the rest', async () => {
    const made: string[] = []
    const stream = new Agent({ client: scriptedClient(['A secret.'], { chunk: 'whole' }) })
      .run('Hello', { stream: true })
      .withFinalizer(({ text: said, status }) => {
        made.push(`${said} ${status}`)
        return made.length
      })
      .withTransformHook((update) =>
        update.contents.length > 0 ? { ...update, contents: [text('***')] } : undefined,
      )

    expect(await stream.finalResponse()).toBe(1)
    expect(made).toEqual(['*** completed'])
  })
})

describe('hooks of a derived stream', () => {
  it('come after those of the inner one: for each update, and at the end', async () => {
    const log: string[] = []
    const stream = ResponseStream.from(counting(2), {
      finalizer: () => void log.push('inner finalizer'),
    })
      .withTransformHook((update) => void log.push(`inner ${update}`))
      .withCleanupHook(() => log.push('inner cleanup'))
      .withResultHook(() => void log.push('inner result'))
      .map(
        (update) => {
          log.push(`map ${update}`)
          return update
        },
        () => void log.push('outer finalizer'),
      )
      .withTransformHook((update) => void log.push(`outer ${update}`))
      .withCleanupHook(() => log.push('outer cleanup'))
      .withResultHook(() => void log.push('outer result'))

    await stream.finalResponse()

    expect(log).toEqual([
      'inner 1',
      'map 1',
      'outer 1',
      'inner 2',
      'map 2',
      'outer 2',
      'inner cleanup',
      'inner finalizer',
      'inner result',
      'outer cleanup',
      'outer finalizer',
      'outer result',
    ])
  })

  it('do not know of each other', async () => {
    const inner = summing().withTransformHook((update) => update + 1)
    const outer = inner.map((update) => update, sum).withTransformHook((update) => update * 10)

    expect(await read(outer)).toEqual([20, 30, 40])
    expect([await inner.finalResponse(), await outer.finalResponse()]).toEqual([9, 90])
  })

  it('reading the inner stream as well is a clear error', async () => {
    const inner = summing()
    const outer = inner.map((update) => update, sum)
    await outer[Symbol.asyncIterator]().next()

    expect(() => inner[Symbol.asyncIterator]()).toThrow(/read once/)
  })

  it('and the other way round: a stream that is read cannot be derived from', async () => {
    const log: string[] = []
    const inner = summing(log)
    await inner[Symbol.asyncIterator]().next()

    const reading = read(inner.map((update) => update, sum))

    await expect(reading).rejects.toMatchObject({ code: 'stream_consumed' })
    expect(log).toEqual(['pull 1'])
  })
})

describe('ending a derived stream early', () => {
  const derived = (log: string[]): ResponseStream<number, number> =>
    summing(log)
      .withCleanupHook(async () => {
        await Promise.resolve()
        log.push('inner cleanup')
      })
      .map((update) => update, sum)
      .withCleanupHook(() => log.push('outer cleanup'))

  it('by a break closes the source, and cleans up from inside out before the loop is left', async () => {
    const log: string[] = []

    for await (const _ of derived(log)) break
    log.push('left')

    expect(log).toEqual(['pull 1', 'closed', 'inner cleanup', 'outer cleanup', 'left'])
  })

  it('by a break closes what a transform had not given in full', async () => {
    const log: string[] = []
    function* twice(update: number): Generator<number> {
      try {
        yield update
        yield update
      } finally {
        log.push('transform closed')
      }
    }

    for await (const _ of summing(log).flatMap(twice, sum)) break

    expect(log).toEqual(['pull 1', 'closed', 'transform closed'])
  })

  it('by cancel() rejects both with the reason', async () => {
    const reason = new Error('enough')
    const log: string[] = []
    const inner = summing(log)
    const outer = inner.map((update) => update, sum)
    await outer[Symbol.asyncIterator]().next()

    await outer.cancel(reason)

    await expect(outer.finalResponse()).rejects.toBe(reason)
    await expect(inner.finalResponse()).rejects.toBe(reason)
    expect((await outer.outcome()).status).toBe('aborted')
    expect(log).toEqual(['pull 1', 'closed'])
  })

  it.each<[string, (of: ResponseStream<number, number>) => ResponseStream<number, number>]>([
    ['withFinalizer()', (of) => of.withFinalizer((final) => final)],
    ['fromAwaitable()', (of) => ResponseStream.fromAwaitable(Promise.resolve(of))],
  ])('by a break closes the source of %s', async (_name, derive) => {
    const log: string[] = []

    for await (const _ of derive(summing(log))) break

    expect(log).toEqual(['pull 1', 'closed'])
  })

  it('waits until the source has closed if no pull is in progress', async () => {
    const log: string[] = []
    const slow = (async function* (): AsyncGenerator<number> {
      try {
        yield 1
      } finally {
        await new Promise((resolve) => setTimeout(resolve))
        log.push('closed')
      }
    })()
    const stream = ResponseStream.from(slow)
    await stream[Symbol.asyncIterator]().next()

    await stream.cancel()
    log.push('cancelled')

    expect(log).toEqual(['closed', 'cancelled'])
  })

  it('does not wait for a source that never comes back', async () => {
    const never = (async function* (): AsyncGenerator<number> {
      yield await new Promise<number>(() => {})
    })()
    const log: string[] = []
    const stream = ResponseStream.from(never).withCleanupHook(() => log.push('cleanup'))
    const iterator = stream[Symbol.asyncIterator]()
    const pending = iterator.next()
    const reason = new Error('enough')

    await Promise.resolve()
    await Promise.all([stream.cancel(reason), stream.cancel(new Error('second'))])

    await expect(pending).rejects.toBe(reason)
    await expect(iterator.next()).rejects.toBe(reason)
    expect(log).toEqual(['cleanup'])
  })
})

describe('a stream that is still being made', () => {
  it('passes updates and the final value on', async () => {
    const stream = ResponseStream.fromAwaitable(Promise.resolve(summing()))

    expect([await read(stream), await stream.finalResponse()]).toEqual([[1, 2, 3], 6])
  })

  it('by a function is made on the first pull, once', async () => {
    let made = 0
    const stream = ResponseStream.fromAwaitable(() => {
      made++
      return summing()
    })
    const before = made

    expect(await stream.finalResponse()).toBe(6)
    expect([before, made]).toEqual([0, 1])
  })

  it('that cannot be made fails the first pull and the final value with the same error', async () => {
    const error = new Error('no stream')
    const log: string[] = []
    const stream = ResponseStream.fromAwaitable<number, number>(Promise.reject(error))
    stream.withCleanupHook(() => log.push('cleanup'))

    await expect(read(stream)).rejects.toBe(error)

    await expect(stream.finalResponse()).rejects.toBe(error)
    expect(log).toEqual(['cleanup'])
  })

  it('has hooks of its own, whose updates are in the final value', async () => {
    const stream = ResponseStream.fromAwaitable(() => summing()).withTransformHook(
      (update) => update * 2,
    )

    expect(await stream.finalResponse()).toBe(12)
  })

  it('that is cancelled before it is there is never read', async () => {
    const log: string[] = []
    let give!: (stream: ResponseStream<number, number>) => void
    const made = new Promise<ResponseStream<number, number>>((resolve) => (give = resolve))
    const stream = ResponseStream.fromAwaitable(made)
    const pending = stream[Symbol.asyncIterator]().next()
    await Promise.resolve()

    const inner = summing(log)
    await stream.cancel(new Error('enough'))
    give(inner)

    await expect(pending).rejects.toThrow('enough')
    await expect(stream.finalResponse()).rejects.toThrow('enough')
    expect((await inner.outcome()).status).toBe('aborted')
    expect(log).toEqual([])
  })

  it('has nobody who waits for an answer, and nor has a list', () => {
    const never = new Promise<ResponseStream<number, number>>(() => {})

    expect(ResponseStream.fromAwaitable(never).respond('request_0', 'yes')).toBe(false)
    expect(ResponseStream.from([1]).respond('request_0', 'yes')).toBe(false)
  })

  it('that fails says how far the inner one came', async () => {
    const error = new Error('cut')
    const client = scriptedClient([{ updates: ['Some words'], error }])
    const stream = ResponseStream.fromAwaitable(() =>
      new Agent({ client }).run('Hello', { stream: true }),
    )

    expect(await stream.outcome()).toMatchObject({ error, partial: { text: 'Some words' } })
  })
})

describe('tee', () => {
  it('keeps each update, also of an iterator that uses one object for all of its steps', async () => {
    const step: { done: boolean; value: number } = { done: false, value: 0 }
    const source: AsyncIterable<number> = {
      [Symbol.asyncIterator]: () => ({
        next: async () => Object.assign(step, { done: step.value === 3, value: step.value + 1 }),
      }),
    }
    const [fast, slow] = tee(ResponseStream.from(source, { finalizer: sum }))

    expect([await read(fast), await read(slow)]).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ])
  })

  it('gives two readers all updates, at their own pace, from one source', async () => {
    const log: string[] = []
    const [fast, slow] = tee(summing(log))

    const all = await read(fast)

    expect([all, await read(slow)]).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ])
    expect([await fast.finalResponse(), await slow.finalResponse()]).toEqual([6, 6])
    expect(log).toEqual(['pull 1', 'pull 2', 'pull 3', 'closed'])
  })

  it('reads on when one of them leaves, and ends when both have', async () => {
    const log: string[] = []
    const stream = summing(log)
    const [first, second] = tee(stream)

    for await (const _ of first) break
    expect(log).toEqual(['pull 1'])
    for await (const _ of second) break

    expect(log).toEqual(['pull 1', 'closed'])
    expect((await stream.outcome()).status).toBe('aborted')
  })

  it('fails both with the same error', async () => {
    const error = new Error('cut')
    const client = scriptedClient([{ updates: ['Some '], error }])
    const [first, second] = tee(new Agent({ client }).run('Hello', { stream: true }))

    const outcomes = await Promise.all([first.outcome(), second.outcome()])

    expect(outcomes).toMatchObject([{ error }, { error, partial: { text: 'Some ' } }])
  })

  it('lets a hook of one reader change what that one gets, and nothing else', async () => {
    const agent = new Agent({ client: scriptedClient(['A secret.'], { chunk: 'whole' }) })
    const [changed, asIs] = tee(agent.run('Hello', { stream: true }))
    changed.withTransformHook((update) =>
      update.contents.length > 0 ? { ...update, contents: [text('***')] } : undefined,
    )

    const finals = await Promise.all([changed.finalResponse(), asIs.finalResponse()])

    expect(finals.map((final) => final.text)).toEqual(['***', 'A secret.'])
  })

  it('of a reader has two more, with hooks of their own', async () => {
    const agent = new Agent({ client: scriptedClient(['A secret.'], { chunk: 'whole' }) })
    const [first] = tee(agent.run('Hello', { stream: true }))
    const [changed, asIs] = tee(first)
    changed.withTransformHook((update) =>
      update.contents.length > 0 ? { ...update, contents: [text('***')] } : undefined,
    )

    const finals = await Promise.all([changed.finalResponse(), asIs.finalResponse()])

    expect(finals.map((final) => final.text)).toEqual(['***', 'A secret.'])
  })

  it('lets a hook of one reader into the final value that a function makes', async () => {
    const [first, second] = tee(summing())
    const [third, fourth] = tee(second)
    first.withTransformHook((update) => update + 1)
    third.withTransformHook((update) => update * 10)

    const finals = await Promise.all([first, third, fourth].map((of) => of.finalResponse()))

    expect(finals).toEqual([9, 60, 6])
  })

  it('refuses a hook where it has no way into the final value', () => {
    const fold = { add: () => {}, finish: () => 0 }
    const [first, second] = tee(ResponseStream.from([1, 2], { finalizer: fold }))
    const [third] = tee(second)

    expect(() => first.withTransformHook(() => {})).toThrow(/use map\(\)/)
    expect(() => third.withTransformHook(() => {})).toThrow(/use map\(\)/)
  })
})
