import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { CallIds } from './call-ids.ts'
import type { Content, Message } from '@lamella/core'
import { Losses } from './losses.ts'
import { matchResults } from '@lamella/core/authoring'
import { missingResult } from './missing-result.ts'
import { objectArguments } from './object-arguments.ts'
import { ownMessages, withoutForeignData } from './own-messages.ts'

const call = (callId: string): Content => ({
  type: 'function-call',
  callId,
  name: 'add',
  arguments: '{}',
})
const result = (callId: string): Content => ({ type: 'function-result', callId, contents: [] })
const message = (role: Message['role'], ...contents: Content[]): Message => ({
  id: role,
  role,
  contents,
})

test('messages that stay as they are stay the same objects', () => {
  const losses = new Losses()
  const kept = message('user', { type: 'text', text: 'Hi.' })
  const changed = message('assistant', { type: 'text', text: 'No.' }, call('1'))

  const own = ownMessages([kept, changed], losses, (content) =>
    content.type === 'text' && content.text === 'No.' ? undefined : content,
  )

  expect(own[0]).toBe(kept)
  expect(own[1]).toEqual(message('assistant', call('1')))
  expect(losses.toList()).toEqual([])
})

test('calls that are not the assistant’s are left out and counted', () => {
  const losses = new Losses()

  const own = ownMessages([message('user', call('1'), call('2'))], losses, (content) => content)

  expect(own).toEqual([message('user')])
  expect(losses.toList()).toEqual([
    'a function-call in a message of role user is left out (2 times)',
  ])
})

test('a content has the origin of its message, unless it has one of its own', () => {
  const theirs = { provider: 'theirs' }
  const ours = { provider: 'ours' }
  const origins: unknown[] = []
  const contents: Content[] = [
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b', origin: ours },
  ]

  ownMessages(
    [{ ...message('user', ...contents), origin: theirs }],
    new Losses(),
    (content, at) => {
      origins.push(at)
      return content
    },
  )

  expect(origins).toEqual([theirs, ours])
})

test('what a provider says of a content only stays with its own', () => {
  const content: Content = { type: 'text', text: 'a', providerData: { id: 1 } }

  expect(withoutForeignData(content, true)).toBe(content)
  expect(withoutForeignData(content, false)).toEqual({ type: 'text', text: 'a' })
})

test('results answer the calls of their turn, and no call of an earlier one', () => {
  const first = call('1')
  const again = call('1')
  const twin = call('1')
  const answer = result('1')
  const stray = result('9')

  const { results, strays } = matchResults([
    message('assistant', first),
    message('user', stray),
    message('assistant', again, twin),
    message('tool', answer),
  ])

  expect([first, again, twin].map((each) => results.get(each))).toEqual([
    [undefined],
    [answer],
    [undefined],
  ])
  expect([...strays]).toEqual([stray])
  expect(missingResult('1')).toMatchObject({ callId: '1', error: { code: 'cancelled' } })
})

test('ids of calls are legal, short and unique, whatever they were', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.integer({ min: 8, max: 40 }), (ids, longest) => {
      const calls = new CallIds(longest)

      const legal = ids.map((id) => calls.legal(id, false))

      expect(new Set(legal).size).toBe(ids.length)
      for (const id of legal) expect(id).toMatch(new RegExp(`^[\\w-]{1,${longest}}$`))
    }),
  )
})

test('an id that the provider made itself stays, the first time', () => {
  const calls = new CallIds(10)

  expect([calls.legal('a.b', true), calls.legal('a.b', true)]).toEqual(['a.b', 'a.b_2'])
})

test.each([
  ['{"a":1}', '{"a":1}'],
  [' ', '{}'],
  ['[1]', '{"invalid_arguments":"[1]"}'],
  ['{"a":', '{"invalid_arguments":"{\\"a\\":"}'],
])('arguments %j are sent as %j', (text, sent) => {
  expect(objectArguments(text)).toBe(sent)
})
