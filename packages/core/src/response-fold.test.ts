import { describe, expect, test } from 'vitest'
import type { ChatResponse, ChatResponseUpdate } from './chat-response.ts'
import { chatResponse, toUpdates } from './chat-response.ts'
import type { Content, FunctionCallContent, ReasoningContent, TextContent } from './content.ts'
import { foldUpdates, normalizeResponse, ResponseFold } from './response-fold.ts'

function say(value: string, rest: Partial<TextContent> = {}): TextContent {
  return { type: 'text', text: value, ...rest }
}

function think(value: string, rest: Partial<ReasoningContent> = {}): ReasoningContent {
  return { type: 'reasoning', text: value, ...rest }
}

function call(rest: Partial<FunctionCallContent>): FunctionCallContent {
  return { type: 'function-call', callId: '', name: '', arguments: '', ...rest }
}

function update(...contents: Content[]): ChatResponseUpdate {
  return { contents }
}

const result: Content = { type: 'function-result', callId: 'c1', contents: [say('4')] }
const results: ChatResponseUpdate = { contents: [result], role: 'tool', messageId: 't1' }

function contentsOf(updates: readonly ChatResponseUpdate[]): readonly (readonly Content[])[] {
  return foldUpdates(updates).messages.map((message) => message.contents)
}

describe('messages', () => {
  test('updates without an id or a role make one assistant message with an id of its own', () => {
    const { messages, text } = foldUpdates([update(say('Hel')), update(say('lo'))])

    expect(messages).toEqual([
      { id: expect.stringMatching(/^msg_/), role: 'assistant', contents: [say('Hello')] },
    ])
    expect(text).toBe('Hello')
  })

  test('a generated id stays the same from one response of a fold to the next', () => {
    const fold = new ResponseFold()
    fold.add(update(say('a'), call({ name: 'add' })))

    const first = fold.response()
    fold.add(update(say('b')))
    const second = fold.response()

    expect(second.messages[0]!.id).toBe(first.messages[0]!.id)
    expect(second.functionCalls).toEqual(first.functionCalls)
    expect(second.text).toBe('ab')
  })

  test('another id or another role begins another message', () => {
    const { messages } = foldUpdates([
      { contents: [say('a')], messageId: 'm1' },
      { contents: [say('b')], messageId: 'm2' },
      { contents: [say('c')], role: 'user' },
      { contents: [say('d')], messageId: 'm2', role: 'system' },
    ])

    expect(messages).toEqual([
      { id: 'm1', role: 'assistant', contents: [say('a')] },
      { id: 'm2', role: 'assistant', contents: [say('b')] },
      { id: expect.any(String), role: 'user', contents: [say('c')] },
      { id: 'm2', role: 'system', contents: [say('d')] },
    ])
  })

  test('an id that comes late is the id of the open message', () => {
    const { messages } = foldUpdates([
      update(say('a')),
      { contents: [say('b')], messageId: 'm1' },
      update(say('c')),
    ])

    expect(messages).toEqual([{ id: 'm1', role: 'assistant', contents: [say('abc')] }])
  })

  test('messages that arrive in turns are kept apart by their ids', () => {
    const { messages } = foldUpdates([
      { contents: [say('one ')], messageId: 'm1' },
      { contents: [say('two ')], messageId: 'm2' },
      { contents: [say('uno')], messageId: 'm1' },
      { contents: [say('dos')], messageId: 'm2' },
    ])

    expect(messages.map(({ contents }) => contents)).toEqual([[say('one uno')], [say('two dos')]])
  })

  test('a model call that uses an id again does not change the message before the tool results', () => {
    const { messages, functionCalls } = foldUpdates([
      { contents: [call({ callId: 'c1', name: 'add', arguments: '{}' })], messageId: 'm1' },
      results,
      { contents: [call({ callId: 'c1', name: 'add', arguments: '[]' })], messageId: 'm1' },
    ])

    expect(messages.map(({ id, role }) => [id, role])).toEqual([
      ['m1', 'assistant'],
      ['t1', 'tool'],
      ['m1', 'assistant'],
    ])
    expect(functionCalls.map((entry) => entry.arguments)).toEqual(['{}', '[]'])
  })

  test('what follows tool results without a role is from the assistant', () => {
    const { messages } = foldUpdates([
      { contents: [result], role: 'tool' },
      update({ ...result, callId: 'c2' }),
      { contents: [], responseId: 'r2' },
      update(say('It is 4.')),
    ])

    expect(messages.map(({ role, contents }) => [role, contents.length])).toEqual([
      ['tool', 2],
      ['assistant', 1],
    ])
  })

  test('tool results that arrive in turns go to the messages they name', () => {
    const second: ChatResponseUpdate = { ...results, messageId: 't2' }

    const { messages } = foldUpdates([
      results,
      second,
      results,
      { contents: [result], messageId: 't2' },
    ])

    expect(messages.map(({ id, contents }) => [id, contents.length])).toEqual([
      ['t1', 2],
      ['t2', 2],
    ])
  })

  test('a message that stays empty does not part the one around it', () => {
    const { messages } = foldUpdates([
      { contents: [say('a')], messageId: 'm1', role: 'assistant' },
      { contents: [], messageId: 'm1', role: 'tool' },
      { contents: [say('b')], messageId: 'm1', role: 'assistant' },
    ])

    expect(messages).toEqual([{ id: 'm1', role: 'assistant', contents: [say('ab')] }])
  })

  test('the last author and time told hold, and metadata is merged', () => {
    const { messages } = foldUpdates([
      { contents: [say('a')], authorName: 'A', createdAt: 'then', metadata: { x: 1, y: 1 } },
      { contents: [say('b')], authorName: 'B', createdAt: 'now', metadata: { y: 2 } },
    ])

    expect(messages).toEqual([
      {
        id: expect.any(String),
        role: 'assistant',
        contents: [say('ab')],
        authorName: 'B',
        createdAt: 'now',
        metadata: { x: 1, y: 2 },
      },
    ])
  })

  test('messages without content are dropped', () => {
    const { messages } = foldUpdates([
      { contents: [], messageId: 'm1', authorName: 'A' },
      { contents: [say('')], messageId: 'm2' },
      { contents: [{ type: 'usage', usage: {} }], messageId: 'm3' },
    ])

    expect(messages).toEqual([])
  })
})

