import type { Content, FunctionResultContent, MessageInit } from '@lamella/core'
import { toMessages } from '@lamella/core/authoring'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientRequest } from '@lamella/testing'
import { messagesRecording } from '../../fixtures/messages-recording.ts'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { AnthropicChatClient } from '../anthropic-chat-client.ts'

let server: RawServer
let client: AnthropicChatClient
beforeAll(async () => {
  server = await RawServer.start(answer(messagesRecording([]).whole))
  client = new AnthropicChatClient({ apiKey: 'k', baseURL: server.url, model: 'claude-sonnet-5-5' })
})
afterAll(() => server.stop())

interface Sent {
  readonly role: string
  readonly content: readonly Readonly<Record<string, unknown>>[]
}

async function sent(...messages: readonly MessageInit[]): Promise<readonly Sent[]> {
  await client.respond(clientRequest(messages))
  return server.last.body.messages
}

const own = { provider: 'anthropic', model: 'claude-sonnet-5-5' }
const foreign = { provider: 'openai', model: 'gpt-5' }
const user = (...contents: readonly Content[]): MessageInit => ({ role: 'user', contents })
const said = (...contents: readonly Content[]): MessageInit => ({ role: 'assistant', contents })
const told = (...contents: readonly Content[]): MessageInit => ({ role: 'tool', contents })
const text = (value: string): Content => ({ type: 'text', text: value })
const call = (callId: string, more: object = {}): Content => ({
  type: 'function-call',
  callId,
  name: 'add',
  arguments: '{"a":1}',
  ...more,
})
const result = (callId: string, value = 'two', more: object = {}): FunctionResultContent => ({
  type: 'function-result',
  callId,
  contents: [text(value)],
  ...more,
})
const thought = (more: object = {}): Content => ({
  type: 'reasoning',
  text: 'Hm.',
  protected: 'sig',
  origin: own,
  ...more,
})

describe('calls and results', () => {
  test('stand in pairs, results first in the message of the user', async () => {
    const messages = await sent(
      user(text('Add.')),
      said(text('I add.'), call('c1'), call('c2')),
      told(result('c2', 'three')),
      told(result('c1', '', { error: { code: 'timeout', message: 'secret' } })),
      user(text('And?')),
    )

    expect(messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Add.' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I add.' },
          { type: 'tool_use', id: 'c1', name: 'add', input: { a: 1 } },
          { type: 'tool_use', id: 'c2', name: 'add', input: { a: 1 } },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'c1',
            content: 'The tool failed: timeout.',
            is_error: true,
          },
          { type: 'tool_result', tool_use_id: 'c2', content: 'three' },
          { type: 'text', text: 'And?' },
        ],
      },
    ])
  })

  test('that are alone get a note or are left out', async () => {
    const history = [
      user(text('Add.')),
      said(call('c1')),
      user(text('Well?')),
      told(result('call_alone')),
    ]

    const messages = await sent(...history)

    expect(messages[2]!.content).toMatchObject([
      { type: 'tool_result', tool_use_id: 'c1', is_error: true },
      { type: 'text', text: 'Well?' },
    ])
    expect(JSON.stringify(messages)).not.toContain('call_alone')
    expect(client.canContinue(toMessages(history)).losses).toEqual([
      'a call without a result is answered with a note',
      'a result without its call is left out',
    ])
  })

  test('of other providers get ids, names and inputs that Anthropic accepts', async () => {
    const messages = await sent(
      user(text('Add.')),
      said(
        call('call:1/ä', { name: 'my tool!', arguments: 'two', origin: foreign }),
        call('call:1/ä', { arguments: '', origin: foreign }),
      ),
      told(result('call:1/ä', 'a'), result('call:1/ä', 'b')),
    )

    expect(messages[1]!.content).toEqual([
      { type: 'tool_use', id: 'call_1__', name: 'my_tool_', input: { invalid_arguments: 'two' } },
      { type: 'tool_use', id: 'call_1___2', name: 'add', input: {} },
    ])
    expect(messages[2]!.content.map((each) => [each['tool_use_id'], each['content']])).toEqual([
      ['call_1__', 'a'],
      ['call_1___2', 'b'],
    ])
  })

  test('made by code are sent back with their caller', async () => {
    const caller = { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' }
    const code = {
      type: 'hosted',
      name: 'code_execution',
      data: { type: 'server_tool_use', id: 'srvtoolu_1', name: 'code_execution', input: {} },
      origin: own,
    } as const

    const messages = await sent(
      user(text('Roll.')),
      said(code, call('toolu_1', { origin: own, providerData: { caller } })),
      told(result('toolu_1')),
    )

    expect(messages[1]!.content).toEqual([
      code.data,
      { type: 'tool_use', id: 'toolu_1', name: 'add', input: { a: 1 }, caller },
    ])
  })

  test.each([
    ['an informational call without a result is left out', call('c1', { informational: true })],
    ['an empty text is left out', text(' \n')],
    ['what only the application reads is left out', { type: 'error', message: 'x' } as const],
  ])('%s', async (_fact, content) => {
    const messages = await sent(user(text('Hi.')), said(text('Yes?'), content), user(text('Bye.')))

    expect(messages[1]!.content).toEqual([{ type: 'text', text: 'Yes?' }])
  })
})

