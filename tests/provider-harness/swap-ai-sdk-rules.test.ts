import { describe, expect, test } from 'vitest'
import { converseProblems } from './swap-converse-rules.ts'
import { googleProblems } from './swap-google-rules.ts'
import type { Wire } from './swap-problems.ts'

// A rule that no request can break is none: each has one here that breaks it.

const schema = { type: 'object', properties: {} }
const turn = (role: string, ...parts: readonly Wire[]): Wire => ({ role, parts })
const calls = (name: string): Wire => ({ functionCall: { name, args: {} } })
const answers = (name: string): Wire => ({ functionResponse: { name, response: { ok: true } } })
const hi = turn('user', { text: 'Hi' })

const says = (role: string, ...content: readonly Wire[]): Wire => ({ role, content })
const uses = (toolUseId: string, more: Wire = {}): Wire => ({
  toolUse: { toolUseId, name: 'f', input: {}, ...more },
})
const result = (toolUseId: string): Wire => ({
  toolResult: { toolUseId, content: [{ text: 'x' }] },
})
const hello = says('user', { text: 'Hi' })

const apis = [
  {
    name: 'generateContent',
    problems: googleProblems,
    legal: {
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        turn('user', { text: 'Hi' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }),
        turn('model', { text: 'hm', thought: true }, calls('f')),
        turn('user', answers('f')),
      ],
      tools: [{ functionDeclarations: [{ name: 'f', parameters: schema }] }],
    },
    offences: {
      'no contents': { contents: undefined },
      'a model that speaks first': { contents: [turn('model', { text: 'Hi' })] },
      'another role': { contents: [hi, turn('assistant', { text: 'Hi' })] },
      'no part': { contents: [turn('user')] },
      'an empty text': { contents: [turn('user', { text: '' })] },
      'a call without an answer': { contents: [hi, turn('model', calls('f')), hi] },
      'a call at the end': { contents: [hi, turn('model', calls('f'))] },
      'an answer without its call': { contents: [hi, turn('user', answers('f'))] },
      'a call of the user': { contents: [turn('user', calls('f')), turn('user', answers('f'))] },
      'a thought of the user': { contents: [turn('user', { text: 'x', thought: true })] },
      'a name with a dot': {
        contents: [hi, turn('model', calls('a.b')), turn('user', answers('a.b'))],
      },
      'a foreign field': { contents: [turn('user', { text: 'x', id: 'a' })] },
      'an end of the model': { contents: [hi, turn('model', { text: 'Hi' })] },
      'an empty system prompt': { systemInstruction: { parts: [{ text: ' ' }] } },
    },
  },
  {
    name: 'Converse',
    problems: converseProblems,
    legal: {
      system: [{ text: 'Be brief.' }],
      messages: [
        says('user', { text: 'Hi' }, { image: { format: 'png', source: { bytes: 'AAAA' } } }),
        says('assistant', { text: 'Hm.' }, uses('a')),
        says('user', result('a'), { text: 'And?' }),
      ],
      toolConfig: { tools: [{ toolSpec: { name: 'f', inputSchema: { json: schema } } }] },
    },
    offences: {
      'an assistant that speaks first': { messages: [says('assistant', { text: 'Hi' })] },
      'another role': { messages: [hello, says('model', { text: 'Hi' })] },
      'two turns of one role': { messages: [hello, hello] },
      'no block': { messages: [says('user')] },
      'an empty text': { messages: [says('user', { text: ' ' })] },
      'a block of two kinds': { messages: [says('user', { text: 'x', image: {} })] },
      'an image of no format': { messages: [says('user', { image: { format: 'bmp' } })] },
      'a call without a result': { messages: [hello, says('assistant', uses('a')), hello] },
      'a call at the end': { messages: [hello, says('assistant', uses('a'))] },
      'a result without its call': { messages: [says('user', result('a'))] },
      'an id with a bar': {
        messages: [hello, says('assistant', uses('a|b')), says('user', result('a|b'))],
      },
      'an input that is a text': {
        messages: [hello, says('assistant', uses('a', { input: 'x' })), says('user', result('a'))],
      },
      'a thought without a signature': {
        messages: [
          hello,
          says('assistant', { reasoningContent: { reasoningText: { text: 'x' } } }),
        ],
      },
      'a tool without a schema': { toolConfig: { tools: [{ toolSpec: { name: 'f' } }] } },
    },
  },
] as const

describe.each(apis)('the rules of $name', ({ problems, legal, offences }) => {
  test('let a legal request pass', () => {
    expect(problems(legal)).toEqual([])
  })

  test.each(Object.entries<Wire>(offences))('refuse %s', (_name, offence) => {
    expect(problems({ ...legal, ...offence })).not.toEqual([])
  })
})

test('the rules of generateContent refuse an unsigned call to Gemini 3', () => {
  const signed = { ...calls('f'), thoughtSignature: 'c2ln' }
  const body = (...made: readonly Wire[]): Wire => ({
    contents: [hi, turn('model', ...made), turn('user', ...made.map(() => answers('f')))],
  })

  expect(googleProblems(body(signed, calls('f')), { isModern: true })).toEqual([])
  expect(googleProblems(body(calls('f'), signed), { isModern: true })).toHaveLength(1)
})

test('the rules of Vertex AI refuse ids of calls and results', () => {
  const body = (call: Wire, response: Wire): Wire => ({
    contents: [
      hi,
      turn('model', { functionCall: { name: 'f', args: {}, ...call } }),
      turn('user', { functionResponse: { name: 'f', response: {}, ...response } }),
    ],
  })
  const id = { id: 'a' }

  expect(googleProblems(body({}, {}), { hasCallIds: false })).toEqual([])
  expect(googleProblems(body(id, {}), { hasCallIds: false })).toHaveLength(1)
  expect(googleProblems(body({}, id), { hasCallIds: false })).toHaveLength(1)
})
