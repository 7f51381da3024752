import { expect, test } from 'vitest'
import { userInput } from './user-input.ts'

test.each<[string, unknown, unknown]>([
  ['a text', { type: 'text', text: 'Hi.', id: 'x' }, { type: 'text', text: 'Hi.' }],
  [
    'a link',
    { type: 'uri', uri: 'https://a.example', id: 'x' },
    { type: 'uri', uri: 'https://a.example' },
  ],
  [
    'a link with its media type',
    { type: 'uri', uri: 'https://a.example', mediaType: 'image/png' },
    { type: 'uri', uri: 'https://a.example', mediaType: 'image/png' },
  ],
  [
    'a link without a media type that is none',
    { type: 'uri', uri: 'https://a.example', mediaType: 'png' },
    { type: 'uri', uri: 'https://a.example' },
  ],
])('takes %s', (_, part, content) => {
  expect(userInput({ parts: [part] }).contents).toStrictEqual([content])
  expect(userInput(part).contents).toStrictEqual([content])
})

test.each<[string, unknown]>([
  ['nothing', null],
  ['a text that is a number', { type: 'text', text: 5 }],
  ['a thought', { type: 'reasoning', text: 'Hm.' }],
  ['a file without a media type', { type: 'data', data: 'AAAA' }],
  ['a file with a media type that is none', { type: 'data', data: 'AAAA', mediaType: 'png' }],
  ['a file with a list of them', { type: 'data', data: 'AAAA', mediaType: ['image/png'] }],
  ['a file of another type', { type: 'hosted', data: 'AAAA', mediaType: 'image/png' }],
  ['bytes that are a list', { type: 'data', data: ['AAAA'], mediaType: 'image/png' }],
  ['a link of another type', { type: 'hosted', uri: 'https://a.example' }],
  ['a link that is a list', { type: 'uri', uri: ['https://a.example'] }],
])('refuses a part that is %s', (_, part) => {
  expect(() => userInput({ parts: ['Hi.', part] })).toThrow(
    expect.objectContaining({ code: 'invalid_input', message: expect.stringContaining('part 1') }),
  )
})

test('refuses an object in which it knows nothing', () => {
  expect(() => userInput({ message: 'Hi.' })).toThrow('it must be a string, a list of parts, or')
})

test.each<[string, (length: number) => unknown, number]>([
  ['characters', (length) => 'a'.repeat(length), 12],
  ['bytes', (length) => ({ type: 'data', mediaType: 'a/b', data: 'A'.repeat(length) }), 16],
  ['parts', (length) => Array.from({ length }, () => 'a'), 3],
  ['of an address', (length) => ({ type: 'uri', uri: 'https://a/'.padEnd(length, 'a') }), 8192],
])('takes as many %s as are allowed, and no more', (_, inputOf, most) => {
  const limits = { maxChars: 12, maxBytes: 12, maxParts: 3 }

  expect(() => userInput(inputOf(most), limits)).not.toThrow()
  expect(() => userInput(inputOf(most + 1), limits)).toThrow('userInput: the input is not accepted')
})
