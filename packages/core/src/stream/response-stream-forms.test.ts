import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { ServerSentEventsOptions } from '../index.ts'
import { Agent, functionMiddleware, LamellaError, ResponseStream, text, tool } from '../index.ts'
import { guardrail } from '@lamella/guardrail'

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
    const readable = summing(log).toReadableStream()
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
    const reader = stream.toReadableStream().getReader()
    await reader.read()

    await reader.cancel(reason)

    await expect(stream.finalResponse()).rejects.toBe(reason)
    expect(log).toEqual(['pull 1', 'closed'])
  })

  it('toReadableStream() of a stream that fails fails with the same error', async () => {
    const error = new Error('cut')
    const client = scriptedClient([error])
    const stream = new Agent({ client }).run('Hello', { stream: true })

    await expect(stream.toReadableStream().getReader().read()).rejects.toBe(error)
  })

  it('toSSE() has an event for each update and a last one, without what the SDK returned', async () => {
    const client = scriptedClient([{ updates: [{ contents: [text('One')], raw: 'secret' }] }])
    const stream = new Agent({ client }).run('Hello', { stream: true })

    const body = await new Response(stream.toSSE()).text()

    expect(body).toMatch(
      /^event: update\ndata: \{.*"One".*\}\n\nevent: done\ndata: \{"status":"completed"\}\n\n$/,
    )
    expect(body).not.toContain('secret')
  })

  const everything = ['annotations', 'events', 'files', 'reasoning', 'tool-calls'] as const

  it.each<[string, ServerSentEventsOptions | undefined, readonly string[], readonly string[]]>([
    [
      'nothing is asked for',
      undefined,
      ['answer', 'public step'],
      ['arg', 'row', 'thought', 'private'],
    ],
    [
      'much is asked for',
      { include: [...everything, 'tool-results', 'usage'] },
      ['answer', 'arg', 'row', 'thought', 'private step', 'totalTokens', 'note'],
      ['exception', 'opaque', 'sdk'],
    ],
  ])('toSSE() sends what it may where %s', async (_, options, sent, kept) => {
    const look = tool({
      name: 'look',
      description: 'Looks.',
      publicProgress: true,
      async *execute() {
        yield 'public step'
        return 'row'
      },
    })
    const fail = tool({
      name: 'fail',
      description: 'Fails.',
      execute: () => {
        throw new Error('exception')
      },
    })
    const client = scriptedClient([
      [callFunction('look', { a: 'arg' }), callFunction('fail')],
      {
        updates: [
          {
            contents: [
              { type: 'reasoning', text: 'thought', providerData: { signature: 'opaque' } },
              { type: 'text', text: 'answer', annotations: [{ type: 'citation', title: 'note' }] },
            ],
            raw: 'sdk',
            usage: { totalTokens: 3 },
          },
        ],
      },
    ])
    const agent = new Agent({
      client,
      tools: [look, fail],
      functionInvocation: { includeDetailedErrors: true },
      middleware: functionMiddleware('telling', ({ run }, callNext) => {
        run.emit({ type: 'step', data: 'private step' })
        return callNext()
      }),
    })

    const body = await new Response(agent.run('Hello', { stream: true }).toSSE(options)).text()

    for (const word of sent) expect(body).toContain(word)
    for (const word of [...kept, 'exception']) expect(body).not.toContain(word)
  })

  it('toSSE() tells a client what a paused run waits for, and the neutral message of a block', async () => {
    const gated = tool({ name: 'gated', description: '', approval: 'always', execute: () => 'ran' })
    const paused = new Agent({
      client: scriptedClient([callFunction('gated', { a: 1 })]),
      tools: [gated],
    }).run('Hello', { stream: true })
    const blocked = new Agent({
      client: scriptedClient(['A secret.']),
      middleware: guardrail({
        name: 'g',
        applyTo: ['output'],
        check: () => ({ action: 'block', category: 'secrets', reason: 'it is one' }),
      }),
    }).run('Hello', { stream: true })
    const doneOf = async (stream: typeof paused): Promise<unknown> =>
      JSON.parse((await new Response(stream.toSSE()).text()).split('event: done\ndata: ')[1]!)

    expect(await doneOf(paused)).toEqual({
      status: 'paused',
      pending: [
        {
          id: expect.any(String),
          kind: 'approval',
          callId: 'call_1',
          name: 'gated',
          arguments: '{"a":1}',
        },
      ],
    })
    expect(await doneOf(blocked)).toEqual({
      status: 'blocked',
      message: 'I cannot help with this request.',
    })
  })

  it('toSSE() refuses to include what it does not know', () => {
    const stream = new Agent({ client: scriptedClient([]) }).run('Hello', { stream: true })

    expect(() => stream.toSSE({ include: ['raw' as 'files'] })).toThrow(/include.*got raw/)
  })

  it('toSSE() sends updates that are no objects as they are', async () => {
    const body = await new Response(summing(undefined, 2).toSSE()).text()

    expect(body).toMatch(/^event: update\ndata: 1\n\nevent: update\ndata: 2\n\nevent: done\n/)
  })

  it('toSSE() ends with a code where the stream fails, and no word of the error', async () => {
    const bodyOf = (error: Error): Promise<string> => {
      const stream = new Agent({ client: scriptedClient([error]) }).run('Hello', { stream: true })
      return new Response(stream.toSSE()).text()
    }

    expect(await bodyOf(new Error('secret'))).toBe('event: error\ndata: {"code":"run_failed"}\n\n')
    expect(await bodyOf(new LamellaError('secret', { code: 'aborted' }))).toContain('"aborted"')
  })

  it('toSSE() that cannot write an update ends the run', async () => {
    const client = scriptedClient([{ updates: ['One'], hang: true }])
    const stream = new Agent({ client })
      .run('Hello', { stream: true })
      .withTransformHook((update) => ({ ...update, contents: [text(1n as never)] }))

    const body = await new Response(stream.toSSE()).text()

    expect(body).toBe('event: error\ndata: {"code":"run_failed"}\n\n')
    expect((await stream.outcome()).status).toBe('aborted')
    expect(client.openStreams).toBe(0)
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
