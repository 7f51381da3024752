import { describe, expect, test } from 'vitest'
import { chatResponse, toChatResponse } from './chat-response.ts'
import { messageText, toMessages } from './message.ts'

describe('input of messages', () => {
  test('makes one message of loose parts in a row, and another behind a message', () => {
    const messages = toMessages(['a', 'b', { role: 'user', contents: 'c' }, 'd'])

    expect(messages.map(messageText)).toEqual(['ab', 'c', 'd'])
  })

  test.each([
    ['null', null],
    ['undefined', undefined],
    ['5', 5],
    ['an object', {}],
    ['a list', []],
    ['an object with kind, body', { kind: 'user', body: 'Hi.' }],
  ])('tells that it got %s', (got, entry) => {
    expect(() => toMessages([entry as never])).toThrow(
      `expected a string, a content or a message, got ${got}; `,
    )
  })
})

describe('a response', () => {
  test('has the text of the assistant alone', () => {
    const response = chatResponse({
      messages: [
        { role: 'user', contents: 'Hello?' },
        { role: 'assistant', contents: 'Hi.' },
      ],
    })

    expect(response.text).toBe('Hi.')
  })

  test('that got other messages is made whole', () => {
    const given = { ...chatResponse('Hi.'), messages: [{ role: 'assistant', contents: 'Bye.' }] }

    expect(toChatResponse(given)).toMatchObject({
      messages: [{ id: expect.any(String), contents: [{ type: 'text', text: 'Bye.' }] }],
      text: 'Bye.',
    })
  })

  test.each([
    ['null', null],
    ['5', 5],
    ['an object', {}],
  ])('cannot be %s', (got, value) => {
    expect(() => toChatResponse(value)).toThrow(`expected a response or a string, got ${got}`)
  })
})
