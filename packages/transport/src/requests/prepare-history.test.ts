import { describe, expect, test } from 'vitest'
import type { Content, FunctionCallContent, Message, Role } from '@lamella/core'
import { CallIds } from './call-ids.ts'
import type { ContentMaker, HistoryRules } from './history-rules.ts'
import type { PreparedHistory } from './prepare-history.ts'
import { prepareHistory } from './prepare-history.ts'

const strict: HistoryRules = {
  provider: 'ours',
  model: 'model-1',
  callIds: () => new CallIds(40),
  longestToolName: 8,
  reasoning: () => 'kept',
  refusal: ({ text }) => ({ type: 'text', text, providerData: { of: 'refusal' } }),
  hosted: () => 'kept',
  takesApprovals: () => true,
  fileLoss: () => undefined,
}

const ours = { provider: 'ours', model: 'model-1' }
const theirs = { provider: 'theirs', model: 'model-1' }

function saying(said: string, more: Partial<Content> = {}): Content {
  return { type: 'text', text: said, ...more } as Content
}

function call(callId: string, more: Partial<FunctionCallContent> = {}): FunctionCallContent {
  return { type: 'function-call', callId, name: 'add', arguments: '{}', ...more }
}

function result(callId: string, ...contents: Content[]): Content {
  return { type: 'function-result', callId, contents }
}

function approval(hosted: boolean): Content {
  return { type: 'approval-response', id: '1', approved: true, hosted }
}

function message(role: Role, ...contents: Content[]): Message {
  return { id: role, role, contents }
}

function prepare(messages: readonly Message[], more: Partial<HistoryRules> = {}): PreparedHistory {
  return prepareHistory(messages, { ...strict, ...more })
}

/** One content of the assistant as it is sent, and the losses. */
function fateOf(content: Content, more: Partial<HistoryRules> = {}): unknown {
  const { messages, losses } = prepare([message('assistant', content)], more)
  return { contents: messages.flatMap(({ contents }) => contents), losses }
}

test('a history that is legal already keeps its messages', () => {
  const history = [
    message('user', saying('2 + 2?')),
    message('assistant', saying('I add.'), call('1', { origin: ours })),
    message('tool', { ...result('1', saying('4')), name: 'add' } as Content),
    message('assistant', saying('4')),
  ]

  const { messages, losses } = prepare(history)

  expect(messages).toEqual([
    history[0],
    history[1],
    { ...history[2], id: 'assistant-results' },
    history[3],
  ])
  expect(losses).toEqual([])
})

describe('text and refusals', () => {
  test.each([
    ['', false, []],
    [' \n', false, []],
    ['', true, []],
    [' \n', true, [' \n']],
  ])('text %j, taken if blank: %j, is sent as %j', (said, takesBlankText, sent) => {
    for (const content of [saying(said), { type: 'refusal', text: said } as Content]) {
      const { messages } = prepare([message('assistant', content)], { takesBlankText })
      const texts = messages.flatMap(
        ({ contents }) => contents as readonly { readonly text: string }[],
      )
      expect(texts.map((each) => each.text)).toEqual(sent)
    }
  })

  test('blank text is left out unless the rules take it', () => {
    expect(fateOf(saying(' '))).toEqual({ contents: [], losses: [] })
  })

  test('a refusal is sent in the words of the provider, without what only another one understands', () => {
    const refused: Content = { type: 'refusal', text: 'No.' }

    expect(fateOf({ ...refused, origin: theirs })).toEqual({
      contents: [saying('No.')],
      losses: [],
    })
    expect(fateOf({ ...refused, origin: ours })).toEqual({
      contents: [saying('No.', { providerData: { of: 'refusal' } })],
      losses: [],
    })
    expect(fateOf(refused, { refusal: () => undefined })).toEqual({ contents: [], losses: [] })
  })
})