describe('text', () => {
  test('200,000 pieces make one text', () => {
    const fold = new ResponseFold()

    for (let at = 0; at < 200_000; at++) fold.add(update(say(String(at).padStart(8, '0'))))
    const { text } = fold.response()

    expect(text).toHaveLength(1_600_000)
    expect(text.slice(8 * 123_456, 8 * 123_457)).toBe('00123456')
    expect(text.endsWith('00199999')).toBe(true)
  })

  test('text around a call stays in two parts, and usage between does not part it', () => {
    const add = call({ callId: 'c1', name: 'add', arguments: '{}' })

    const contents = contentsOf([
      update(say('a'), { type: 'usage', usage: { outputTokens: 1 } }, say('b')),
      update(add),
      update(say('c')),
      update({ ...add, name: '', arguments: ' ' }),
      update(say('d')),
    ])

    expect(contents).toEqual([[say('ab'), { ...add, arguments: '{} ' }, say('cd')]])
  })

  test('joined text holds what was told last and collects annotations and metadata', () => {
    const origin = { provider: 'p' }

    const contents = contentsOf([
      update(
        say('a', { annotations: [{ type: 'one' }], metadata: { x: 1 }, providerData: 'first' }),
      ),
      update(
        say('b', { annotations: [{ type: 'two' }], metadata: { y: 2 }, providerData: 'second' }),
      ),
      update(say('', { origin, annotations: [{ type: 'three' }] })),
    ])

    expect(contents).toEqual([
      [
        {
          type: 'text',
          text: 'ab',
          annotations: [{ type: 'one' }, { type: 'two' }, { type: 'three' }],
          metadata: { x: 1, y: 2 },
          providerData: 'second',
          origin,
        },
      ],
    ])
  })

  test.each([
    { annotations: [{ type: 'one' }] },
    { metadata: { x: 1 } },
    { origin: { provider: 'p' } },
    { providerData: 'signature' },
  ])('%o is not missed on a piece of text', (mark) => {
    const contents = contentsOf([update(say('a')), update(say('b', mark)), update(say('c'))])

    expect(contents).toEqual([[say('abc', mark)]])
  })

  test('empty text is dropped unless something hangs on it', () => {
    const signed = say('', { providerData: 'signature' })
    const hosted: Content = { type: 'hosted', name: 'search' }

    const contents = contentsOf([
      update(say(''), hosted, say('', { origin: { provider: 'p' } }), hosted, signed),
    ])

    expect(contents).toEqual([[hosted, hosted, signed]])
  })

  test('text on both sides of a dropped empty part is joined', () => {
    expect(contentsOf([update(say('a'), think(''), say('b'))])).toEqual([[say('ab')]])
  })

  test('refusals are joined like text, and apart from it', () => {
    const contents = contentsOf([
      update(say('a')),
      update({ type: 'refusal', text: 'No' }),
      update({ type: 'refusal', text: '.' }),
    ])

    expect(contents).toEqual([[say('a'), { type: 'refusal', text: 'No.' }]])
  })
})

