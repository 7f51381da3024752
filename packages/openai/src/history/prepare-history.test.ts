import type { Content, FunctionCallContent, Message } from '@lamella/core'
import { message } from '@lamella/core'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { OpenAIChatClient } from '../openai-chat-client.ts'
import { OpenAIChatCompletionsClient } from '../openai-chat-completions-client.ts'

const responses = new OpenAIChatClient({ apiKey: 'k', model: 'gpt-5' })
const completions = new OpenAIChatCompletionsClient({ apiKey: 'k', model: 'gpt-5' })
const ours = { provider: 'openai', model: 'gpt-5' }
const theirs = { provider: 'anthropic', model: 'claude' }

const text = (value: string): Content => ({ type: 'text', text: value })
const call = (callId: string, more: Partial<FunctionCallContent> = {}): FunctionCallContent => ({
  type: 'function-call',
  callId,
  name: 'f',
  arguments: '{}',
  ...more,
})
const result = (callId: string, value = 'done'): Content => ({
  type: 'function-result',
  callId,
  contents: [text(value)],
})

/** Roles, and of each content what tells it apart. */
function outline(messages: readonly Message[]): unknown[] {
  return messages.map(({ role, contents }) => [
    role,
    ...contents.map((content) =>
      content.type === 'text'
        ? content.text
        : content.type === 'function-call' || content.type === 'function-result'
          ? `${content.type === 'function-call' ? 'call' : 'result'} ${content.callId}`
          : content.type,
    ),
  ])
}

describe.each([
  { api: 'Responses', client: responses },
  { api: 'Chat Completions', client: completions },
])('$api', ({ client }) => {
  test('a history in order stays as it is', () => {
    const history = [
      message('system', 'Be brief.'),
      message('user', 'Hi'),
      message('assistant', [text('I look.'), call('a')]),
      message('tool', [result('a')]),
      message('assistant', 'It rains.'),
    ]

    expect(outline(client.prepareHistory(history))).toEqual(outline(history))
    expect(client.canContinue(history)).toEqual({ ok: true, losses: [] })
  })

  test('what only another provider understands is left out, and said to be', () => {
    const history = [
      message('assistant', [
        { type: 'reasoning', text: 'Hm.', protected: 'sealed', origin: theirs },
        { type: 'reasoning', text: 'Ha.' },
        { type: 'hosted', name: 'web_search', data: {}, origin: theirs },
        { type: 'text', text: 'Hello.', origin: theirs, providerData: { secret: 1 } },
      ]),
    ]

    const [prepared] = client.prepareHistory(history)

    expect(prepared!.contents).toEqual([{ type: 'text', text: 'Hello.', origin: theirs }])
    expect(client.canContinue(history)).toEqual({
      ok: false,
      losses: [
        'reasoning of anthropic is left out',
        'reasoning of unknown origin is left out',
        'what hosted tools of anthropic did is left out',
      ],
    })
  })

  test('nothing empty is sent', () => {
    const history = [
      message('user', ''),
      message('assistant', [text(''), { type: 'error', message: 'x' }]),
      message('user', 'Hi'),
    ]

    expect(outline(client.prepareHistory(history))).toEqual([['user', 'Hi']])
  })

  test('results move right behind their turn, in the order of its calls', () => {
    const history = [
      message('assistant', [call('a'), call('b')]),
      message('user', 'Are you done?'),
      message('tool', [result('b')]),
      message('tool', [result('a')]),
    ]

    expect(outline(client.prepareHistory(history))).toEqual([
      ['assistant', 'call a', 'call b'],
      ['tool', 'result a', 'result b'],
      ['user', 'Are you done?'],
    ])
  })

  test('a call without a result is answered, a result without a call is left out', () => {
    const history = [
      message('tool', [result('gone')]),
      message('assistant', [call('a'), call('i', { informational: true })]),
      message('user', 'Continue.'),
    ]

    const prepared = client.prepareHistory(history)

    expect(outline(prepared)).toEqual([
      ['assistant', 'call a'],
      ['tool', 'result a'],
      ['user', 'Continue.'],
    ])
    expect(prepared[1]!.contents[0]).toMatchObject({ error: { code: 'cancelled' } })
    expect(client.canContinue(history).losses).toEqual([
      'a result without its call is left out',
      'a call without a result is answered with a note',
    ])
  })

  test('ids that come again are told apart, each with its own result', () => {
    const history = [
      message('assistant', [call('a'), call('a')]),
      message('tool', [result('a', '1'), result('a', '2')]),
      message('assistant', [call('a')]),
      message('user', 'Stop.'),
      message('assistant', [call('a')]),
      message('tool', [result('a', '4')]),
    ]

    const prepared = client.prepareHistory(history)

    const results = prepared.flatMap(({ contents }) =>
      contents.flatMap((content) =>
        content.type === 'function-result'
          ? [[content.callId, (content.contents[0] as { text: string }).text]]
          : [],
      ),
    )
    expect(results).toEqual([
      ['a', '1'],
      ['a_2', '2'],
      ['a_3', 'No result of this call was recorded.'],
      ['a_4', '4'],
    ])
  })

  test('ids and names of other providers are made legal, those of its own are left alone', () => {
    const long = 'x'.repeat(100)
    const own = 'resp_abc:call_0'
    const history = [
      message('assistant', [
        call('', { origin: theirs }),
        call(long, { origin: theirs }),
        call('a|b', { origin: theirs, name: 'my.tool' }),
        call(own, { origin: ours }),
      ]),
      message(
        'tool',
        ['', long, 'a|b', own].map((id) => result(id)),
      ),
    ]

    const [turn, answers] = client.prepareHistory(history)

    const ids = turn!.contents.map((content) => (content as { callId: string }).callId)
    expect(ids).toEqual(['call', expect.stringMatching(/^x{40,64}$/), 'a_b', own])
    expect(answers!.contents.map((content) => (content as { callId: string }).callId)).toEqual(ids)
    expect(turn!.contents[2]).toMatchObject({ name: 'my_tool' })
  })

  test('arguments that are not JSON are wrapped, so that a template can read them', () => {
    const history = [
      message('assistant', [
        call('a', { arguments: '{"city": "Por' }),
        call('b', { arguments: '' }),
      ]),
    ]

    const [turn] = client.prepareHistory(history)

    expect(turn!.contents).toMatchObject([
      { arguments: '{"invalid_arguments":"{\\"city\\": \\"Por"}' },
      { arguments: '{}' },
    ])
  })

  test('a tool message holds results, and what else stood there is for the model to read', () => {
    const history = [
      message('assistant', [call('a')]),
      message('tool', [result('a'), text('Note.')]),
    ]

    expect(outline(client.prepareHistory(history))).toEqual([
      ['assistant', 'call a'],
      ['tool', 'result a'],
      ['user', 'Note.'],
    ])
  })

  test('paperwork of approvals is not sent', () => {
    const history = [
      message('assistant', [
        text('May I?'),
        {
          type: 'approval-request',
          id: 'x',
          call: call('a'),
        },
      ]),
      message('user', { type: 'approval-response', id: 'x', approved: true }),
    ]

    expect(outline(client.prepareHistory(history))).toEqual([['assistant', 'May I?']])
  })

  test('any history becomes one that the API accepts, and stays it', () => {
    const id = fc.constantFrom('a', 'b', 'a|b', '', 'y'.repeat(70))
    const origin = fc.constantFrom(ours, theirs, undefined)
    const content: fc.Arbitrary<Content> = fc.oneof(
      fc.constantFrom('', 'x').map(text),
      fc
        .record({ id, origin, informational: fc.boolean() })
        .map(({ id: callId, ...more }) => call(callId, more)),
      id.map((callId) => result(callId)),
      origin.map(
        (from): Content => ({ type: 'reasoning', text: 'Hm.', protected: 's', origin: from }),
      ),
    )
    const history = fc.array(
      fc
        .tuple(
          fc.constantFrom('system', 'user', 'assistant', 'tool'),
          fc.array(content, { maxLength: 4 }),
        )
        .map(([role, contents]) => message(role, contents)),
      { maxLength: 8 },
    )

    fc.assert(
      fc.property(history, (messages) => {
        const prepared = client.prepareHistory(messages)

        expect(faults(prepared)).toEqual([])
        expect(outline(client.prepareHistory(prepared))).toEqual(outline(prepared))
      }),
    )
  })
})