describe('reasoning', () => {
  const thought = { type: 'reasoning', text: 'Hm.' } as const
  const lost = (from: string): unknown => ({
    contents: [],
    losses: [`reasoning of ${from} is left out`],
  })

  test.each<[string, Content, Partial<HistoryRules>]>([
    ['the same model', { ...thought, origin: ours }, {}],
    ['a maker whose model is unknown', { ...thought, origin: { provider: 'ours' } }, {}],
    ['a maker, for a model that is unknown', { ...thought, origin: ours }, { model: undefined }],
    [
      'a model of the same family',
      { ...thought, origin: { provider: 'ours', model: 'model-2' } },
      { modelFamily: (name) => name.slice(0, 5) },
    ],
  ])('goes back to %s', (_, content, rules) => {
    expect(fateOf(content, rules)).toEqual({ contents: [content], losses: [] })
  })

  test('is lost to another model, another provider, and without an origin', () => {
    const other = { provider: 'ours', model: 'model-2' }

    expect(fateOf({ ...thought, origin: other })).toEqual(lost('ours'))
    expect(fateOf({ ...thought, origin: theirs })).toEqual(lost('theirs'))
    expect(fateOf(thought)).toEqual(lost('unknown origin'))
  })

  test('is no loss if nobody wants it or there is nothing in it', () => {
    const gone = { contents: [], losses: [] }

    expect(fateOf({ ...thought, origin: ours }, { reasoning: () => 'unwanted' })).toEqual(gone)
    expect(fateOf({ ...thought, text: '', origin: theirs })).toEqual(gone)
    expect(fateOf({ ...thought, text: '', protected: 'x', origin: theirs })).toEqual(lost('theirs'))
    expect(fateOf({ ...thought, origin: ours }, { reasoning: () => 'lost' })).toEqual(lost('ours'))
  })
})

describe('files', () => {
  const file: Content = { type: 'uri', uri: 'https://example.com/a.png', mediaType: 'image/png' }
  const data: Content = { type: 'data', data: 'AA==', mediaType: 'image/png' }
  const leftOut = { fileLoss: () => ({ words: 'a file is left out', isLeftOut: true }) }
  const changed = { fileLoss: () => ({ words: 'a file is only named', isLeftOut: false }) }

  test.each([file, data])('$type is kept, changed or left out as the rules say', (content) => {
    expect(fateOf(content)).toEqual({ contents: [content], losses: [] })
    expect(fateOf(content, changed)).toEqual({
      contents: [content],
      losses: ['a file is only named'],
    })
    expect(fateOf(content, leftOut)).toEqual({ contents: [], losses: ['a file is left out'] })
  })

  test('a result loses its files alone', () => {
    const { messages, losses } = prepare(
      [message('assistant', call('1')), message('tool', result('1', file, saying('4'), data))],
      leftOut,
    )

    expect(messages[1]?.contents).toMatchObject([{ contents: [saying('4')] }])
    expect(losses).toEqual(['a file is left out (2 times)'])
  })
})

