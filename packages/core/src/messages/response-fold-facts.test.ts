import { describe, expect, test } from 'vitest'
import type { ChatResponse, ChatResponseUpdate } from './chat-response.ts'
import { chatResponse } from './chat-response.ts'
import type { Content, TextContent } from './content.ts'
import { foldUpdates, ResponseFold } from './response-fold.ts'
import { call, result, results, say, update } from './update-parts.test-helper.ts'

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
    { origin: { provider: 'new' } },
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

  test('what results cost that come one after the other is kept', () => {
    const cost: Content = { type: 'usage', usage: { outputTokens: 7 } }

    const { usage, messages } = foldUpdates([
      { contents: [result], role: 'tool' },
      { contents: [{ ...result, callId: 'c2' }, cost], role: 'tool' },
      { contents: [say('a')], role: 'assistant' },
      { contents: [], restart: true },
    ])

    expect(usage).toEqual({ outputTokens: 7 })
    expect(messages).toMatchObject([{ contents: [result, { callId: 'c2' }] }])
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
