import { listOf, recordOf } from '@lamella/transport'
import { demand, demandSame } from '../contracts/contract-assertions.ts'
import type { ContractSuite } from '../contracts/contract-suite.ts'
import type { WireObject } from './wire-api.ts'
import type {
  WireAnswer,
  WireContinuation,
  WireContractOptions,
  WireHabit,
} from './wire-contract.ts'
import { answeredWith, wireContract } from './wire-contract.ts'

/**
 * Creates the contract suite for a client of Anthropic's Messages API and of compatible servers.
 * The client must read blocks as servers send them, and its next request must be one that servers
 * accept.
 */
export function messagesContract(options: WireContractOptions): ContractSuite {
  const end = whole([{ type: 'text', text: 'Hi.' }])
  return wireContract('Messages', { habits, continuations, end }, options)
}

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'model',
  content: [] as readonly WireObject[],
  stop_reason: null as string | null,
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 1 },
}

function whole(content: readonly WireObject[], reason = 'end_turn'): WireAnswer {
  return { whole: { ...message, content, stop_reason: reason } }
}

const start: WireObject = { type: 'message_start', message }
const block = (content: WireObject, index = 0): WireObject => ({
  type: 'content_block_start',
  index,
  content_block: content,
})
const delta = (piece: WireObject, index = 0): WireObject => ({
  type: 'content_block_delta',
  index,
  delta: piece,
})
const text = (value: string): WireObject => delta({ type: 'text_delta', text: value })
const json = (value: string, index = 0): WireObject =>
  delta({ type: 'input_json_delta', partial_json: value }, index)
const stop = (index = 0): WireObject => ({ type: 'content_block_stop', index })
const over = (reason = 'end_turn'): readonly WireObject[] => [
  {
    type: 'message_delta',
    delta: { stop_reason: reason, stop_sequence: null },
    usage: { output_tokens: 4 },
  },
  { type: 'message_stop' },
]
const sse = (...events: readonly WireObject[]): WireAnswer => ({
  sse: events
    .map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`)
    .join(''),
})
const call = (id: string, more: WireObject = {}): WireObject => ({
  type: 'tool_use',
  id,
  name: 'f',
  ...more,
})

const habits: readonly WireHabit[] = [
  {
    name: 'reads text without a start event',
    answers: [sse(start, text('Hi'), text('.'), stop(), ...over())],
    expected: { text: 'Hi.', calls: [] },
  },
  {
    name: 'reads blocks without an end event',
    answers: [sse(start, block({ type: 'text', text: '' }), text('Hi.'), ...over())],
    expected: { text: 'Hi.', calls: [] },
  },
  {
    name: 'reads a call whose input is in its start event, in pieces, or missing',
    answers: [
      sse(start, block(call('a', { input: { a: 1 } })), stop(), ...over('tool_use')),
      sse(start, block(call('a')), json('{"a"'), json(':1}'), stop(), ...over('tool_use')),
      whole([call('a', { input: { a: 1 } })], 'tool_use'),
    ],
    expected: { calls: ['f({"a":1})'] },
  },
  {
    name: 'gives a call without input an empty object',
    answers: [
      sse(start, block(call('a', { input: {} })), json(''), stop(), ...over('tool_use')),
      sse(start, block(call('a')), stop(), ...over('tool_use')),
    ],
    expected: { calls: ['f({})'] },
  },
  {
    name: 'separates calls whose pieces alternate',
    answers: [
      sse(
        start,
        block(call('a', { input: {} })),
        block(call('b', { input: {} }), 1),
        json('{"a"'),
        json('{"a"', 1),
        json(':1}'),
        json(':2}', 1),
        stop(),
        stop(1),
        ...over('tool_use'),
      ),
    ],
    expected: { calls: ['f({"a":1})', 'f({"a":2})'] },
  },
  {
    name: 'discards an answer that another one replaces',
    answers: [
      sse(
        start,
        block(call('a', { input: {} })),
        json('{"a":'),
        { ...start, message: { ...message, id: 'msg_2' } },
        block({ type: 'text', text: '' }),
        text('Hi.'),
        stop(),
        ...over(),
      ),
    ],
    expected: { text: 'Hi.', calls: [] },
  },
  {
    name: 'ignores pings and unknown events',
    answers: [
      sse(start, { type: 'ping' }, { type: 'to_come', index: 0 }, text('Hi.'), stop(), ...over()),
    ],
    expected: { text: 'Hi.', calls: [] },
  },
  {
    name: 'fails if the answer has no end',
    answers: [sse(start, block(call('a', { input: {} })), json('{"a"'))],
    expected: { failure: 'truncated_stream' },
  },
  {
    name: 'fails for an error inside a stream',
    answers: [
      sse(start, text('Hi'), {
        type: 'error',
        error: { type: 'overloaded_error', message: 'Busy.' },
      }),
    ],
    expected: { failure: 'overloaded' },
  },
]

const thinking = { type: 'thinking', thinking: 'I need f.', signature: 'sealed-1' }
const sealed = { type: 'redacted_thinking', data: 'sealed-2' }
const search = {
  type: 'server_tool_use',
  id: 'srvtoolu_1',
  name: 'web_search',
  input: { query: 'x' },
}
const made = call('toolu_1', { input: { a: 1 } })

const continuations: readonly WireContinuation[] = [
  {
    name: 'sends each call back with its result in the next message',
    answer: whole([made, call('toolu_2', { input: { a: 2 } })], 'tool_use'),
    history: (answered) => answeredWith(answered, 'one', 'two'),
    verify: (messages) =>
      demandSame(
        pairsOf(messages),
        [
          ['f', { a: 1 }, 'one'],
          ['f', { a: 2 }, 'two'],
        ],
        'the calls of the next request, each with its result',
      ),
  },
  {
    name: 'sends a result for an unanswered call',
    answer: whole([made], 'tool_use'),
    history: (answered) => [
      ...answered,
      { role: 'user', contents: [{ type: 'text', text: 'Never mind.' }] },
    ],
    verify: (messages) => void pairsOf(messages),
  },
  {
    name: 'sends signed and redacted thinking back unchanged',
    answer: whole([thinking, sealed, made], 'tool_use'),
    history: (answered) => answeredWith(answered, 'one'),
    verify: (messages) =>
      demandSame(turnOf(messages), [thinking, sealed, made], 'the turn in the next request'),
  },
  {
    name: 'sends a running hosted tool back',
    answer: whole([search, made], 'tool_use'),
    history: (answered) => answeredWith(answered, 'one'),
    verify: (messages) =>
      demandSame(turnOf(messages), [search, made], 'the turn in the next request'),
  },
]

function turnOf(messages: readonly WireObject[]): unknown {
  return messages.find(({ role }) => role === 'assistant')?.['content']
}

/**
 * Returns the calls of a request with their results. Throws if a call has no result or more than
 * one.
 */
function pairsOf(messages: readonly WireObject[]) {
  return messages.flatMap(({ content }, at) =>
    listOf(content)
      .map(recordOf)
      .filter(({ type }) => type === 'tool_use')
      .map(({ id, name, input }) => {
        const results = listOf(messages[at + 1]?.['content'])
          .map(recordOf)
          .filter(({ type, tool_use_id: of }) => type === 'tool_result' && of === id)
        demand(
          results.length === 1,
          `a call must have one result in the next message, got ${results.length}`,
        )
        const { content: said } = results[0]!
        const words = Array.isArray(said) ? recordOf(said[0])['text'] : said
        return [name, input, words]
      }),
  )
}
