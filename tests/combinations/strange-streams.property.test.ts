// Event streams of a server that is broken, or hostile, read by clients and by the reader of a page.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { AnthropicChatClient } from '../../packages/anthropic/src/fetch/anthropic-chat-client.ts'
import { Agent, ProviderError } from '../../packages/core/src/index.ts'
import { OpenAIChatCompletionsClient } from '../../packages/openai/src/fetch/openai-chat-completions-client.ts'
import { OpenAIChatClient } from '../../packages/openai/src/fetch/openai-chat-client.ts'
import { chatReader } from '../../packages/serve/src/client.ts'
import { changedJson, jsonChanges } from '../support/changed-json.ts'
import { runs } from '../support/runs.ts'

type Event = readonly [name: string, data: object]

const call = { id: 'x', type: 'function', function: { name: 'f', arguments: '{"a' } }
const said = {
  type: 'message',
  id: 'm',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
}

/** Events of a server that is as it should be. */
const streams: Readonly<Record<string, readonly Event[]>> = {
  completions: [
    [
      '',
      { id: 'c', model: 'm', choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi' } }] },
    ],
    ['', { id: 'c', choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] } }] }],
    [
      '',
      {
        choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }],
        usage: { prompt_tokens: 1, completion_tokens: 2 },
      },
    ],
  ],
  responses: [
    { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { ...said, content: [] } },
    {
      type: 'response.output_text.delta',
      item_id: 'm',
      output_index: 0,
      content_index: 0,
      delta: 'Hi',
    },
    {
      type: 'response.output_item.added',
      output_index: 1,
      item: { type: 'function_call', id: 'f', call_id: 'c', name: 'f', arguments: '' },
    },
    { type: 'response.function_call_arguments.delta', item_id: 'f', output_index: 1, delta: '{}' },
    {
      type: 'response.completed',
      response: {
        id: 'r',
        status: 'completed',
        output: [said],
        usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
      },
    },
  ].map((data) => [data.type, data]),
  messages: [
    {
      type: 'message_start',
      message: {
        id: 'm',
        role: 'assistant',
        model: 'x',
        content: [],
        usage: { input_tokens: 1, output_tokens: 0 },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'tool_use', id: 't', name: 'f', input: {} },
    },
    {
      type: 'content_block_delta',
      index: 1,
      delta: { type: 'input_json_delta', partial_json: '{' },
    },
    { type: 'content_block_stop', index: 1 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
    { type: 'message_stop' },
  ].map((data) => [data.type, data]),
  reader: [
    ['update', { contents: [{ type: 'text', text: 'Hi' }], role: 'assistant' }],
    ['restart', { contents: [], restart: true, scope: 'run' }],
    ['update', { contents: [{ type: 'function-call', callId: 'c', name: 'f', arguments: '{' }] }],
    ['done', { status: 'completed', pending: [] }],
  ],
}

const nested = '['.repeat(20_000)
/** Lines that no server should send, by name. */
const oddLines: Readonly<Record<string, string>> = {
  none: '',
  done: 'data: [DONE]\n\n',
  'a comment': ': c\n\n',
  'a field alone': 'data\n\n',
  'half of an object': 'data: {\n\n',
  'a long wait': 'retry: 99999999999\n\n',
  'a null character': 'id: \0\n\n',
  'a mark of byte order': '\ufeff',
  'a text': 'data: "x"\n\n',
  'open lists': `data: ${nested}\n\n`,
  'deep lists': `data: ${nested}${']'.repeat(20_000)}\n\n`,
  'a long line': 'x'.repeat(50_000),
}

const piece = fc.record({
  changes: fc.oneof(
    { weight: 2, arbitrary: jsonChanges },
    { weight: 1, arbitrary: fc.constant([]) },
  ),
  times: fc.oneof(
    { weight: 15, arbitrary: fc.constant(1) },
    { weight: 1, arbitrary: fc.constantFrom(0, 3) },
  ),
  name: fc.oneof(
    { weight: 20, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom('x', 'error', 'ping', 'done') },
  ),
  end: fc.constantFrom('\n\n', '\n\n', '\n\n', '\r\n\r\n', '\r\r', '\n'),
  odd: fc.oneof(
    { weight: 10, arbitrary: fc.constant('none') },
    { weight: 1, arbitrary: fc.constantFrom(...Object.keys(oddLines)) },
  ),
})
const answer = fc.record({
  kind: fc.constantFrom(...Object.keys(streams)),
  pieces: fc.array(piece, { minLength: 9, maxLength: 9 }),
  status: fc.oneof(
    { weight: 20, arbitrary: fc.constant(200) },
    { weight: 1, arbitrary: fc.constantFrom(400, 401, 429, 500, 529) },
  ),
  isCut: fc.boolean(),
  breaks: fc.boolean(),
  chunk: fc.constantFrom(7, 40, 4000),
})
type Answer = typeof answer extends fc.Arbitrary<infer Value> ? Value : never

