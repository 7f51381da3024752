import { describe, expect, test } from 'vitest'
import type { ChatResponse } from './chat-response.ts'
import { chatResponse, toUpdates } from './chat-response.ts'
import type { Content } from './content.ts'
import type { Message, Role } from './message.ts'
import { normalizeResponse } from './normalize-response.ts'
import { foldUpdates } from './response-fold.ts'
import { call, result, say, think } from './update-parts.test-helper.ts'

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

  test('an empty part behind the only text is dropped', () => {
    const message = { id: 'm1', role: 'assistant', contents: [say('a'), say('')] } as const

    expect(normalizeResponse(chatResponse({ messages: [message] })).messages).toEqual([
      { ...message, contents: [say('a')] },
    ])
  })

  test('a message without an id gets one, and one of another role has no say in the text', () => {
    const unnamed = chatResponse({ messages: [{ id: '', role: 'assistant', contents: 'a' }] })
    const other = { ...unnamed, messages: [{ id: 'm1', role: 'user', contents: [say('a')] }] }

    expect(normalizeResponse(unnamed).messages).toMatchObject([
      { id: expect.stringMatching(/^msg_/) },
    ])
    expect(normalizeResponse(other as ChatResponse).text).toBe('')
  })

  const asked = call({ callId: 'c1', name: 'add' })
  const message = (id: string, role: Role, ...contents: Content[]) => ({ id, role, contents })

  test.each<[string, readonly Message[]]>([
    [
      'a name again after tool results',
      [
        message('m1', 'assistant', asked),
        message('t1', 'tool', result),
        message('m1', 'assistant', say('b')),
      ],
    ],
    [
      'a name again in another role',
      [message('m1', 'user', say('a')), message('m1', 'assistant', say('b'))],
    ],
    [
      'hosted parts of several ids and of none',
      [
        message(
          'm1',
          'assistant',
          ...['h1', 'h2', undefined, undefined].map((id) => ({
            type: 'hosted' as const,
            name: 'search',
            id,
          })),
        ),
      ],
    ],
  ])('%s is its folded form', (_, messages) => {
    const response = chatResponse({ messages })

    expect(normalizeResponse(response)).toBe(response)
  })

  test.each<[string, readonly Message[], readonly Message[]]>([
    [
      'messages of one name',
      [message('m1', 'assistant', say('a')), message('m1', 'assistant', say('b'))],
      [message('m1', 'assistant', say('ab'))],
    ],
    [
      'tool results of one name',
      [
        message('t1', 'tool', result),
        message('m1', 'assistant', say('a')),
        message('t1', 'tool', say('b')),
      ],
      [message('t1', 'tool', result, say('b')), message('m1', 'assistant', say('a'))],
    ],
    [
      'hosted parts of one id',
      [
        message(
          'm1',
          'assistant',
          { type: 'hosted', name: 'search', id: 'h1' },
          { type: 'hosted', name: 'search', id: 'h1', data: 1 },
        ),
      ],
      [message('m1', 'assistant', { type: 'hosted', name: 'search', id: 'h1', data: 1 })],
    ],
    [
      'a call with an index',
      [message('m1', 'assistant', { ...asked, index: 0 })],
      [message('m1', 'assistant', asked)],
    ],
    [
      'a message without content',
      [message('m1', 'assistant', say('a')), message('m2', 'assistant')],
      [message('m1', 'assistant', say('a'))],
    ],
  ])('%s are folded', (_, messages, folded) => {
    expect(normalizeResponse(chatResponse({ messages })).messages).toEqual(folded)
  })

  test('a call without an id gets one', () => {
    const { messages, functionCalls } = normalizeResponse(chatResponse({ messages: call({}) }))

    expect(functionCalls).toMatchObject([{ callId: expect.stringMatching(/^call_/) }])
    expect(messages[0]!.contents).toEqual(functionCalls)
  })

  test.each<[string, Partial<ChatResponse>]>([
    ['another text', { text: 'stale' }],
    ['another call', { functionCalls: [{ ...asked }] }],
    ['one more call', { functionCalls: [asked, asked] }],
    ['no call', { functionCalls: [] }],
  ])('a call in a response that tells of %s is told anew', (_, stale) => {
    const response = chatResponse({ messages: asked })

    const normal = normalizeResponse({ ...response, ...stale })

    expect(normal.text).toBe('')
    expect(normal.functionCalls).toHaveLength(1)
    expect(normal.functionCalls[0]).toBe(asked)
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

    const [first, ...rest] = toUpdates(response)
    const { messages } = foldUpdates([{ ...first!, contents: [say('b')] }, ...rest])

    expect(messages).toEqual([{ id: 'm1', role: 'assistant', contents: [say('b')], origin }])
  })

  test('complete calls of one id stay apart', () => {
    const contents = [call({ callId: 'c1', name: 'add' }), call({ callId: 'c1', name: 'add' })]
    const response = chatResponse({ messages: contents })

    expect(normalizeResponse(response)).toBe(response)
    expect(foldUpdates(toUpdates(response)).functionCalls).toEqual(contents)
  })
})