describe('roles', () => {
  test('of one kind in a row become one message', async () => {
    const messages = await sent(
      user(text('One.')),
      user(text('Two.')),
      said(text('Three.')),
      said(text('Four.')),
      user(text('Five.')),
    )

    expect(messages.map(({ role, content }) => [role, content.length])).toEqual([
      ['user', 2],
      ['assistant', 2],
      ['user', 1],
    ])
  })

  test('begin with the user', async () => {
    const messages = await sent(said(text('Welcome.')), user(text('Thanks.')))

    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  })

  test('ends with the user after an answer of a model, whose call got its result late', async () => {
    const paid = [said(call('c1', { origin: own })), told(result('c1'))]
    const messages = await sent(user(text('Pay.')), ...paid, user(text('How is the weather?')), {
      ...said(text('Sunny.')),
      origin: own,
    })

    expect(messages.at(-1)).toMatchObject({ role: 'user', content: [{ text: 'Continue.' }] })
  })

  test('ends with the beginning of an answer that the application wrote, or that was paused', async () => {
    const search = { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} }
    const paused: Content = { type: 'hosted', name: 'web_search', id: 's1', data: search }
    const begun = await sent(user(text('List.')), said(text('[')))
    const stopped = await sent(user(text('Search.')), { ...said(paused), origin: own })

    expect([begun, stopped].map((messages) => messages.at(-1)?.role)).toEqual([
      'assistant',
      'assistant',
    ])
  })

  test('a last word of the model has no white space behind it', async () => {
    const messages = await sent(user(text('Say A.')), said(text('A is \n')))

    expect(messages[1]!.content).toEqual([{ type: 'text', text: 'A is' }])
  })

  test('a file of the model is shown by the user', async () => {
    const image = { type: 'data', mediaType: 'image/png', data: 'aGk=' } as const

    const messages = await sent(
      user(text('Draw.')),
      said(text('Here.'), image),
      user(text('Nice.')),
    )

    expect(messages[1]!.content).toEqual([{ type: 'text', text: 'Here.' }])
    expect(messages[2]!.content.map(({ type }) => type)).toEqual(['image', 'text'])
  })
})

