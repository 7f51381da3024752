import { describe, expect, test } from 'vitest'
import { messagesDialects } from '../../packages/anthropic/src/index.ts'
import { chatDialects } from '../../packages/openai/src/index.ts'
import { completionsProblems } from './swap-completions-rules.ts'
import { messagesProblems } from './swap-messages-rules.ts'
import type { Wire } from './swap-problems.ts'
import { responsesProblems } from './swap-responses-rules.ts'

// A rule that no request can break is none: each has one here that breaks it.

type Offences = Readonly<Record<string, Wire>>

const schema = { type: 'object', properties: {} }
const user = { role: 'user', content: 'Hi' }
const blank = 'data:image/png;base64,AAAA'

const wanted = (id: string, more: Wire = {}): Wire => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: '{}', ...more },
})
const asking = (...calls: readonly Wire[]): Wire => ({
  role: 'assistant',
  content: null,
  tool_calls: calls,
})
const given = (id: string): Wire => ({ role: 'tool', tool_call_id: id, content: 'ok' })

const completions = {
  name: 'Chat Completions',
  problems: completionsProblems,
  legal: {
    model: 'm',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: blank } }] },
      asking(wanted('a'), wanted('b')),
      given('b'),
      given('a'),
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      user,
    ],
    tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
  },
  offences: {
    'no message': { messages: [] },
    'no model': { model: undefined, messages: [user], modle: 'm' },
    'a late system message': { messages: [user, { role: 'system', content: 'x' }] },
    'an unknown role': { messages: [{ role: 'model', content: 'x' }] },
    'an empty text': { messages: [{ role: 'user', content: '' }] },
    'an empty part': { messages: [{ role: 'user', content: [{ type: 'text', text: '' }] }] },
    'no part': { messages: [{ role: 'user', content: [] }] },
    'a part of another API': {
      messages: [{ role: 'user', content: [{ type: 'input_text', text: 'x' }] }],
    },
    'an image of the assistant': {
      messages: [
        { role: 'assistant', content: [{ type: 'image_url', image_url: { url: blank } }] },
      ],
    },
    'an image without an address': {
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x.png' } }] }],
    },
    'nothing said': { messages: [{ role: 'assistant', content: null }] },
    'a refusal beside text': {
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'x' },
            { type: 'refusal', refusal: 'No.' },
          ],
        },
      ],
    },
    'a call without a result': { messages: [asking(wanted('a')), user] },
    'a call at the end': { messages: [user, asking(wanted('a'))] },
    'a message between call and result': { messages: [asking(wanted('a')), user, given('a')] },
    'a result without its call': { messages: [user, given('a')] },
    'a second result': { messages: [asking(wanted('a')), given('a'), given('a')] },
    'two calls of one id': { messages: [asking(wanted('a'), wanted('a')), given('a')] },
    'a long id': { messages: [asking(wanted('a'.repeat(41))), given('a'.repeat(41))] },
    'no id': { messages: [asking(wanted('')), given('')] },
    'arguments that are no object': {
      messages: [asking(wanted('a', { arguments: '[1' })), given('a')],
    },
    'a name with a dot': { messages: [asking(wanted('a', { name: 'a.b' })), given('a')] },
    'a foreign field': { messages: [{ ...user, id: 'msg_1' }] },
    'a tool of another API': { tools: [{ type: 'function', name: 'f', parameters: schema }] },
    'a tool without a schema': { tools: [{ type: 'function', function: { name: 'f' } }] },
  },
}

const call = (id: string, more: Wire = {}): Wire => ({
  type: 'function_call',
  call_id: id,
  name: 'f',
  arguments: '{}',
  ...more,
})
const output = (id: string): Wire => ({ type: 'function_call_output', call_id: id, output: 'ok' })
const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed' }