describe('reasoning', () => {
  test('pieces are joined unless their ids or kinds differ', () => {
    const contents = contentsOf([
      update(think('a', { id: 'r1' })),
      update(think('b')),
      update(think('c', { id: 'r2', kind: 'summary' })),
      update(think('d', { id: 'r2', kind: 'raw' })),
      update(think('e', { kind: 'raw' })),
    ])

    expect(contents).toEqual([
      [
        think('ab', { id: 'r1' }),
        think('c', { id: 'r2', kind: 'summary' }),
        think('de', { id: 'r2', kind: 'raw' }),
      ],
    ])
  })

  test('the last signature holds, and is kept without any text', () => {
    const contents = contentsOf([
      update(think('a', { protected: 'one', providerData: [1] })),
      update(think('b')),
      update(think('', { protected: 'two', providerData: [2] })),
      update(say('c')),
      update(think('', { protected: 'sealed' })),
    ])

    expect(contents).toEqual([
      [
        think('ab', { protected: 'two', providerData: [2] }),
        say('c'),
        think('', { protected: 'sealed' }),
      ],
    ])
  })
})

describe('function calls', () => {
  test('fragments find their call by its index after the id was told once', () => {
    const { functionCalls } = foldUpdates([
      update(
        call({ callId: 'a', name: 'add', index: 0 }),
        call({ callId: 'b', name: 'sub', index: 1 }),
      ),
      update(call({ index: 1, arguments: '{"y"' }), call({ index: 0, arguments: '{"x"' })),
      update(call({ index: 0, arguments: ':1}' })),
      update(call({ index: 1, arguments: ':2}' })),
    ])

    expect(functionCalls).toEqual([
      call({ callId: 'a', name: 'add', arguments: '{"x":1}' }),
      call({ callId: 'b', name: 'sub', arguments: '{"y":2}' }),
    ])
    expect(functionCalls[0]).not.toHaveProperty('index')
  })

  test('an id, a name and a signature that come late belong to the call of that index', () => {
    const { functionCalls } = foldUpdates([
      update(call({ index: 0, arguments: '{' })),
      update(call({ index: 0, name: 'add', arguments: '}', informational: true })),
      update(call({ index: 0, callId: 'a', providerData: 'signature' })),
    ])

    expect(functionCalls).toEqual([
      call({
        callId: 'a',
        name: 'add',
        arguments: '{}',
        informational: true,
        providerData: 'signature',
      }),
    ])
  })

  test('a fragment with neither id nor index belongs to the part before it', () => {
    const { messages } = foldUpdates([
      update(call({ callId: 'a', name: 'add', arguments: '{' })),
      update(say('')),
      update(call({ arguments: '}' })),
      update(say('then')),
      update(call({ arguments: 'x' })),
    ])

    expect(messages[0]!.contents).toEqual([
      call({ callId: 'a', name: 'add', arguments: '{}' }),
      say('then'),
      call({ callId: expect.stringMatching(/^call_/), arguments: 'x' }),
    ])
  })

  test('two calls of other names are two calls, even without ids', () => {
    const { functionCalls } = foldUpdates([
      update(call({ name: 'add', arguments: '{}' })),
      update(call({ name: 'sub', arguments: '{}' })),
    ])

    expect(functionCalls.map(({ name }) => name)).toEqual(['add', 'sub'])
    expect(functionCalls[0]!.callId).not.toBe(functionCalls[1]!.callId)
  })

  test('calls with ids of their own are never mixed, though all have index 0', () => {
    const { functionCalls } = foldUpdates([
      update(call({ callId: 'a', name: 'add', arguments: '{}', index: 0 })),
      update(call({ callId: 'b', name: 'add', arguments: '[]', index: 0 })),
    ])

    expect(functionCalls.map((entry) => [entry.callId, entry.arguments])).toEqual([
      ['a', '{}'],
      ['b', '[]'],
    ])
  })

  test('an index tells two calls of one id apart', () => {
    const { functionCalls } = foldUpdates([
      update(call({ callId: 'a', name: 'add', arguments: '1', index: 0 })),
      update(call({ callId: 'a', name: 'add', arguments: '2', index: 1 })),
      update(call({ callId: 'a', arguments: '3', index: 0 })),
    ])

    expect(functionCalls.map((entry) => entry.arguments)).toEqual(['13', '2'])
  })

  test('a fragment finds its call by id from a later message', () => {
    const { messages } = foldUpdates([
      { contents: [call({ callId: 'a', name: 'add', arguments: '{' })], messageId: 'm1' },
      { contents: [say('meanwhile')], messageId: 'm2' },
      { contents: [call({ callId: 'a', arguments: '}' })], messageId: 'm2' },
    ])

    expect(messages.map(({ contents }) => contents)).toEqual([
      [call({ callId: 'a', name: 'add', arguments: '{}' })],
      [say('meanwhile')],
    ])
  })
})

