import { describe, expect, test } from 'vitest'
import type { ChatResponseUpdate } from './chat-response.ts'
import type { Content } from './content.ts'
import { foldUpdates, ResponseFold } from './response-fold.ts'
import { call, result, results, say, think, update } from './update-parts.test-helper.ts'

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

  test('an update without an id belongs to the message before it, also with news', () => {
    const { messages } = foldUpdates([
      { contents: [say('one')], messageId: 'm1' },
      { contents: [say('two')], messageId: 'm2' },
      { contents: [say(' uno')], messageId: 'm1' },
      { contents: [say(' un')], metadata: { x: 1 } },
    ])

    expect(messages).toMatchObject([{ contents: [say('one uno un')] }, { contents: [say('two')] }])
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

  test('a fragment with neither id nor index belongs to a call before it that has both', () => {
    const { functionCalls } = foldUpdates([
      update(call({ callId: 'a', name: 'add', index: 0, arguments: '{' })),
      update(call({ arguments: '}' })),
    ])

    expect(functionCalls).toEqual([call({ callId: 'a', name: 'add', arguments: '{}' })])
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
      update(
        { type: 'hosted', name: 'search', id: 'h1', data: 'running', metadata: { step: 1 } },
        say('a'),
      ),
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
