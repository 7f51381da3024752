import type { ChatRequest, ChatResponse, ChatResponseUpdate } from '@lamella/core'
import { chatResponse, message } from '@lamella/core'
import { describe, expect, it } from 'vitest'
import type { ScriptedStep } from '../index.ts'
import { callFunction, scriptedClient, testClock } from '../index.ts'

function request(text = 'hello', signal: AbortSignal = new AbortController().signal): ChatRequest {
  return { messages: [message('user', text)], instructions: undefined, options: {}, signal }
}

async function collect(updates: AsyncIterable<ChatResponseUpdate>): Promise<ChatResponseUpdate[]> {
  const collected: ChatResponseUpdate[] = []
  for await (const update of updates) collected.push(update)
  return collected
}

function textIn(updates: readonly ChatResponseUpdate[]): string[] {
  return updates.flatMap(({ contents }) =>
    contents.map((content) => ('text' in content ? content.text : content.type)),
  )
}

describe('a scripted client', () => {
  it('answers the calls with the steps, in order', async () => {
    const client = scriptedClient(['one', chatResponse('two'), () => 'three', async () => 'four'])

    const texts: string[] = []
    for (let call = 0; call < 4; call++) texts.push((await client.respond(request())).text)

    expect(texts).toEqual(['one', 'two', 'three', 'four'])
    client.assertDone()
  })

  it('gives ids, usage, model and finish reason that are the same in every run', async () => {
    const client = scriptedClient(['hi', [callFunction('a', { x: 1 }), callFunction('b', '{')]])

    const first = await client.respond(request())
    const second = await client.respond(request())

    expect(first).toMatchObject({
      id: 'response_1',
      model: 'scripted',
      finishReason: 'stop',
      usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
      messages: [{ id: 'msg_1', role: 'assistant', contents: [{ type: 'text', text: 'hi' }] }],
    })
    expect(second.finishReason).toBe('tool-calls')
    expect(second.functionCalls).toEqual([
      { type: 'function-call', callId: 'call_1', name: 'a', arguments: '{"x":1}' },
      { type: 'function-call', callId: 'call_2', name: 'b', arguments: '{' },
    ])
  })

  it('keeps what a reply says about itself', async () => {
    const given = chatResponse({
      id: 'r',
      messages: [{ id: 'm', role: 'assistant', contents: 'cut' }],
      usage: { outputTokens: 1 },
      finishReason: 'length',
      model: 'other',
    })

    const response = await scriptedClient([given]).respond(request())

    expect(response).toEqual(given)
  })

  it.for([
    ['char', ['a', ' ', 'b', 'é', '😀', 'c']],
    [2, ['a ', 'bé', '😀c']],
    ['word', ['a ', 'bé😀c']],
    ['whole', ['a bé😀c']],
    [(text: string) => [text.slice(0, 3), text.slice(3)], ['a b', 'é😀c']],
  ] as const)('cuts a streamed reply by %s', async ([chunk, pieces]) => {
    const client = scriptedClient(['a bé😀c'], { chunk })

    const updates = await collect(client.stream(request()))

    expect(textIn(updates)).toEqual(pieces)
    expect(updates.at(-1)).toMatchObject({ finishReason: 'stop', usage: { totalTokens: 15 } })
  })

  it('cuts the arguments of parallel calls and marks the pieces by index', async () => {
    const client = scriptedClient([[callFunction('a', '{"x":1}'), callFunction('b', '{}')]], {
      chunk: 4,
    })

    const updates = await collect(client.stream(request()))

    expect(updates.flatMap(({ contents }) => contents)).toEqual([
      { type: 'function-call', callId: 'call_1', name: 'a', arguments: '{"x"', index: 0 },
      { type: 'function-call', callId: 'call_1', name: 'a', arguments: ':1}', index: 0 },
      { type: 'function-call', callId: 'call_2', name: 'b', arguments: '{}', index: 1 },
    ])
  })

  it('gives the updates of an exact stream as they are, and folds them for a plain call', async () => {
    const step = {
      updates: [
        'He',
        'llo',
        callFunction('a'),
        { finishReason: 'stop', usage: { inputTokens: 1 } },
      ],
    } satisfies ScriptedStep
    const client = scriptedClient([step, step])

    const updates = await collect(client.stream(request()))
    const response = await client.respond(request())

    expect(updates.map(({ contents }) => contents.length)).toEqual([1, 1, 1, 0])
    expect(response).toMatchObject({
      text: 'Hello',
      finishReason: 'stop',
      usage: { inputTokens: 1 },
    })
    expect(response.functionCalls).toMatchObject([{ callId: 'call_2', arguments: '{}' }])
  })

  it('fails after the updates before an error, plain and streamed', async () => {
    const failure = new Error('cut')
    const step = { updates: ['a', 'b'], error: failure }
    const client = scriptedClient([step, step, failure, failure])
    const seen: ChatResponseUpdate[] = []

    const streamed = (async () => {
      for await (const update of client.stream(request())) seen.push(update)
    })()

    await expect(streamed).rejects.toBe(failure)
    expect(textIn(seen)).toEqual(['a', 'b'])
    await expect(client.respond(request())).rejects.toBe(failure)
    await expect(client.respond(request())).rejects.toBe(failure)
    await expect(collect(client.stream(request()))).rejects.toBe(failure)
    expect(client.openStreams).toBe(0)
  })

  it('waits between updates by its clock', async () => {
    const clock = testClock()
    const client = scriptedClient([{ updates: ['a', 'b'], delayMs: 100 }], { clock })
    const seen: ChatResponseUpdate[] = []

    const done = (async () => {
      for await (const update of client.stream(request())) seen.push(update)
    })()
    await clock.advance(199)
    const before = textIn(seen)
    await clock.advance(1)
    await done

    expect(before).toEqual(['a'])
    expect(textIn(seen)).toEqual(['a', 'b'])
  })

  it.for<[string, ScriptedStep]>([
    ['hangs', { updates: ['a'], hang: true }],
    ['waits', { updates: ['a', 'b'], delayMs: 1e9 }],
    ['makes up its answer', () => new Promise<string>(() => {})],
  ])('rejects with the reason when it is aborted while it %s', async ([, step]) => {
    const client = scriptedClient([step, step])
    const controller = new AbortController()
    const reason = new Error('enough')

    const plain = client.respond(request('plain', controller.signal))
    const streamed = collect(client.stream(request('streamed', controller.signal)))
    setImmediate(() => controller.abort(reason))

    await expect(plain).rejects.toBe(reason)
    await expect(streamed).rejects.toBe(reason)
    expect(client.openStreams).toBe(0)
  })

  it('is not asked when the call was aborted before', async () => {
    const client = scriptedClient(['never'])
    const signal = AbortSignal.abort(new Error('early'))

    await expect(client.respond(request('x', signal))).rejects.toThrow('early')
    await expect(collect(client.stream(request('x', signal)))).rejects.toThrow('early')
    expect(client.requests).toEqual([])
  })

  it('counts streams that are open, and closes one whose reader leaves', async () => {
    const client = scriptedClient(['a b c'])
    let during = -1

    for await (const _ of client.stream(request())) {
      during = client.openStreams
      break
    }

    expect(during).toBe(1)
    expect(client.openStreams).toBe(0)
  })

  it('records frozen copies of what arrived', async () => {
    const client = scriptedClient(['ok'])
    const messages = [message('user', 'before')]
    const asked = { ...request(), messages, instructions: 'be kind', options: { temperature: 1 } }

    await client.respond(asked)
    messages.push(message('user', 'after'))

    const [recorded] = client.requests
    expect(recorded).toMatchObject({ index: 0, stream: false, instructions: 'be kind' })
    expect(recorded?.messages).toHaveLength(1)
    expect(recorded?.options).toEqual({ temperature: 1 })
    expect(() => Object.assign(recorded!.messages[0]!, { role: 'system' })).toThrow(TypeError)
  })

  it('says which call went beyond the script and what it asked', async () => {
    const client = scriptedClient(['only one'])
    await client.respond(request())

    const beyond = client.respond(request('and now?'))

    await expect(beyond).rejects.toThrow(
      'scriptedClient: call 2 has no step (the script has 1); it asked user: "and now?"',
    )
    expect(() => client.assertDone()).toThrow('call 2 has no step')
  })

  it('lists the steps that were not used', async () => {
    const client = scriptedClient(['used', 'left', new Error('also left'), () => 'and this'])
    await client.respond(request())

    expect(() => client.assertDone()).toThrow(
      '3 of 4 steps were not used:\n  2: "left"\n  3: the error "also left"\n  4: a function',
    )
  })

  it('answers every call when a function stands in place of the list', async () => {
    const client = scriptedClient(({ index, messages }) => `${index}: ${messages.length}`)

    const answers: ChatResponse[] = []
    for (let call = 0; call < 3; call++) answers.push(await client.respond(request()))

    expect(answers.map(({ text }) => text)).toEqual(['0: 1', '1: 1', '2: 1'])
    client.assertDone()
  })
})
