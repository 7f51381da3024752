import { expect, test } from 'vitest'
import type { Content, FunctionResultContent } from './content.ts'
import type { Message, Role } from './message.ts'
import { call as callOf, result as someResult, say, think } from './update-parts.test-helper.ts'
import { visibleHistory } from './visible-history.ts'

const call = (callId: string) => callOf({ callId, name: 'add', arguments: '{}' })
const result = (callId: string): FunctionResultContent => ({ ...someResult, callId })
const message = (role: Role, ...contents: Content[]): Message => ({ id: role, role, contents })

const [hi, thought] = [message('user', say('Hi.')), message('assistant', think('Hm.'))]
const [asked, answered] = [message('assistant', call('1')), message('tool', result('1'))]
const request: Content = { type: 'approval-request', id: 'a1', call: call('1') }
const approval: Content = { type: 'approval-response', id: 'a1', approved: true }

test('a conversation whose calls have their results is the same list', () => {
  const messages = [
    hi,
    message('assistant', think('Hm.'), say('I look.'), call('1'), call('2')),
    message('tool', result('1'), result('2')),
    message('assistant', say('Here.')),
  ]

  expect(visibleHistory(messages)).toBe(messages)
})

test.each<[string, readonly Message[], readonly Message[]]>([
  ['a call without a result, at the end', [hi, asked], [hi]],
  ['a call without a result, in the middle', [asked, hi], [hi]],
  [
    'a call without a result, not what was said with it',
    [message('assistant', say('I look.'), call('1')), hi],
    [message('assistant', say('I look.')), hi],
  ],
  ['a result without a call', [hi, answered], [hi]],
  ['a result without a call, not the thought before it', [thought, answered], [thought]],
  ['a result of another call, and the call', [asked, message('tool', result('2'))], []],
  ['one result too many', [asked, message('tool', result('1'), result('2'))], [asked, answered]],
  [
    'a call, not the answer before it',
    [message('assistant', say('So.')), asked],
    [message('assistant', say('So.'))],
  ],
  ['thoughts with the call that follows them', [hi, thought, thought, asked], [hi]],
  ['a thought that stands beside the call', [message('assistant', think('Hm.'), call('1'))], []],
  [
    'requests for approval and answers to them',
    [message('assistant', call('1'), request), message('user', approval), answered],
    [asked, answered],
  ],
])('leaves out %s', (_, messages, visible) => {
  expect(visibleHistory(messages)).toEqual(visible)
})

test('keeps what the provider asked itself, files, and results that come later', () => {
  const hosted = { ...request, hosted: true }
  const file: Content = { type: 'uri', uri: 'https://a.example/b.png' }
  const messages = [
    message('assistant', hosted),
    message('user', { ...approval, hosted: true }, file),
    asked,
    hi,
    answered,
  ]

  expect(visibleHistory(messages)).toEqual(messages)
})

test('results that are put in order stand in the message that was recorded last', () => {
  const waiting: Message = { ...asked, id: 'waiting' }
  const messages: readonly Message[] = [
    message('assistant', call('2'), call('3')),
    { ...message('tool', result('3')), id: 'late', metadata: { recordedAfter: 'waiting' } },
    { ...message('tool', result('2')), id: 'early' },
    hi,
    waiting,
  ]

  const [, results] = visibleHistory(messages)

  expect(results).toMatchObject({ id: 'late', contents: [{ callId: '2' }, { callId: '3' }] })
})
