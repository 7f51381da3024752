import { describe, expect, test } from 'vitest'
import { callGroup, lastWithCalls, openCalls, openIn, unpaired } from './call-results.ts'
import type { Content, FunctionResultContent } from './content.ts'
import type { Message, Role } from './message.ts'
import { call as callOf, result as someResult, say } from './update-parts.test-helper.ts'

const call = (callId: string, informational?: boolean) =>
  callOf({ callId, name: 'add', arguments: '{}', ...(informational && { informational }) })
const result = (callId: string): FunctionResultContent => ({ ...someResult, callId })
const message = (id: string, role: Role, ...contents: Content[]): Message => ({
  id,
  role,
  contents,
})
const asked = (...contents: Content[]) => message('asked', 'assistant', ...contents)
const answered = (...contents: Content[]) => message('answered', 'tool', ...contents)

describe('open calls', () => {
  test('are those without a result that this process may run', () => {
    const [first, second, elsewhere] = [call('1'), call('2'), call('3', true)]

    expect(openCalls([asked(first, second, elsewhere), answered(result('1'))])).toEqual([second])
    expect(openCalls([asked(say('Hi.'), elsewhere)])).toEqual([])
  })

  test('are not closed by content of an unknown kind, whatever its fields', () => {
    const note = { ...result('1'), type: 'note' } as unknown as Content

    expect(openCalls([asked(call('1')), answered(note)])).toHaveLength(1)
  })
})

describe('unpaired', () => {
  test.each<[string, readonly Message[], number]>([
    ['a call without a result', [asked(call('1'))], 1],
    ['a result without a call', [asked(say('Hi.')), answered(result('1'))], 1],
    ['a result before its call', [answered(result('1')), asked(call('1'))], 2],
    ['nothing of a call and its result', [asked(call('1')), answered(result('1'))], 0],
    [
      'nothing of two calls of one id and two results',
      [asked(call('1'), call('1')), answered(result('1'), result('1'))],
      0,
    ],
    ['no record of a call that ran elsewhere', [asked(call('1', true))], 0],
  ])('is %s', (_, messages, count) => {
    expect(unpaired(messages).size).toBe(count)
  })
})

describe('a group of calls', () => {
  const [one, two] = [call('1'), call('2')]
  const group = [message('a1', 'assistant', one), message('a2', 'assistant', two)]
  const wait = message('w', 'assistant', say('One moment.'))
  const next = message('u', 'user', say('And?'))

  test.each<[string, readonly Message[], readonly Content[], number]>([
    ['at the start', [...group, next], [one, two], 2],
    ['behind text', [wait, ...group, next], [one, two], 3],
    ['behind earlier calls', [asked(call('0')), answered(result('0')), ...group], [one, two], 4],
    ['with an answer and more text', [...group, answered(result('1')), wait, next], [two], 3],
    ['before other calls', [...group, answered(result('1')), asked(call('3'))], [two], 3],
  ])('%s is found by each of its messages', (_, all, open, end) => {
    for (const { id } of group) {
      const found = callGroup(all, id)

      expect(found).toEqual({ id: 'a2', messages: group, end })
      expect(openIn(all, found)).toEqual(open)
    }
  })

  test('is not found by a message without calls', () => {
    expect(callGroup([wait, ...group], 'w')).toBeUndefined()
    expect(callGroup(group, 'none')).toBeUndefined()
  })

  test('is known by the last message that has calls', () => {
    expect(lastWithCalls([...group, wait])).toBe(group[1])
  })
})
