import { describe, expect, test } from 'vitest'
import type { Content, FunctionCallContent, FunctionResultContent } from './content.ts'
import type { Message } from './message.ts'
import { matchResults } from './match-results.ts'

const call = (callId: string): FunctionCallContent => ({
  type: 'function-call',
  callId,
  name: 'add',
  arguments: '{}',
})
const result = (callId: string): FunctionResultContent => ({
  type: 'function-result',
  callId,
  name: 'add',
  contents: [],
})
const say = (text: string): Content => ({ type: 'text', text })
const asked = (...contents: Content[]): Message => ({ id: 'a', role: 'assistant', contents })
const answered = (...contents: Content[]): Message => ({ id: 't', role: 'tool', contents })

describe('results of a history', () => {
  test('belong to the calls of one turn in their order, also over several messages', () => {
    const [first, second] = [call('1'), call('1')]
    const [early, late] = [result('1'), { ...result('1'), name: 'late' }]

    const { results, strays } = matchResults([
      asked(say('Hi.'), first),
      asked(second),
      answered(early, late),
    ])

    expect([results.get(first), results.get(second)]).toEqual([[early], [late]])
    expect(strays.size).toBe(0)
  })

  test('are kept for each time that the same call stands in it', () => {
    const again = call('1')
    const [early, late] = [result('1'), { ...result('1'), name: 'late' }]

    const { results } = matchResults([asked(again), answered(early), asked(again), answered(late)])

    expect(results.get(again)).toEqual([early, late])
  })
})