describe('what only its maker understands', () => {
  test('thoughts go back as they came, sealed ones too', async () => {
    const messages = await sent(
      user(text('Add.')),
      said(
        thought(),
        thought({ text: '', protected: 'data', providerData: { type: 'redacted_thinking' } }),
        call('toolu_1'),
      ),
      told(result('toolu_1')),
    )

    expect(messages[1]!.content.slice(0, 2)).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
      { type: 'redacted_thinking', data: 'data' },
    ])
  })

  test.each([
    ['of another provider', thought({ origin: foreign }), 'reasoning of openai is left out'],
    [
      'of another model',
      thought({ origin: { ...own, model: 'claude-opus-5' } }),
      'reasoning of anthropic is left out',
    ],
    ['of nobody', thought({ origin: undefined }), 'reasoning of unknown origin is left out'],
    ['without a seal', thought({ protected: undefined }), 'reasoning of anthropic is left out'],
  ])('a thought %s is left out', async (_whose, content, loss) => {
    const history = [user(text('Hi.')), said(content, text('Yes?')), user(text('Bye.'))]

    const messages = await sent(...history)

    expect(messages[1]!.content).toEqual([{ type: 'text', text: 'Yes?' }])
    expect(client.canContinue(toMessages(history))).toEqual({ ok: false, losses: [loss] })
  })

  test('a thought of the same model by its dated name goes back', async () => {
    const dated = thought({ origin: { ...own, model: 'claude-sonnet-5-5-20261020' } })

    const messages = await sent(user(text('Hi.')), said(dated, text('Yes?')), user(text('Bye.')))

    expect(messages[1]!.content[0]).toMatchObject({ type: 'thinking' })
  })

  test('a thought that led to nothing is left out', async () => {
    const messages = await sent(user(text('Hi.')), said(text('So.'), thought()), user(text('Bye.')))

    expect(messages[1]!.content).toEqual([{ type: 'text', text: 'So.' }])
  })

  test('where only a thought stood, the turns around it are one', async () => {
    const messages = await sent(user(text('Hi.')), said(thought()), user(text('Hello?')))

    expect(messages).toEqual([{ role: 'user', content: [text('Hi.'), text('Hello?')] }])
  })

  test('what Anthropic said of a refusal is no part of the conversation', async () => {
    const refusal = { type: 'refusal', text: 'Not this.', origin: own } as const
    const history = [user(text('Hi.')), said(refusal), user(text('Sorry.'))]

    const messages = await sent(...history)

    expect(messages).toHaveLength(1)
    expect(client.canContinue(toMessages(history)).ok).toBe(true)
  })

  test('hosted tools go back in pairs, an open one only at the very end', async () => {
    const asked = (id: string): Content => ({
      type: 'hosted',
      name: 'web_search',
      id,
      data: { type: 'server_tool_use', id, name: 'web_search', input: {} },
      origin: own,
    })
    const found = (id: string): Content => ({
      type: 'hosted',
      name: 'web_search',
      data: { type: 'web_search_tool_result', tool_use_id: id, content: [] },
      origin: own,
    })
    const half: Content = {
      type: 'hosted',
      name: 'web_search',
      id: 's5',
      data: { type: 'server_tool_use', id: 's5', status: 'in_progress' },
      origin: own,
    }

    const messages = await sent(
      user(text('Hi.')),
      said(asked('s1'), found('s1'), asked('s2'), found('s3'), half, text('So.')),
      user(text('More.')),
      said(found('s6')),
      user(text('Still more.')),
      said(text('I look.'), asked('s4')),
    )

    const ids = messages.map(({ content }) =>
      content.flatMap((each) => each['id'] ?? each['tool_use_id'] ?? []),
    )
    expect(ids).toEqual([[], ['s1', 's1'], [], ['s4']])
  })

  test.each([
    ['one turn', [[0, 1]]],
    ['a turn in two messages', [[0], [1]]],
  ])('a hosted tool at work beside a tool of the application goes back, %s', async (_, split) => {
    const asked: Content = {
      type: 'hosted',
      name: 'web_search',
      data: { type: 'server_tool_use', id: 'srv1', name: 'web_search', input: { query: 'x' } },
      origin: own,
    }
    const turn = [asked, call('c1', { origin: own })]
    const said1 = split.map((indexes) => said(...indexes.map((at) => turn[at]!)))

    const running = await sent(user(text('Both.')), ...said1, told(result('c1')))
    const left = await sent(user(text('Both.')), ...said1, told(result('c1')), user(text('Well?')))

    expect(running[1]!.content.map(({ type }) => type)).toEqual(['server_tool_use', 'tool_use'])
    expect(left[1]!.content.map(({ type }) => type)).toEqual(['tool_use'])
  })

  test('the result of a hosted tool in a later answer keeps its call in the history', async () => {
    const hosted = (data: Readonly<Record<string, unknown>>): Content => ({
      type: 'hosted',
      name: 'mcp',
      data,
      origin: own,
    })
    const messages = await sent(
      user(text('Both.')),
      said(hosted({ type: 'mcp_tool_use', id: 'm1', name: 'f', input: {} }), call('c1')),
      told(result('c1')),
      said(hosted({ type: 'mcp_tool_result', tool_use_id: 'm1', content: [] }), text('Done.')),
      user(text('Thanks.')),
    )

    expect(messages.map(({ content }) => content.map(({ type }) => type))).toEqual([
      ['text'],
      ['mcp_tool_use', 'tool_use'],
      ['tool_result'],
      ['mcp_tool_result', 'text'],
      ['text'],
    ])
  })

  test('hosted tools of others are left out', () => {
    const hosted = { type: 'hosted', name: 'x', data: { type: 'x' }, origin: foreign } as const

    const { losses } = client.canContinue(toMessages([user(text('Hi.')), said(hosted)]))

    expect(losses).toEqual(['what hosted tools of openai did is left out'])
  })

  test('approvals of hosted tools are told to be lost', () => {
    const approval = { type: 'approval-response', id: 'a1', approved: true, hosted: true } as const

    const { losses } = client.canContinue(toMessages([user(approval, text('Continue.'))]))

    expect(losses).toEqual(['approvals of hosted tools are left out'])
  })

  test('an own history loses nothing', () => {
    const history = toMessages([
      user(text('Add.')),
      said(thought(), call('toolu_1', { origin: own })),
      told(result('toolu_1')),
    ])

    expect(client.canContinue(history)).toEqual({ ok: true, losses: [] })
    expect(client.prepareHistory(history).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
    ])
  })
})