describe('calls', () => {
  test.each([
    ['add', 'add', []],
    ['add-two_', 'add-two_', []],
    ['add-three', 'add-thre', ['names of tools that are not accepted are rewritten']],
    ['a..b', 'a_b', ['names of tools that are not accepted are rewritten']],
    ['', 'tool', ['names of tools that are not accepted are rewritten']],
  ])('of a tool named %j are sent as %j', (name, sent, losses) => {
    const { messages, losses: found } = prepare([message('assistant', call('1', { name }))])

    expect(messages[0]?.contents).toEqual([call('1', { name: sent })])
    expect(found).toEqual([...losses, 'a call without a result is answered with a note'])
  })

  test.each<[string, Partial<FunctionCallContent>, string, string[]]>([
    ['an object', { arguments: '{"a":1}' }, '{"a":1}', []],
    ['nothing', { arguments: ' ' }, '{}', []],
    [
      'no object',
      { arguments: 'a' },
      '{"invalid_arguments":"a"}',
      ['arguments that are not JSON are wrapped'],
    ],
    ['free text', { arguments: 'a', providerData: { type: 'custom' }, origin: ours }, 'a', []],
  ])('with %s as arguments are sent as JSON', (_, more, sent, losses) => {
    const history = [message('assistant', call('1', more)), message('tool', result('1'))]

    const { messages, losses: found } = prepare(history)

    expect(messages[0]?.contents).toMatchObject([{ arguments: sent }])
    expect(found).toEqual(losses)
  })

  test('and results have one legal id, and results the name of their tool', () => {
    const { messages, losses } = prepare([
      message('assistant', call('a b'), call('a_b', { name: 'sub' })),
      message('tool', result('a_b'), result('a b')),
    ])

    expect(messages.map(({ contents }) => contents)).toMatchObject([
      [{ callId: 'a_b' }, { callId: 'a_b_2' }],
      [
        { callId: 'a_b', name: 'add' },
        { callId: 'a_b_2', name: 'sub' },
      ],
    ])
    expect(losses).toEqual(['an id of a call is rewritten (2 times)'])
  })

  test('keep an id that the provider made, of the content or of its message', () => {
    const exact = { callIds: () => new CallIds(3) }
    const made = [call('a.b', { origin: ours }), call('a.c')]

    const { messages } = prepare([{ ...message('assistant', ...made), origin: ours }], exact)

    expect(messages[0]?.contents).toEqual(made)
    expect(fateOf({ ...made[0]!, origin: theirs }, exact)).toMatchObject({
      contents: [{ callId: 'a_b' }, { callId: 'a_b' }],
    })
  })

  test('that others executed need no result, and keep the one they have', () => {
    const seen = call('1', { informational: true })

    expect(fateOf(seen)).toEqual({ contents: [], losses: [] })
    const { messages } = prepare([
      message('assistant', saying('Hm.'), seen),
      message('tool', result('1')),
    ])
    expect(messages.map(({ contents }) => contents.length)).toEqual([2, 1])
  })
})

describe('results', () => {
  test('stand behind the turn of their calls, missing ones as a note', () => {
    const { messages, losses } = prepare([
      message('assistant', call('1'), call('2')),
      message('user', saying('Well?')),
      message('assistant', saying('Yes.')),
      message('tool', result('2', saying('late'))),
    ])

    expect(messages.map(({ id, role }) => [id, role])).toEqual([
      ['assistant', 'assistant'],
      ['assistant-results', 'tool'],
      ['user', 'user'],
      ['assistant', 'assistant'],
    ])
    expect(messages[1]?.contents).toMatchObject([
      { callId: '1', error: { code: 'cancelled' } },
      { callId: '2', contents: [saying('late')] },
    ])
    expect(losses).toEqual(['a call without a result is answered with a note'])
  })

  test.each([
    [false, ['assistant', 'tool', 'assistant', 'tool']],
    [true, ['assistant', 'assistant', 'tool']],
  ])('at the end of a turn: %j, are sent as %j', (resultsEndTurn, roles) => {
    const history = [message('assistant', call('1')), message('assistant', call('2'))]

    const { messages } = prepare(history, { resultsEndTurn })

    expect(messages.map(({ role }) => role)).toEqual(roles)
  })

  test('without a call are left out, unless the provider has the call', () => {
    const history = [message('tool', result('1'), result('2')), message('user', saying('Hi.'))]

    expect(prepare(history)).toEqual({
      messages: [history[1]],
      losses: ['a result without its call is left out (2 times)'],
    })
    expect(prepare(history, { isContinued: true })).toEqual({ messages: history, losses: [] })
  })

  test('in a message of the assistant leave it, and with it an empty one', () => {
    const { messages } = prepare([
      message('assistant', call('1')),
      message('assistant', result('1')),
      message('assistant', saying('Done.'), result('9')),
    ])

    expect(messages.map(({ contents }) => contents.map(({ type }) => type))).toEqual([
      ['function-call'],
      ['function-result'],
      ['text'],
    ])
  })

  test('beside text leave the text to a message of the user', () => {
    const { messages } = prepare([
      message('assistant', call('1')),
      message('tool', result('1'), saying('Look.')),
      message('system', saying('Be short.')),
    ])

    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'user', 'system'])
  })
})

