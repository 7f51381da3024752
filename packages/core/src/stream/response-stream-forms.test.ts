import { scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { Agent, ResponseStream, text, toReadableStream } from '../index.ts'

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

describe('other forms of a stream', () => {
  it('toReadableStream() is pulled by its reader and ends with the stream', async () => {
    const log: string[] = []
    const readable = toReadableStream(summing(log))
    const reader = readable.getReader()
    const before = [...log]

    const first = await reader.read()

    expect([before, first.value, log]).toEqual([[], 1, ['pull 1']])
    expect([(await reader.read()).value, (await reader.read()).value]).toEqual([2, 3])
    expect((await reader.read()).done).toBe(true)
  })

  it('toReadableStream() that is cancelled ends the stream with the reason', async () => {
    const log: string[] = []
    const reason = new Error('enough')
    const stream = summing(log)
    const reader = toReadableStream(stream).getReader()
    await reader.read()

    await reader.cancel(reason)

    await expect(stream.finalResponse()).rejects.toBe(reason)
    expect(log).toEqual(['pull 1', 'closed'])
  })

  it('toReadableStream() of a stream that fails fails with the same error', async () => {
    const error = new Error('cut')
    const client = scriptedClient([error])
    const stream = new Agent({ client }).run('Hello', { stream: true })

    await expect(toReadableStream(stream).getReader().read()).rejects.toBe(error)
  })

  it('text() leaves out what is no text of the assistant', async () => {
    const updates = [
      { role: 'user', contents: [text('asked ')] },
      { role: 'assistant', contents: [text('One '), { type: 'reasoning', text: 'hm' }] },
      { role: 'tool', contents: [text('found ')] },
      { contents: [text('two.')] },
    ]

    expect(await read(ResponseStream.from(updates).text())).toEqual(['One ', 'two.'])
  })

  const restart = { contents: [], restart: true }
  const piece = (words: string) => ({ contents: [text(words)] })

  it.each([
    ['continues', ['One'], ['One two'], ['One', ' two']],
    ['differs once', ['Wrong'], ['Right', restart, 'Ri', 'ght'], ['Wrong', 'restart', 'Right']],
    ['differs in its middle', ['One two'], ['One', ' six'], ['One two', 'restart', 'One six']],
    ['ends early', ['One', ' two'], ['One'], ['One', ' two', 'restart', 'One']],
    ['is empty', ['One'], [], ['One', 'restart']],
  ])('text() that begins anew and %s', async (_, before, after, expected) => {
    const updates = [...before, restart, ...after].map((update) =>
      typeof update === 'string' ? piece(update) : update,
    )
    const seen: string[] = []
    const onRestart = () => seen.push('restart')

    for await (const words of ResponseStream.from(updates).text({ onRestart })) seen.push(words)

    expect(seen).toEqual(expected)
  })

  it('text() that is left ends the stream', async () => {
    const log: string[] = []
    const stream = summing(log).map(
      (update) => ({ contents: [text(`${update}`)] }),
      () => 0,
    )

    for await (const _ of stream.text()) break

    expect(log).toEqual(['pull 1', 'closed'])
  })
})
