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
 * Creates the contract suite for a client of Chat Completions, OpenAI's own and that of compatible
 * servers. The client must read calls as servers send them, and its next request must be one that
 * servers accept.
 */
export function completionsContract(options: WireContractOptions): ContractSuite {
  return wireContract(
    'Chat Completions',
    { habits, continuations, end: whole({ content: 'Hi.' }) },
    options,
  )
}

const chunk = (delta: WireObject, finish: string | null = null): WireObject => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'model',
  choices: [{ index: 0, delta, finish_reason: finish }],
})
const fragment = (more: WireObject, made: WireObject): WireObject =>
  chunk({ tool_calls: [{ type: 'function', ...more, function: made }] })
const frame = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
const sse = (...chunks: readonly WireObject[]): WireAnswer => ({
  sse: `${chunks.map(frame).join('')}data: [DONE]\n\n`,
})
const calls = (...fragments: readonly WireObject[]): WireAnswer =>
  sse(...fragments, chunk({}, 'tool_calls'))

function whole(message: WireObject, finish = 'stop'): WireAnswer {
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
  return {
    whole: {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'model',
      choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }],
      usage,
    },
  }
}

const one = { calls: ['f({"a":1})'] }
const two = { calls: ['f({"a":1})', 'f({"a":2})'] }
const begin = { name: 'f', arguments: '{"a"' }
const rest = { arguments: ':1}' }
const called = (more: WireObject = {}): WireObject => ({
  id: 'call_1',
  type: 'function',
  function: { name: 'f', arguments: '{"a":1}' },
  ...more,
})

const habits: readonly WireHabit[] = [
  {
    name: 'reads fragments without a name and an id',
    answers: [
      calls(fragment({ index: 0, id: 'a' }, begin), fragment({ index: 0 }, rest)),
      calls(
        fragment({ index: 0, id: 'a' }, begin),
        fragment({ index: 0, id: '' }, { name: '', ...rest }),
      ),
      calls(
        fragment({ index: 0, id: 'a' }, begin),
        fragment({ index: 0, id: null }, { name: null, ...rest }),
      ),
    ],
    expected: one,
  },
  {
    name: 'joins arguments whose id differs from that of the name',
    answers: [
      calls(
        fragment({ index: 0, id: 'a' }, { name: 'f', arguments: '' }),
        fragment({ index: 0, id: 'b' }, { arguments: '{"a":1}' }),
      ),
    ],
    expected: one,
  },
  {
    name: 'joins fragments that repeat the name or have different ids',
    answers: [
      calls(
        fragment({ index: 0, id: 'a' }, begin),
        fragment({ index: 0, id: 'a' }, { name: 'f', ...rest }),
      ),
      calls(
        fragment({ index: 0, id: 'a' }, begin),
        fragment({ index: 0, id: 'b' }, { name: 'f', ...rest }),
      ),
    ],
    expected: one,
  },
  {
    name: 'separates calls that share an index',
    answers: [
      calls(
        fragment({ index: 0, id: 'a' }, { name: 'f', arguments: '{"a":1}' }),
        fragment({ index: 0, id: 'b' }, { name: 'f', arguments: '{"a":2}' }),
      ),
      calls(
        fragment({ index: 0 }, { name: 'f', arguments: '{"a":1}' }),
        fragment({ index: 0 }, { name: 'f', arguments: '{"a":2}' }),
      ),
    ],
    expected: two,
  },
  {
    name: 'separates calls whose fragments alternate',
    answers: [
      calls(
        fragment({ index: 0, id: 'a' }, begin),
        fragment({ index: 1, id: 'b' }, begin),
        fragment({ index: 0 }, rest),
        fragment({ index: 1 }, { arguments: ':2}' }),
      ),
    ],
    expected: two,
  },
  {
    name: 'creates an id for each call without one',
    answers: [
      whole({ tool_calls: [called({ id: '' }), called({ id: '' })] }, 'tool_calls'),
      calls(
        fragment({ index: 0 }, called()['function'] as WireObject),
        fragment({ index: 1 }, called()['function'] as WireObject),
      ),
    ],
    expected: { calls: ['f({"a":1})', 'f({"a":1})'] },
  },
  {
    name: 'reads a call next to an empty field of another kind',
    answers: [
      whole({ tool_calls: [called({ custom: { name: '', input: '' } })] }, 'tool_calls'),
      whole({ tool_calls: [called({ custom: null })] }, 'tool_calls'),
    ],
    expected: one,
  },
  {
    name: 'reads arguments that are an object',
    answers: [
      whole(
        { tool_calls: [called({ function: { name: 'f', arguments: { a: 1 } } })] },
        'tool_calls',
      ),
      calls(fragment({ index: 0, id: 'a' }, { name: 'f', arguments: { a: 1 } })),
    ],
    expected: one,
  },
  {
    name: 'fails if the arguments of a call are cut',
    answers: [sse(fragment({ index: 0, id: 'a' }, begin))],
    expected: { failure: 'truncated_stream' },
  },
  {
    name: 'fails for an error inside a stream',
    answers: [sse(chunk({ content: 'Hi' }), { error: { message: 'No.', type: 'server_error' } })],
    expected: { failure: 'server' },
  },
  {
    name: 'reads fields that are null or empty in every chunk',
    answers: [
      sse(
        chunk({ role: 'assistant', content: null, tool_calls: null, refusal: null }),
        chunk({ content: 'Hi.', tool_calls: [], function_call: null }, ''),
        chunk({}, 'stop'),
      ),
    ],
    expected: { text: 'Hi.', calls: [] },
  },
]