describe('other content', () => {
  test('a hosted part takes the place of the one with its id', () => {
    const contents = contentsOf([
      update({ type: 'hosted', name: 'search', id: 'h1', data: 'running' }, say('a')),
      update({ type: 'hosted', name: 'search', id: 'h1', data: 'done' }, say('b')),
      update({ type: 'hosted', name: 'search' }),
    ])

    expect(contents).toEqual([
      [
        { type: 'hosted', name: 'search', id: 'h1', data: 'done' },
        say('ab'),
        { type: 'hosted', name: 'search' },
      ],
    ])
  })

  test('what needs no joining, known or not, is kept as the same object', () => {
    const given: Content[] = [
      { type: 'data', mediaType: 'image/png', data: 'AA==' },
      { type: 'uri', uri: 'https://example.com' },
      { type: 'error', message: 'lost' },
      { type: 'approval-request', id: 'x', call: call({ callId: 'c1' }) },
      { type: 'hologram', text: 'kept' } as unknown as Content,
      { type: 'hologram', text: '' } as unknown as Content,
      say('whole'),
      call({ callId: 'c1', name: 'add', arguments: '{}' }),
    ]

    const [contents] = contentsOf([update(...given)])

    expect(contents).toHaveLength(given.length)
    for (const [at, content] of given.entries()) expect(contents![at]).toBe(content)
  })
})

