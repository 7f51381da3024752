import type { Content, Message, Role } from '@lamella/core'
import * as fc from 'fast-check'

let count = 0

/** A message with an id of its own. */
export function say(role: Role, contents: string | Content | readonly Content[]): Message {
  const list = typeof contents === 'string' ? [{ type: 'text' as const, text: contents }] : contents
  return { id: `m${count++}`, role, contents: Array.isArray(list) ? list : [list as Content] }
}

export function call(callId: string, name = 'work'): Content {
  return { type: 'function-call', callId, name, arguments: '{"n":1}' }
}

export function result(callId: string, words = 'done'): Content {
  return { type: 'function-result', callId, contents: [{ type: 'text', text: words }] }
}

/** Questions and answers, one each. */
export function talk(turns: number): Message[] {
  return Array.from({ length: turns }, (_, turn) => [
    say('user', `question ${turn}`),
    say('assistant', `answer ${turn}`),
  ]).flat()
}

const words = fc.string({ minLength: 1, maxLength: 40 })

const round = fc
  .record({
    calls: fc.integer({ min: 1, max: 3 }),
    thinks: fc.boolean(),
    apart: fc.boolean(),
    together: fc.boolean(),
    words: fc.string({ maxLength: 200 }),
  })
  .map(({ calls, thinks, apart, together, words: text }) => {
    const ids = Array.from({ length: calls }, () => `call_${count++}`)
    const thought: Content = { type: 'reasoning', text: 'Hm.' }
    const called = ids.map((id) => call(id))
    const asked = apart
      ? [say('assistant', thought), say('assistant', called)]
      : [say('assistant', thinks ? [thought, ...called] : called)]
    const results = ids.map((id) => result(id, text))
    return [
      ...asked,
      ...(together ? [say('tool', results)] : results.map((one) => say('tool', one))),
    ]
  })

const turn = fc
  .record({
    questions: fc.array(words, { minLength: 1, maxLength: 2 }),
    rounds: fc.array(round, { maxLength: 4 }),
    answer: words,
  })
  .map(({ questions, rounds, answer }) => ({
    begun: [...questions.map((text) => say('user', text)), ...rounds.flat()],
    answer: say('assistant', answer),
  }))

/** A conversation as a model is shown it: the last turn has no answer yet. */
export const conversation: fc.Arbitrary<readonly Message[]> = fc
  .record({
    system: fc.array(words, { maxLength: 2 }),
    turns: fc.array(turn, { minLength: 1, maxLength: 8 }),
  })
  .map(({ system, turns }) => [
    ...system.map((text) => say('system', text)),
    ...turns.flatMap(({ begun, answer }, index) =>
      index === turns.length - 1 ? begun : [...begun, answer],
    ),
  ])