const responses = {
  name: 'Responses',
  problems: responsesProblems,
  legal: {
    model: 'm',
    instructions: 'Be brief.',
    input: [
      { role: 'user', content: [{ type: 'input_image', image_url: blank, detail: 'auto' }] },
      thought,
      call('a', { id: 'fc_1' }),
      call('b'),
      output('b'),
      output('a'),
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      user,
    ],
    tools: [{ type: 'function', name: 'f', parameters: schema, strict: false }],
  },
  offences: {
    'no input': { input: [] },
    'messages of another API': { messages: [user] },
    'empty instructions': { instructions: '' },
    'an unknown role': { input: [{ role: 'tool', content: 'x' }] },
    'an unknown item': { input: [{ type: 'tool_use', id: 'x' }] },
    'an empty text': { input: [{ role: 'user', content: '' }] },
    'an empty part': { input: [{ role: 'user', content: [{ type: 'input_text', text: '' }] }] },
    'no part': { input: [{ role: 'user', content: [] }] },
    'what the assistant says of a user': {
      input: [{ role: 'user', content: [{ type: 'output_text', text: 'x' }] }],
    },
    'what a user says of the assistant': {
      input: [{ role: 'assistant', content: [{ type: 'input_text', text: 'x' }] }],
    },
    'an image without an address': {
      input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'x.png' }] }],
    },
    'a foreign id of a message': { input: [{ role: 'assistant', content: 'x', id: 'chatcmpl-1' }] },
    'a foreign id of a call': { input: [call('a', { id: 'toolu_1' }), output('a')] },
    'an id that comes twice': {
      input: [
        { role: 'assistant', content: 'x', id: 'msg_1' },
        { role: 'assistant', content: 'y', id: 'msg_1' },
      ],
    },
    'a thought without its item': { input: [thought, user] },
    'a thought at the end': { input: [user, thought] },
    'a thought that cannot be read': {
      input: [{ ...thought, encrypted_content: undefined }, call('a', { id: 'fc_1' }), output('a')],
    },
    'a call without a result': { input: [call('a'), user] },
    'a call at the end': { input: [user, call('a')] },
    'a message between call and result': { input: [call('a'), user, output('a')] },
    'a call among results': { input: [call('a'), call('b'), output('a'), call('c'), output('b')] },
    'a result without its call': { input: [user, output('a')] },
    'two calls of one id': { input: [call('a'), call('a'), output('a')] },
    'a long id': { input: [call('a'.repeat(65)), output('a'.repeat(65))] },
    'arguments that are no object': { input: [call('a', { arguments: '1' }), output('a')] },
    'a name with a dot': { input: [call('a', { name: 'a.b' }), output('a')] },
    'a foreign field': { input: [call('a', { extra: {} }), output('a')] },
    'a tool of another API': { tools: [{ name: 'f', input_schema: schema }] },
    'a tool without a schema': { tools: [{ type: 'function', name: 'f' }] },
  },
}

const use = (id: string, more: Wire = {}): Wire => ({
  type: 'tool_use',
  id,
  name: 'f',
  input: {},
  ...more,
})
const result = (id: string, content: unknown = 'ok'): Wire => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
})
const says = (...content: readonly Wire[]): Wire => ({ role: 'assistant', content })
const shows = (...content: readonly Wire[]): Wire => ({ role: 'user', content })
const text = { type: 'text', text: 'x' }
const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'signed' }
const picture = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'AAAA' },
}