describe('the response', () => {
  test('the last fact told holds, and what was told is not forgotten', () => {
    const response = foldUpdates([
      { contents: [], responseId: 'r1', model: 'small', conversationId: 'v1' },
      { contents: [say('a')], responseId: 'r2', model: 'large', finishReason: 'length' },
      { contents: [], finishReason: 'stop', model: undefined, metadata: { x: 1 } },
      { contents: [], metadata: { y: 2 } },
    ])

    expect(response).toEqual({
      id: 'r2',
      model: 'large',
      conversationId: 'v1',
      finishReason: 'stop',
      messages: [{ id: expect.any(String), role: 'assistant', contents: [say('a')] }],
      text: 'a',
      functionCalls: [],
      usage: {},
      metadata: { x: 1, y: 2 },
    })
  })

  test.each([
    { responseId: 'new' },
    { conversationId: 'new' },
    { model: 'new' },
    { finishReason: 'new' },
    { authorName: 'new' },
    { createdAt: 'new' },
    { metadata: { x: 'new' } },
    { usage: { outputTokens: 1 } },
  ])('%o is not missed on a piece of text', (fact) => {
    const plain = { contents: [say('a')], messageId: 'm1' }

    const folded = foldUpdates([plain, { ...plain, ...fact }, plain])

    const known = foldUpdates([{ ...plain, ...fact }, plain, plain])
    expect(folded).toEqual(known)
    expect(folded).not.toEqual(foldUpdates([plain, plain, plain]))
  })

  test('usage of updates is told anew, usage contents add up, and both are counted', () => {
    const { usage, messages } = foldUpdates([
      { contents: [say('a')], usage: { inputTokens: 10, outputTokens: 1 } },
      { contents: [{ type: 'usage', usage: { outputTokens: 100, searches: 1 } }] },
      { contents: [{ type: 'usage', usage: { searches: 1 } }], usage: { outputTokens: 2 } },
      { contents: [], usage: { inputTokens: undefined } },
    ])

    expect(usage).toEqual({ inputTokens: 10, outputTokens: 102, searches: 2 })
    expect(messages[0]!.contents).toEqual([say('a')])
  })

  test('a model call that tells its usage before its text counts it once', () => {
    const early: ChatResponseUpdate = { contents: [], usage: { inputTokens: 20 } }

    const { usage } = foldUpdates([results, early, { ...early, contents: [say('4')] }])

    expect(usage).toEqual({ inputTokens: 20 })
  })

  test('each model call of a run counts its own usage', () => {
    const marked = new ResponseFold()
    const calls: ChatResponseUpdate[] = [
      {
        contents: [call({ callId: 'c1', name: 'add' })],
        role: 'assistant',
        usage: { inputTokens: 10 },
      },
      results,
      { contents: [say('4')], role: 'assistant', usage: { inputTokens: 20 } },
    ]

    for (const entry of calls) {
      if (entry.role === 'assistant') marked.mark()
      marked.add(entry)
    }

    expect(marked.response().usage).toEqual({ inputTokens: 30 })
    expect(foldUpdates(calls).usage).toEqual({ inputTokens: 30 })
  })

  test('base fills what no update told, but neither content nor raw', () => {
    const fold = new ResponseFold()
    fold.add({ contents: [say('new')], model: 'told', usage: { inputTokens: 1 }, messageId: 'm1' })
    const base: ChatResponse = {
      ...chatResponse('secret'),
      id: 'r1',
      model: 'base',
      value: 42,
      raw: 'secret',
      usage: { inputTokens: 9, outputTokens: 9 },
      metadata: { kept: true },
    }

    const response = fold.response(base)

    expect(response).toEqual({
      id: 'r1',
      model: 'told',
      value: 42,
      messages: [{ id: 'm1', role: 'assistant', contents: [say('new')] }],
      text: 'new',
      functionCalls: [],
      usage: { inputTokens: 1, outputTokens: 9 },
      metadata: { kept: true },
    })
    expect(response).not.toHaveProperty('raw')
  })

  test('a key named __proto__ is a key like any other', () => {
    const metadata = JSON.parse('{"__proto__":{"polluted":true}}') as Record<string, unknown>
    const content = JSON.parse(
      '{"type":"text","text":"a","__proto__":{"polluted":true}}',
    ) as TextContent

    const response = foldUpdates([
      { contents: [say('b', { metadata })], metadata },
      { contents: [content], metadata, usage: metadata as never },
      { contents: [], metadata, usage: metadata as never },
    ])

    const [first] = response.messages
    for (const object of [response, response.metadata, response.usage, first, first!.metadata]) {
      expect((object as { polluted?: unknown }).polluted).toBeUndefined()
    }
    expect((first!.contents[0] as { polluted?: unknown }).polluted).toBeUndefined()
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    expect(Object.keys(response.metadata)).toEqual(['__proto__'])
  })
})

