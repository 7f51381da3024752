import { expect, it } from 'vitest'
import { StreamDriver } from './stream-driver.ts'
import { TransformPipeline } from './transform-pipeline.ts'

interface Update {
  readonly contents: readonly string[]
  readonly event?: string
}

const broken = new Error('broken')

function said(...words: string[]): Update[] {
  return words.map((word) => ({ contents: [word] }))
}

function told(event: string): Update {
  return { contents: [], event }
}

function plain(): TransformPipeline<Update> {
  return new TransformPipeline<Update>([])
}

/** Transforms that wait before each update. */
function waiting(before: (update: Update) => Promise<unknown>): TransformPipeline<Update> {
  return new TransformPipeline<Update>([
    {
      async transform(update, controller) {
        await before(update)
        controller.enqueue(update)
      },
    },
  ])
}

function gate() {
  let open!: () => void
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open }
}

/** Lets everything that is due happen. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve))
}

/** Reads to the end, with a pause after each update. */
async function readSlowly(driver: StreamDriver<Update>, seen: string[] = []): Promise<string[]> {
  for (;;) {
    const { done, value } = await driver.next()
    if (done === true) return seen
    seen.push(value.event ?? value.contents.join(''))
    await turn()
  }
}

it('a transform of a source that was broken off does not disturb the next source', async () => {
  const held = gate()
  const next = gate()
  async function* right(): AsyncGenerator<Update> {
    await next.opened
    yield* said('one', 'two', 'three')
  }
  const driver = new StreamDriver<Update>(async () => {
    const driving = driver.drive(
      said('wrong'),
      waiting(() => held.opened),
    )
    await turn()
    driver.breakOff(broken)
    await driving.catch(() => {})
    void turn().then(held.open).then(turn).then(next.open)
    await driver.drive(right(), plain())
  })

  expect(await readSlowly(driver)).toEqual(['one', 'two', 'three'])
})

it('a source that ends after it was broken off does not end the next source', async () => {
  const late = gate()
  const next = gate()
  const stuck: AsyncIterable<Update> = {
    [Symbol.asyncIterator]: () => ({
      next: () => late.opened.then(() => ({ done: true, value: undefined })),
    }),
  }
  async function* right(): AsyncGenerator<Update> {
    yield* said('one')
    await next.opened
    yield* said('two')
  }
  const driver = new StreamDriver<Update>(async () => {
    const driving = driver.drive(stuck, plain())
    await turn()
    driver.breakOff(broken)
    await driving.catch(() => {})
    const rest = driver.drive(right(), plain())
    await turn()
    late.open()
    await turn()
    next.open()
    await rest
  })

  expect(await readSlowly(driver)).toEqual(['one', 'two'])
})

it('events keep their order where a source is broken off while a transform holds one', async () => {
  const first = gate()
  const driver = new StreamDriver<Update>(async () => {
    driver.outer = waiting((update) => (update.event === 'first' ? first.opened : turn()))
    const driving = driver.drive(said('word'), plain())
    await turn()
    driver.push(told('first'))
    driver.push(told('second'))
    await turn()
    await turn()
    driver.breakOff(broken)
    void turn().then(turn).then(first.open)
    await driving.catch(() => {})
  })

  expect(await readSlowly(driver)).toEqual(['word', 'first', 'second'])
})

it('a transform that fails on an event fails the stream, if no source runs then', async () => {
  const driver = new StreamDriver<Update>(async () => {
    driver.outer = waiting(() => Promise.reject(broken))
    driver.push(told('an event'))
    await turn()
  })

  await expect(readSlowly(driver)).rejects.toBe(broken)
})

it('of what was not read before the work failed, events are shown, and content is not', async () => {
  const driver = new StreamDriver<Update>(async () => {
    driver.push(told('first'))
    driver.push(said('word')[0]!)
    driver.push(told('second'))
    throw broken
  })
  const seen: string[] = []

  await expect(readSlowly(driver, seen)).rejects.toBe(broken)
  expect(seen).toEqual(['first', 'second'])
})

it('a source is closed once, also if a transform cancels the stream as it starts', async () => {
  let closed = 0
  const source: Iterable<Update> = {
    [Symbol.iterator]: () => ({
      next: () => ({ done: false, value: told('an event') }),
      return() {
        closed++
        return { done: true, value: undefined }
      },
    }),
  }
  const cancelling = new TransformPipeline<Update>([{ start: () => void driver.cancel(broken) }])
  const driver = new StreamDriver<Update>((): Promise<void> => driver.drive(source, cancelling))

  await expect(readSlowly(driver)).rejects.toBe(broken)
  expect(closed).toBe(1)
})

it('a source that comes when the work is over is refused', async () => {
  const driver = new StreamDriver<Update>(async () => {})
  const before = await readSlowly(driver)

  const driving = driver.drive(said('late'), plain())

  await expect(driving).rejects.toMatchObject({ code: 'aborted' })
  expect([before, await readSlowly(driver)]).toEqual([[], []])
})

it('a transform of the run that still holds an update of a source that was broken off, drops it', async () => {
  const held = gate()
  const driver = new StreamDriver<Update>(async () => {
    const outer = waiting((update) => (update.contents[0] === 'wrong' ? held.opened : turn()))
    const driving = driver.drive(said('wrong'), new TransformPipeline<Update>([], undefined, outer))
    await turn()
    driver.breakOff(broken)
    await driving.catch(() => {})
    void turn().then(held.open)
    await driver.drive(said('one', 'two'), new TransformPipeline<Update>([], undefined, outer))
  })

  expect(await readSlowly(driver)).toEqual(['one', 'two'])
})
