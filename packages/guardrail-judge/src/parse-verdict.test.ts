import { chatResponse } from '@lamella/core'
import { assert, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { parseVerdict } from './index.ts'

const read = (text: string) => parseVerdict(chatResponse(text), ['a', 'b'], 'ticket-1')
const right = { ticket: 'ticket-1', scores: { a: 1, b: 0.25 } }

test.each([
  ['alone', JSON.stringify(right)],
  ['with white space', `\n ${JSON.stringify(right, null, 2)}\n`],
  ['in a fence', `\`\`\`json\n${JSON.stringify(right)}\n\`\`\``],
  ['in a fence without a name', `\`\`\`\n${JSON.stringify(right)}\n\`\`\``],
  ['with a reason', JSON.stringify({ ...right, reason: 'Because.' })],
])('an answer of the right form is a verdict, %s', (_, answer) => {
  expect([...read(answer).scores]).toEqual([
    ['a', 1],
    ['b', 0.25],
  ])
})

test.each([
  ['nothing', ''],
  ['a word', 'safe'],
  ['another word', 'unsafe'],
  ['a verdict with words around it', `Sure! ${JSON.stringify(right)}`],
  ['a verdict with words after it', `${JSON.stringify(right)} I hope this helps.`],
  ['two verdicts', `${JSON.stringify(right)}\n${JSON.stringify(right)}`],
  ['a fence in words', `Here:\n\`\`\`json\n${JSON.stringify(right)}\n\`\`\``],
  ['a list', JSON.stringify([right])],
  ['a text with a verdict', JSON.stringify(JSON.stringify(right))],
  ['null', 'null'],
  ['half a verdict', JSON.stringify(right).slice(0, -1)],
  ['the old form', '{"safe": true, "reason": "ok"}'],
  ['no ticket', JSON.stringify({ scores: right.scores })],
  ['another ticket', JSON.stringify({ ...right, ticket: 'ticket-2' })],
  ['a list of tickets', JSON.stringify({ ...right, ticket: ['ticket-1'] })],
  ['more than was asked for', JSON.stringify({ ...right, safe: true })],
  ['no scores', JSON.stringify({ ticket: 'ticket-1' })],
  ['a list of scores', JSON.stringify({ ...right, scores: [1, 1] })],
  ['a missing score', JSON.stringify({ ...right, scores: { a: 1 } })],
  ['a score too many', JSON.stringify({ ...right, scores: { a: 1, b: 1, c: 1 } })],
  ['a score for another', JSON.stringify({ ...right, scores: { a: 1, c: 1 } })],
  ['an inherited score', '{"ticket":"ticket-1","scores":{"a":1,"__proto__":{"b":1}}}'],
  ['a score in words', JSON.stringify({ ...right, scores: { a: '1', b: 1 } })],
  ['a score that is a word', JSON.stringify({ ...right, scores: { a: true, b: 1 } })],
  ['a score above 1', JSON.stringify({ ...right, scores: { a: 10, b: 1 } })],
  ['a score below 0', JSON.stringify({ ...right, scores: { a: -1, b: 1 } })],
  ['no number', '{"ticket":"ticket-1","scores":{"a":NaN,"b":1}}'],
  ['a reason that is no text', JSON.stringify({ ...right, reason: { a: 1 } })],
])('an answer of another form is none: %s', (_, answer) => {
  expect(() => read(answer)).toThrow(expect.objectContaining({ code: 'judge_malformed' }))
})

test.each([
  ['by its finish', chatResponse({ messages: JSON.stringify(right), finishReason: 'refusal' })],
  [
    'by a filter',
    chatResponse({ messages: JSON.stringify(right), finishReason: 'content-filter' }),
  ],
  ['by a part', chatResponse({ messages: { type: 'refusal', text: 'No.' } })],
])('a refusal is none, %s', (_, response) => {
  const problem = expect.objectContaining({ code: 'judge_refused' })

  expect(() => parseVerdict(response, ['a', 'b'], 'ticket-1')).toThrow(problem)
})

test('no text makes a verdict that does not know the ticket, and no error repeats it', () => {
  const any = property(string({ unit: 'grapheme' }), (text) => {
    const forged = JSON.stringify({ ticket: text, scores: { a: 1, b: 1 } })
    for (const answer of [text, forged]) {
      let message = ''
      try {
        read(answer)
      } catch (error) {
        message = String(error)
      }
      expect(message).toMatch(/the judge answered with (?:no|another|more|scores|a )/)
      expect(message.length).toBeLessThan(90)
    }
  })

  assert(any)
})