test('any history becomes one that Anthropic accepts, and stays it', () => {
  const ids = fc.constantFrom('c1', 'c2', 'a b', '')
  const content = fc.oneof(
    fc.string().map(text),
    ids.map((id) => call(id)),
    ids.map((id) => call(id, { origin: own })),
    ids.map((id) => result(id)),
    fc.constantFrom(thought(), thought({ origin: foreign })),
  )
  const role = fc.constantFrom('system', 'user', 'assistant', 'tool')
  const entry = fc.record({ role, contents: fc.array(content, { maxLength: 4 }) })

  fc.assert(
    fc.property(fc.array(entry, { maxLength: 8 }), (entries) => {
      const prepared = client.prepareHistory(toMessages(entries))

      const calls = prepared.flatMap(({ contents }) =>
        contents.flatMap((each) => (each.type === 'function-call' ? each.callId : [])),
      )
      expect(new Set(calls).size).toBe(calls.length)
      expect(calls.filter((id) => !/^[\w-]+$/.test(id))).toEqual([])
      for (const [at, { contents, role: who }] of prepared.entries()) {
        expect(contents).not.toEqual([])
        const asked = who === 'assistant' ? contents.filter(isCall) : []
        const answered = (prepared[at + 1]?.contents ?? []).filter(isResult)
        expect(answered.map(idOf)).toEqual(asked.map(idOf))
      }
      expect(prepared.find(({ role: who }) => who !== 'system')?.role ?? 'user').toBe('user')
      expect(client.prepareHistory(prepared)).toEqual(prepared)
    }),
  )
})

function isCall({ type }: Content): boolean {
  return type === 'function-call'
}

function isResult({ type }: Content): boolean {
  return type === 'function-result'
}

function idOf(content: Content): string {
  return (content as FunctionResultContent).callId
}