/** Lists the faults of a history, as the APIs see them. */
function faults(messages: readonly Message[]): string[] {
  const found: string[] = []
  const seen = new Set<string>()
  let open: string[] = []
  for (const { role, contents } of messages) {
    if (contents.length === 0) found.push('an empty message')
    if (role !== 'assistant' && role !== 'tool' && open.length > 0)
      found.push('a turn without results')
    for (const content of contents) {
      if (content.type === 'text' && content.text === '') found.push('an empty text')
      if (content.type === 'function-call') {
        if (role !== 'assistant') found.push(`a call by the ${role}`)
        if (seen.has(content.callId)) found.push('an id that comes again')
        seen.add(content.callId)
        open.push(content.callId)
      }
      if (content.type === 'function-result') {
        if (role !== 'tool') found.push(`a result by the ${role}`)
        if (!open.includes(content.callId)) found.push('a result without a call')
        open = open.filter((id) => id !== content.callId)
      }
    }
  }
  if (open.length > 0) found.push('calls without results')
  return found
}

test('thinking of Chat Completions is told to be lost in the Responses API', () => {
  const providerData = { field: 'reasoning_content' }
  const thinking = { type: 'reasoning', text: 'Hm.', origin: ours, providerData } as const
  const history = [message('assistant', [thinking, text('Hello.')])]

  expect(completions.canContinue(history).losses).toEqual([])
  expect(responses.canContinue(history).losses).toEqual(['reasoning of openai is left out'])
})

test('approvals of hosted tools are told to be lost in Chat Completions, which has none', () => {
  const answer = { type: 'approval-response', id: 'a1', approved: true, hosted: true } as const
  const history = [message('user', [answer, text('Continue.')])]

  expect(completions.canContinue(history).losses).toEqual([
    'approvals of hosted tools are left out',
  ])
})
