import { message } from '@lamella/core'
import { describe, expect, it } from 'vitest'
import { idsFrom } from '../base/create-id.ts'
import type { FunctionCallContent } from '../messages/content.ts'
import { foldUpdates } from '../messages/response-fold.ts'
import { OwnCalls, withOwnCalls } from './own-ids.ts'

const call = (fields: Partial<FunctionCallContent>): FunctionCallContent => ({
  type: 'function-call',
  callId: 'same',
  name: 'pay',
  arguments: '',
  ...fields,
})
const ids = () => idsFrom(() => 0.5)

/** Calls of an answer that arrives as these updates. */
function streamed(parts: readonly FunctionCallContent[]): readonly FunctionCallContent[] {
  const own = new OwnCalls(ids(), () => [])
  return foldUpdates(parts.map((part) => ({ contents: own.take([part]) }))).functionCalls
}

describe('calls of one answer under one id', () => {
  const ada = call({ arguments: '{"to":"Ada"}' })
  const bob = call({ arguments: '{"to":"Bob"}' })
  const look = call({ name: 'look', arguments: '{"to":"Ada"}' })

  it('get ids of their own, and keep the original', () => {
    const [first] = withOwnCalls([message('assistant', [ada, bob, look, ada])], [], ids())
    const calls = first!.contents as readonly FunctionCallContent[]

    expect(calls[0]).toBe(ada)
    expect(new Set(calls.map(({ callId }) => callId)).size).toBe(4)
    expect(calls[1]).toMatchObject({ ...bob, callId: calls[1]!.callId })
    expect(calls[1]!.metadata).toEqual({ originalCallId: 'same' })
  })

  it('are the same ones where they arrive one by one, whole or in fragments', () => {
    const whole = streamed([ada, bob])
    const again = streamed([ada, ada])
    const fragments = streamed([
      call({ arguments: '{"to":', index: 0 }),
      call({ arguments: '{"to":', index: 1 }),
      call({ callId: '', name: '', arguments: '"Ada"}', index: 0 }),
      call({ callId: '', name: '', arguments: '"Bob"}', index: 1 }),
    ])

    expect(again.map((entry) => entry.arguments)).toEqual([ada.arguments, ada.arguments])
    for (const calls of [whole, fragments]) {
      expect(calls.map((entry) => entry.arguments)).toEqual([ada.arguments, bob.arguments])
      expect(new Set(calls.map(({ callId }) => callId)).size).toBe(2)
    }
  })

  it('get one, too, where a call of another answer waits for its result under that id', () => {
    const open = message('assistant', [ada])
    const result = message('tool', { type: 'function-result', callId: 'same', contents: [] })
    const later = [message('assistant', [bob])]

    expect(withOwnCalls(later, [open], ids())[0]!.contents).toMatchObject([
      { metadata: { originalCallId: 'same' } },
    ])
    expect(withOwnCalls(later, [open, result], ids())).toBe(later)
  })

  it('stay as they are where each has an id of its own', () => {
    const messages = [message('assistant', [ada, { ...bob, callId: 'other' }])]

    expect(withOwnCalls(messages, [], ids())).toBe(messages)
  })

  it('are fragments of one call where nothing else is known', () => {
    const calls = streamed([
      call({ arguments: '{"to":' }),
      call({ name: '', arguments: '"Ada"' }),
      call({ name: '', arguments: '}' }),
    ])

    expect(calls.map((entry) => entry.arguments)).toEqual([ada.arguments])
  })
})