function bytesOf({ kind, pieces, isCut }: Answer): Uint8Array {
  const lines = streams[kind]!.map(([event, data], at) => {
    const { changes, times, name = event, end, odd } = pieces[at]!
    const text = JSON.stringify(changedJson(data, changes))
    return `${name && `event: ${name}\n`}data: ${text}${end}`.repeat(times) + oddLines[odd]!
  })
  const all = new TextEncoder().encode(lines.join(''))
  // In the middle of a character or not.
  return isCut ? all.slice(0, Math.floor(all.length * 0.7)) : all
}

function answered(from: Answer): Response {
  const bytes = bytesOf(from)
  let at = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at < bytes.length) {
        controller.enqueue(bytes.slice(at, (at += from.chunk)))
      } else if (from.breaks) controller.error(new TypeError('terminated'))
      else controller.close()
    },
  })
  const headers = { 'content-type': 'text/event-stream' }
  return new Response(body, { status: from.status, headers })
}

const clients = {
  completions: OpenAIChatCompletionsClient,
  responses: OpenAIChatClient,
  messages: AnthropicChatClient,
}

/** Reads an answer to its end, and tells how that was. */
async function endOf(from: Answer): Promise<string> {
  const fetch = async (): Promise<Response> => answered(from)
  if (from.kind === 'reader') {
    const reader = chatReader({ url: 'https://shop.example/chat', chat: 'c', fetch, reconnects: 0 })
    await reader.send('Hello')
    const { status, pending } = reader.state
    return Array.isArray(pending) ? typeof status : 'no requests'
  }
  const stream = agentOf(from.kind as keyof typeof clients, fetch).run('Hello', { stream: true })
  try {
    for await (const update of stream) void update
    return typeof (await stream.finalResponse()).status
  } catch (error) {
    return kindOf(error)
  }
}

/** An agent whose provider answers with `fetch`. */
function agentOf(kind: keyof typeof clients, fetch: () => Promise<Response>): Agent {
  const Client = clients[kind]
  return new Agent({
    client: new Client({ apiKey: 'k', fetch, model: 'm', baseURL: 'https://model.example/v1' }),
    options: { transportRetries: 0 },
    functionInvocation: { maxIterations: 2 },
  })
}

function plainEnd(agent: Agent): Promise<string> {
  return agent.run('Hello').then(({ status }) => typeof status, kindOf)
}

function kindOf(error: unknown): string {
  return error instanceof ProviderError ? typeof error.kind : String((error as Error).stack)
}

test('a stream that is broken or hostile ends the run with an answer, or with a known failure', async () => {
  await fc.assert(
    fc.asyncProperty(answer, async (from) => {
      expect(await endOf(from)).toBe('string')
    }),
    { numRuns: runs(2_500), seed: 34, endOnFailure: true },
  )
}, 120_000)

const failure = { message: 'Too long.', type: 'invalid_request_error', code: 'x', param: 'input' }
/** Answers in one piece, and reports of a failure. */
const wholes: Readonly<Record<keyof typeof clients, readonly object[]>> = {
  completions: [
    {
      id: 'c',
      model: 'm',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hi', tool_calls: [call] },
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 2 },
    },
    { error: failure },
  ],
  responses: [
    {
      id: 'r',
      object: 'response',
      status: 'completed',
      output: [said],
      usage: { input_tokens: 1 },
    },
    { id: 'r', object: 'response', status: 'failed', output: [], error: failure },
    { error: failure },
  ],
  messages: [
    {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'x',
      content: [
        { type: 'text', text: 'Hi' },
        { type: 'tool_use', id: 't', name: 'f', input: {} },
      ],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 2 },
    },
    { type: 'error', error: failure },
  ],
}

const whole = fc.record({
  kind: fc.constantFrom(...(Object.keys(clients) as (keyof typeof clients)[])),
  which: fc.nat(1000),
  changes: jsonChanges,
  status: fc.constantFrom(200, 200, 400, 401, 429, 500),
})

test('an answer in one piece that is broken or hostile ends the run in the same way', async () => {
  await fc.assert(
    fc.asyncProperty(whole, async ({ kind, which, changes, status }) => {
      const known = wholes[kind]
      const body = changedJson(known[which % known.length], changes)
      const fetch = async (): Promise<Response> => Response.json(body, { status })
      expect(await plainEnd(agentOf(kind, fetch))).toBe('string')
    }),
    { numRuns: runs(2_500), seed: 34, endOnFailure: true },
  )
}, 120_000)