describe('what hosted tools did', () => {
  const hosted = { type: 'hosted', name: 'search', providerData: {} } as unknown as Content

  test.each<[ContentMaker, Content]>([
    ['provider', { ...hosted, origin: ours }],
    ['other', { ...hosted, origin: theirs }],
    ['application', hosted],
  ])('is judged by its maker: %s', (maker, content) => {
    const rules = (kept: boolean): Partial<HistoryRules> => ({
      hosted: (_, by) => (by === maker && kept ? 'kept' : 'lost'),
      takesApprovals: (by) => by === maker && kept,
    })
    const from = content.origin?.provider ?? 'unknown origin'
    const asked = { ...approval(true), ...(content.origin && { origin: content.origin }) }

    expect(fateOf(content, rules(true))).toEqual({ contents: [content], losses: [] })
    expect(fateOf(content, rules(false))).toEqual({
      contents: [],
      losses: [`what hosted tools of ${from} did is left out`],
    })
    expect(fateOf(asked, rules(true))).toEqual({ contents: [asked], losses: [] })
    expect(fateOf(asked, rules(false))).toEqual({
      contents: [],
      losses: ['approvals of hosted tools are left out'],
    })
  })

  test('that nobody wants is no loss, and approvals of this process stay here', () => {
    expect(fateOf(hosted, { hosted: () => 'unwanted' })).toEqual({ contents: [], losses: [] })
    expect(fateOf(approval(false))).toEqual({ contents: [], losses: [] })
  })

  test('answers to approvals are sent as those of a tool', () => {
    const { messages } = prepare([
      message('user', approval(true)),
      message('user', approval(true), saying('Yes.')),
    ])

    expect(messages.map(({ role }) => role)).toEqual(['tool', 'user'])
  })
})

test('errors and usage are left out in silence, unknown types as a loss', () => {
  const gone = { contents: [], losses: [] }

  expect(fateOf({ type: 'error', message: 'no' } as unknown as Content)).toEqual(gone)
  expect(fateOf({ type: 'usage', usage: {} } as unknown as Content)).toEqual(gone)
  expect(fateOf({ type: 'smell' } as unknown as Content)).toEqual({
    contents: [],
    losses: ['content of type smell is left out'],
  })
})

test('thoughts and calls that are not the assistant’s are left out as a loss', () => {
  const { messages, losses } = prepare([
    message('user', call('1'), { type: 'reasoning', text: 'Hm.' }, saying('Hi.')),
  ])

  expect(messages).toEqual([message('user', saying('Hi.'))])
  expect(losses).toEqual([
    'a function-call in a message of role user is left out',
    'a reasoning in a message of role user is left out',
  ])
})

test.each([false, true])(
  'a change that the API needs is given no empty message, continued: %j',
  (isContinued) => {
    const empty = message('user', saying(''))
    const results = [message('tool', result('1')), message('assistant', result('9'))]
    const contents: number[] = []

    prepareHistory(
      [message('assistant', call('1')), ...results, empty],
      { ...strict, isContinued },
      (paired) => {
        contents.push(...paired.map((each) => each.contents.length))
        return paired
      },
    )

    expect(contents).toEqual([1, 1])
  },
)

test('a change that the API needs comes last, and counts its losses', () => {
  const { messages, losses } = prepareHistory(
    [message('assistant', call('1')), message('user', saying('Hi.'))],
    strict,
    (paired, found) => {
      found.add('changed')
      return paired.map((each) => (each.role === 'tool' ? { ...each, contents: [] } : each))
    },
  )

  expect(messages.map(({ role }) => role)).toEqual(['assistant', 'user'])
  expect(losses).toEqual(['a call without a result is answered with a note', 'changed'])
})