describe('restart', () => {
  const again: ChatResponseUpdate = { contents: [say('again')], role: 'assistant', restart: true }

  test('without a mark it drops what came after the last tool results', () => {
    const asked = {
      contents: [call({ callId: 'c1', name: 'add' })],
      messageId: 'm1',
      model: 'small',
    }

    const { messages, model, usage } = foldUpdates([
      asked,
      results,
      { contents: [say('dropped')], role: 'assistant', model: 'large', usage: { inputTokens: 1 } },
      { contents: [say('dropped')], messageId: 'm3' },
      again,
    ])

    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant'])
    expect(messages[2]!.contents).toEqual([say('again')])
    expect(model).toBe('small')
    expect(usage).toEqual({})
  })

  test('results that come in late stay where they are, and what follows them is dropped', () => {
    const late: ChatResponseUpdate = { ...results, contents: [{ ...result, callId: 'c2' }] }
    const dropped: ChatResponseUpdate = {
      contents: [say('dropped')],
      role: 'assistant',
      model: 'm',
    }

    const { messages, model } = foldUpdates([
      results,
      dropped,
      late,
      { contents: [], restart: true },
    ])

    expect(messages.map(({ contents }) => contents)).toEqual([[result, ...late.contents]])
    expect(model).toBeUndefined()
  })

  test('what results cost is kept', () => {
    const cost: Content = { type: 'usage', usage: { outputTokens: 7 } }

    const { usage } = foldUpdates([
      { ...results, contents: [result, cost] },
      { ...results, contents: [cost] },
      { contents: [cost], role: 'assistant' },
      { contents: [], restart: true },
    ])

    expect(usage).toEqual({ outputTokens: 14 })
  })

  test('results are kept though a message that began after them stays empty', () => {
    const begun: ChatResponseUpdate = { contents: [], role: 'tool', messageId: 't1' }

    const { messages } = foldUpdates([
      begun,
      { ...begun, messageId: 't2' },
      results,
      { contents: [], restart: true },
    ])

    expect(messages.map(({ id }) => id)).toEqual(['t1'])
  })

  test('without a mark or tool results it drops everything', () => {
    const response = foldUpdates([{ contents: [say('dropped')], model: 'small' }, again])

    expect(response.text).toBe('again')
    expect(response.model).toBeUndefined()
  })

  test('with a mark it drops what came after the mark, tool results too', () => {
    const fold = new ResponseFold()
    fold.add({ contents: [say('kept ')], finishReason: 'length' })

    fold.mark()
    for (const entry of [
      update(say('dropped')),
      results,
      { ...update(), finishReason: 'stop' },
      again,
    ]) {
      fold.add(entry)
    }

    const { messages, finishReason } = fold.response()
    expect(messages.map(({ contents }) => contents)).toEqual([[say('kept ')], [say('again')]])
    expect(finishReason).toBe('length')
  })

  test('a marked call never adds to a message from before the mark', () => {
    const fold = new ResponseFold()
    fold.add({ contents: [say('one')], messageId: 'm1' })

    fold.mark()
    fold.add({ contents: [say('two')], messageId: 'm1' })

    expect(fold.response().messages.map(({ id, contents }) => [id, contents])).toEqual([
      ['m1', [say('one')]],
      ['m1', [say('two')]],
    ])
  })

  test('a restart of the run drops everything, marks too', () => {
    const fold = new ResponseFold()
    fold.add({ contents: [say('dropped')], model: 'small' })
    fold.mark()
    fold.add(update(say('dropped')))

    fold.add({ ...again, scope: 'run' })
    expect(fold.response()).toMatchObject({ text: 'again', messages: [{}] })
    fold.add({ ...again, contents: [say('once more')] })

    expect(fold.response()).toEqual({
      ...chatResponse(''),
      text: 'once more',
      messages: [expect.anything()],
    })
  })

  test('a restart of the run forgets marks', () => {
    const fold = new ResponseFold()
    fold.add({
      contents: [say('a')],
      model: 'small',
      usage: { inputTokens: 1 },
      metadata: { x: 1 },
    })

    fold.mark()
    fold.add({ contents: [], restart: true, scope: 'run' })

    expect(fold.response()).toEqual(chatResponse({ messages: [] }))
    for (const entry of [results, update(say('dropped')), again]) fold.add(entry)
    expect(fold.response().messages.map(({ role }) => role)).toEqual(['tool', 'assistant'])
  })
})

