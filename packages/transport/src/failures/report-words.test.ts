import { expect, test } from 'vitest'
import { reportWords } from './report-words.ts'

test.each<[unknown, string | undefined]>([
  [' No such model. ', 'No such model.'],
  [' ', undefined],
  [undefined, undefined],
  [429, undefined],
  [{ message: 'No.', detail: 'more' }, 'No.'],
  [{ message: '', msg: 'No.' }, 'No.'],
  [{ error: { message: 'No.' } }, 'No.'],
  [{ input: 'a secret' }, undefined],
  [['No.', { input: 'a secret' }, { msg: 'Never.' }], 'No.; Never.'],
  [[], undefined],
  [
    { detail: [{ loc: ['body', 'messages', 0], msg: 'is required', input: 'a secret' }] },
    'body.messages.0: is required',
  ],
  [{ loc: ['body', 'a secret', 'x'], msg: 'is odd' }, 'body.x: is odd'],
  [{ loc: ['a secret'], msg: 'is odd' }, 'is odd'],
  [{ error: { error: { error: { error: 'No.' } } } }, 'No.'],
  [{ error: { error: { error: { error: { error: 'No.' } } } } }, undefined],
  [[[[['No.']]]], 'No.'],
  [[[[[['No.']]]]], undefined],
])('the report %j says %j', (report, words) => {
  expect(reportWords(report)).toBe(words)
})