const continuations: readonly WireContinuation[] = [
  {
    name: 'sends each call back, followed by its result',
    answer: calls(
      fragment({ index: 0, id: 'call_a' }, { name: 'f', arguments: '{"a":1}' }),
      fragment({ index: 1, id: 'call_b' }, { name: 'f', arguments: '{"a":2}' }),
    ),
    history: (answered) => answeredWith(answered, 'one', 'two'),
    verify: (messages) => {
      const sent = pairsOf(messages)
      demandSame(
        sent.map(({ name, text, ...call }) => [name, call.arguments, text]),
        [
          ['f', '{"a":1}', 'one'],
          ['f', '{"a":2}', 'two'],
        ],
        'the calls of the next request, each with its result',
      )
    },
  },
  {
    name: 'sends a result for an unanswered call',
    answer: whole({ tool_calls: [called()] }, 'tool_calls'),
    history: (answered) => [
      ...answered,
      { role: 'user', contents: [{ type: 'text', text: 'Never mind.' }] },
    ],
    verify: (messages) => void pairsOf(messages),
  },
  {
    name: 'sends the reasoning of an iteration back',
    answer: whole({ reasoning_content: 'I need f.', tool_calls: [called()] }, 'tool_calls'),
    history: (answered) => answeredWith(answered, 'one'),
    verify: (_, body) =>
      demand(body.includes('I need f.'), 'the next request must hold the thinking'),
  },
]

/**
 * Returns the calls of a request with their results. Throws if a call has no result or more than
 * one.
 */
function pairsOf(messages: readonly WireObject[]) {
  return messages.flatMap((message, at) =>
    listOf(message['tool_calls']).map((value) => {
      const { id, function: made } = recordOf(value)
      const { name, arguments: args } = recordOf(made)
      const behind = messages.slice(at + 1)
      const end = behind.findIndex(({ role }) => role !== 'tool')
      const results = (end === -1 ? behind : behind.slice(0, end)).filter(
        ({ tool_call_id: of }) => of === id,
      )
      demand(
        results.length === 1,
        `a call must have one result right behind it, got ${results.length}`,
      )
      return { name, arguments: args, text: results[0]!['content'] }
    }),
  )
}