describe('normalizeResponse', () => {
  test('a response in its folded form is returned as it is', () => {
    const response = chatResponse({
      messages: [
        { id: 'm1', role: 'assistant', contents: [think('x'), say('a'), call({ callId: 'c1' })] },
        { id: 't1', role: 'tool', contents: [result] },
        {
          id: 'm2',
          role: 'assistant',
          contents: [say('b')],
          metadata: {},
          origin: { provider: 'p' },
        },
      ],
      raw: {},
    })

    expect(normalizeResponse(response)).toBe(response)
    expect(normalizeResponse(chatResponse('plain'))).toMatchObject({ text: 'plain' })
  })

  test('parts are joined, empty ones dropped and usage contents counted', () => {
    const origin = { provider: 'p' }
    const response = chatResponse({
      messages: [
        {
          id: 'm1',
          role: 'assistant',
          origin,
          contents: [say('a'), say('b'), { type: 'usage', usage: { inputTokens: 2 } }],
        },
        { id: 'm2', role: 'assistant', contents: [say('')] },
      ],
      usage: { inputTokens: 1 },
      value: 42,
      raw: 'raw',
      metadata: { x: 1 },
    })

    expect(normalizeResponse(response)).toEqual({
      ...response,
      messages: [{ id: 'm1', role: 'assistant', origin, contents: [say('ab')] }],
      usage: { inputTokens: 3 },
    })
  })

  test('text and calls that do not fit the messages are told anew', () => {
    const { messages } = chatResponse('redacted')
    const stale: ChatResponse = { ...chatResponse('secret'), messages }

    const response = normalizeResponse(stale)

    expect(response.text).toBe('redacted')
    expect(response.messages).toBe(messages)
    expect(normalizeResponse({ ...response, functionCalls: [call({})] }).functionCalls).toEqual([])
  })

  test('the updates of a response fold to it', () => {
    const response = chatResponse({
      id: 'r1',
      model: 'small',
      finishReason: 'tool-calls',
      usage: { inputTokens: 1 },
      messages: [
        { id: 'm1', role: 'assistant', contents: [say('a'), say('b')], authorName: 'A' },
        { id: 't1', role: 'tool', contents: [result], metadata: { x: 1 } },
      ],
    })

    expect(foldUpdates(toUpdates(response))).toEqual(normalizeResponse(response))
  })

  test('a message keeps its origin through its updates', () => {
    const origin = { provider: 'p', model: 'small' }
    const response = chatResponse({
      messages: { id: 'm1', role: 'assistant', contents: [say('a')], origin },
    })

    const [update, ...rest] = toUpdates(response)
    const { messages } = foldUpdates([{ ...update!, contents: [say('b')] }, ...rest])

    expect(messages).toEqual([{ id: 'm1', role: 'assistant', contents: [say('b')], origin }])
  })

  test('complete calls of one id stay apart', () => {
    const contents = [call({ callId: 'c1', name: 'add' }), call({ callId: 'c1', name: 'add' })]
    const response = chatResponse({ messages: contents })

    expect(normalizeResponse(response)).toBe(response)
    expect(foldUpdates(toUpdates(response)).functionCalls).toEqual(contents)
  })
})