const messages = {
  name: 'Messages',
  problems: messagesProblems,
  legal: {
    model: 'm',
    max_tokens: 10,
    system: [{ type: 'text', text: 'Be brief.' }],
    messages: [
      shows(text, picture),
      says(thinking, text, use('a'), use('b')),
      shows(result('b', [text, picture]), result('a'), text),
      says(text),
      user,
    ],
    tools: [{ name: 'f', input_schema: schema }],
  },
  offences: {
    'no bound': { max_tokens: 0 },
    'no message': { messages: [] },
    'a beginning by the assistant': { messages: [says(text), user] },
    'two turns in a row': { messages: [user, user] },
    'the role of another API': { messages: [user, says(text), { role: 'tool', content: 'x' }] },
    'a system prompt of white space': { system: [{ type: 'text', text: ' ' }] },
    'a text of white space': { messages: [shows({ type: 'text', text: ' \n' })] },
    'an empty text': { messages: [{ role: 'user', content: '' }] },
    'no block': { messages: [shows()] },
    'a part of another API': { messages: [shows({ type: 'image_url', image_url: {} })] },
    'an image of the assistant': { messages: [user, says(picture)] },
    'an image of another type': {
      messages: [
        shows({ ...picture, source: { type: 'base64', media_type: 'image/bmp', data: 'AAAA' } }),
      ],
    },
    'bytes that are no base64': {
      messages: [
        shows({ ...picture, source: { type: 'base64', media_type: 'image/png', data: '137,80' } }),
      ],
    },
    'an unsigned thought': {
      messages: [user, says({ type: 'thinking', thinking: 'Hm.' }, text), user],
    },
    'a thought at the end of a turn': { messages: [user, says(text, thinking), user] },
    'white space at the end': { messages: [user, says({ type: 'text', text: 'x ' })] },
    'a call of the user': { messages: [shows(use('a')), says(text)] },
    'a call without a result': { messages: [user, says(use('a')), user] },
    'a call at the end': { messages: [user, says(use('a'))] },
    'half of the results': { messages: [user, says(use('a'), use('b')), shows(result('a'), text)] },
    'a result behind a text': { messages: [user, says(use('a')), shows(text, result('a'))] },
    'a result without its call': { messages: [user, says(text), shows(result('a'))] },
    'an empty part of a result': {
      messages: [user, says(use('a')), shows(result('a', [{ type: 'text', text: '' }]))],
    },
    'two calls of one id': { messages: [user, says(use('a'), use('a')), shows(result('a'))] },
    'an id with a bar': { messages: [user, says(use('a|b')), shows(result('a|b'))] },
    'an input that is a text': {
      messages: [user, says(use('a', { input: '{}' })), shows(result('a'))],
    },
    'a foreign field': { messages: [{ ...user, id: 'msg_1' }] },
    'a tool of another API': { tools: [{ type: 'function', name: 'f', parameters: schema }] },
    'a tool without a schema': { tools: [{ name: 'f' }] },
  },
}

interface Api {
  readonly name: string
  readonly problems: (body: Wire) => readonly string[]
  readonly legal: Wire
  readonly offences: Offences
}

describe.each<Api>([completions, responses, messages])(
  'the rules of $name',
  ({ problems, legal, offences }) => {
    test('let a legal request pass', () => {
      expect(problems(legal)).toEqual([])
    })

    test.each(Object.entries(offences))('refuse %s', (_name, offence) => {
      expect(problems({ ...legal, ...offence })).not.toEqual([])
    })
  },
)

const thinks = { role: 'assistant', content: 'x', reasoning_content: 'Hm.' }
const shown = (url: string): Wire => ({
  role: 'user',
  content: [{ type: 'image_url', image_url: { url } }],
})
const refuses = { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }

test.each([
  ['thinking that nobody wants', 'gemini', { messages: [user, thinks] }],
  ['a message without thinking', 'deepseek', { messages: [{ role: 'assistant', content: 'x' }] }],
  ['an image', 'deepseek', { messages: [shown(blank)] }],
  ['an image behind an address', 'ollama', { messages: [shown('https://a.example/1.png')] }],
  [
    'a long id of a call',
    'mistral',
    { messages: [asking(wanted('D681PevKs0')), given('D681PevKs0')] },
  ],
  [
    'a user behind results',
    'mistral',
    { messages: [asking(wanted('D681PevKs')), given('D681PevKs'), user] },
  ],
  ['a refusal', 'groq', { messages: [refuses] }],
  ['any object', 'lmstudio', { response_format: { type: 'json_object' } }],
] as const)('the rules of Chat Completions refuse %s for %s', (_name, dialect, offence) => {
  const { legal } = completions
  expect(completionsProblems({ ...legal, messages: [user], ...offence })).toEqual([])
  const body = { ...legal, messages: [user], ...offence }
  expect(completionsProblems(body, chatDialects[dialect])).toHaveLength(1)
})

test('the rules of Messages refuse what a dialect does not take', () => {
  const refused = (more: readonly Wire[]) =>
    messagesProblems({ ...messages.legal, messages: more }, messagesDialects.deepseek)
  const unsigned = { type: 'thinking', thinking: 'Hm.' }

  expect(refused([user, says(unsigned, text), user])).toEqual([])
  expect(refused([user, says(text), user])).toHaveLength(1)
  expect(refused([shows(picture)])).toHaveLength(1)
  expect(refused([user, says(thinking, text), user])).toHaveLength(1)
})
