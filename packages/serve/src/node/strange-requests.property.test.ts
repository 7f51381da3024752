// Requests that a client gets wrong, by mistake or on purpose, over real connections to a real server.
import type { IncomingMessage } from 'node:http'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { memoryStore } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import * as fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { changedJson, jsonChanges, strangeValue } from '../../../../tests/support/changed-json.ts'
import { runs } from '../../../../tests/support/runs.ts'
import { agUiHandler } from '../ag-ui/ag-ui-handler.ts'
import { openAIHandler } from '../openai/openai-handler.ts'
import { requestsHandler } from '../sse/requests-handler.ts'
import { sseHandler } from '../sse/sse-handler.ts'
import { served } from '../sse/served.test-helper.ts'
import { uiStreamHandler } from '../ui-stream/ui-stream-handler.ts'
import { toNode } from './to-node.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** A server of all protocols on loopback. */
async function started(onDisconnect: 'cancel' | 'continue') {
  const script: Parameters<typeof scriptedClient>[0] = ({ messages }) => {
    const last = messages.at(-1)
    const words = JSON.stringify(last ?? '')
    if (last?.role === 'tool') return 'Done.'
    if (words.includes('Refund')) return callFunction('refund', { amount: 5 }, 'call_1')
    return words.includes('Where') ? callFunction('locate', {}, 'call_2') : 'Hello.'
  }
  const { agent, service, paid, errors } = served(script, {
    clientTools: ['locate'],
    store: memoryStore(),
    mayManage: ({ principal }) => principal.id === 'max',
    onDisconnect,
    include: ['tool-calls', 'tool-results', 'files', 'reasoning', 'usage', 'annotations', 'events'],
  })
  const models = { support: agent, raw: scriptedClient(script) }
  const handlers = {
    '/chat': sseHandler(service),
    '/ui': uiStreamHandler(service),
    '/old': uiStreamHandler(service, { protocol: 6 }),
    '/agent': agUiHandler(service),
    '/requests': requestsHandler(service),
    '/v1': openAIHandler(models, {
      principal: (request) => request.headers.get('x-user') ?? undefined,
      onError: (error) => errors.push(error),
    }),
  }
  const server = createServer((request, response) => {
    const [, first = ''] = (request.url ?? '').split(/[/?]/)
    const name = `/${first}` as keyof typeof handlers
    toNode(handlers[name] ?? handlers['/chat'])(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, service, paid, errors }
}

const words = [{ type: 'text', text: 'Refund me.' }]
const user = { id: 'u', role: 'user', parts: words }
const image = { type: 'file', url: 'data:image/png;base64,AAAA', mediaType: 'image/png' }
const schema = { name: 'x', schema: { type: 'object' } }
const fn = { name: 'f', parameters: { type: 'object' } }

/** Bodies that each protocol accepts. `ID` stands for the id of a request that waits. */
const bodies: Readonly<Record<string, readonly object[]>> = {
  '/chat': [
    { chat: 'c1', input: 'Refund me.' },
    { chat: 'c2', input: [{ type: 'text', text: 'Where?' }, 'Here.'], id: 'm1' },
    { chat: 'c1', answers: { ID: { approved: true, arguments: { amount: 9 } } } },
    { chat: 'c1', again: 1 },
  ],
  '/ui': [
    { id: 'c1', trigger: 'submit-message', messages: [{ ...user, parts: [...words, image] }] },
    { id: 'c1', trigger: 'regenerate-message', messageId: 'u', messages: [user] },
    {
      id: 'c1',
      messages: [
        user,
        {
          id: 'a',
          role: 'assistant',
          parts: [
            {
              type: 'dynamic-tool',
              toolName: 'refund',
              toolCallId: 'call_1',
              state: 'approval-responded',
              approval: { id: 'ID', approved: true },
            },
            { type: 'tool-locate', toolCallId: 'call_2', state: 'output-available', output: 1 },
          ],
        },
      ],
    },
  ],
  '/agent': [
    {
      threadId: 'c1',
      runId: 'r',
      protocolVersion: '1.0',
      messages: [{ id: 'u', role: 'user', content: 'Refund me.' }],
      tools: [],
      context: [],
      state: {},
    },
    {
      threadId: 'c1',
      runId: 'r',
      messages: [],
      resume: [{ interruptId: 'ID', status: 'resolved', payload: true }],
    },
    {
      threadId: 'c2',
      runId: 'r',
      messages: [{ id: 't', role: 'tool', toolCallId: 'call_2', content: 'x' }],
    },
  ],
  '/requests': [
    { id: 'ID', claim: true },
    { id: 'approval_1', answer: { approved: true } },
  ],
  '/v1/chat/completions': [
    { model: 'support', stream: true, messages: [{ role: 'user', content: 'Refund me.' }] },
    {
      model: 'raw',
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [{ type: 'image_url', image_url: { url: 'https://x.example/a' } }],
        },
      ],
      tools: [{ type: 'function', function: fn }],
      tool_choice: { type: 'function', function: { name: 'f' } },
      response_format: { type: 'json_schema', json_schema: schema },
      stop: ['x'],
      reasoning_effort: 'low',
      parallel_tool_calls: false,
      stream_options: { include_usage: true },
    },
    {
      model: 'raw',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', tool_calls: [{ id: 'x', type: 'function', function: fn }] },
        { role: 'tool', tool_call_id: 'x', content: 'y' },
      ],
    },
  ],
  '/v1/responses': [
    { model: 'support', input: 'Hi', instructions: 'Be brief.' },
    {
      model: 'raw',
      stream: true,
      instructions: 'Be brief.',
      input: [
        { type: 'function_call', call_id: 'x', name: 'f', arguments: '{' },
        { type: 'function_call_output', call_id: 'x', output: 'y' },
        { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
      ],
      tools: [{ type: 'function', ...fn }],
      text: { format: { type: 'json_schema', ...schema } },
      reasoning: { effort: 'low', summary: 'auto' },
    },
  ],
}

const path = fc.constantFrom(...Object.keys(bodies), '/old')
const tails = [
  '',
  '',
  '',
  '?chat=c1',
  '?chat=c1&stream',
  '?chat=%E0%A4%A',
  '?chat=&chat=c2',
  '/%E0%A4%A',
]
const moreTails = [
  '?chat=c1&since=x',
  '?threadId=c1',
  '/c1',
  '/c1/stream',
  '/stream',
  '//',
  '/%00',
  '/models',
]
const deep = (open: string, close: string): string => open.repeat(20_000) + close.repeat(20_000)
/** Texts that are no body of a chat, by name. A failed run prints the name. */
const brokenTexts: Readonly<Record<string, string>> = {
  nothing: '',
  half: '{"a":',
  'no object': '[]',
  'a text': '"x"',
  null: 'null',
  'a mark before it': '\ufeff{}',
  'many digits': '9'.repeat(50_000),
  'open lists': '['.repeat(50_000),
  'deep lists': deep('[', ']'),
  'deep objects': deep('{"a":', '}').replace(':}', ':1}'),
  long: JSON.stringify({ chat: 'c1', input: 'x'.repeat(1_200_000) }),
}

const body = fc.oneof(
  { weight: 8, arbitrary: fc.record({ which: fc.nat(), changes: jsonChanges }) },
  { weight: 1, arbitrary: fc.record({ broken: fc.constantFrom(...Object.keys(brokenTexts)) }) },
  { weight: 1, arbitrary: fc.record({ text: strangeValue.map((value) => JSON.stringify(value)) }) },
  { weight: 1, arbitrary: fc.record({ text: fc.uint8Array({ maxLength: 300 }) }) },
)
const usual = fc.constant({})
const strangeHeaders = fc.constantFrom<Record<string, string>>(
  { 'content-type': 'text/plain' },
  { 'content-type': 'application/jsonx' },
  { 'content-type': '' },
  { 'x-user': '' },
  { 'x-user': '__proto__' },
  { 'x-user': 'a'.repeat(500) },
  { origin: 'null' },
  { origin: 'https://evil.example' },
  { 'sec-fetch-site': 'cross-site' },
  ...['x', 'a/b?c', 'u:p@h', '[::1', 'x'.repeat(300)].map((host) => ({ host })),
)
const asked = fc.record({
  path,
  body,
  method: fc.oneof(
    { weight: 6, arbitrary: fc.constant('POST') },
    {
      weight: 1,
      arbitrary: fc.constantFrom('GET', 'DELETE', 'OPTIONS', 'PUT', 'PATCH', 'HEAD', 'TRACE'),
    },
  ),
  tail: fc.constantFrom(...tails, ...moreTails),
  headers: fc.oneof({ weight: 6, arbitrary: usual }, { weight: 1, arbitrary: strangeHeaders }),
  leaves: fc.oneof(
    { weight: 12, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom<'asking' | 'reading'>('asking', 'reading') },
  ),
})
type Asked = typeof asked extends fc.Arbitrary<infer Value> ? Value : never

/** Sends a request, and resolves to its status, or to `left` where the client leaves. */
function statusOf(port: number, from: Asked, waiting: string): Promise<number | string> {
  const known = bodies[from.path] ?? bodies['/ui']!
  const { body: given } = from
  const text =
    'changes' in given
      ? JSON.stringify(changedJson(known[given.which % known.length]!, given.changes))
      : 'broken' in given
        ? brokenTexts[given.broken]!
        : given.text
  const bytes = Buffer.from(typeof text === 'string' ? text.replaceAll('ID', waiting) : text)
  const hasBody = !['GET', 'HEAD', 'TRACE'].includes(from.method)
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      host: '127.0.0.1',
      port,
      method: from.method,
      path: from.path + from.tail,
      headers: {
        'x-user': from.path === '/requests' ? 'max' : 'ann',
        'content-type': 'application/json',
        ...(hasBody && { 'content-length': bytes.length }),
        ...from.headers,
      },
    })
    request.once('response', (response: IncomingMessage) => {
      response.once('end', () => resolve(response.statusCode!))
      response.once('error', () => resolve('left'))
      response.resume()
      if (from.leaves === 'reading') request.destroy()
    })
    request.once('error', (error) =>
      request.destroyed && from.leaves ? resolve('left') : reject(error),
    )
    if (hasBody) request.write(bytes)
    if (from.leaves === 'asking') request.destroy()
    else request.end()
  })
}

test.each(['cancel', 'continue'] as const)(
  'is refused as the mistake of its client, and harms nobody (onDisconnect: %s)',
  async (onDisconnect) => {
    const { port, service, paid, errors } = await started(onDisconnect)

    await fc.assert(
      fc.asyncProperty(asked, async (from) => {
        const { pending } = await service.history({ principal: 'ann', chat: 'c1' })
        const status = await statusOf(port, from, pending[0]?.id ?? 'none')

        const failed = Number(status) >= 500 ? status : undefined
        expect({ failed, errors }).toEqual({ failed: undefined, errors: [] })
      }),
      { numRuns: runs(2_500), seed: 34, endOnFailure: true },
    )

    const chats = await Promise.all(
      ['c1', 'c2'].map((chat) => service.history({ principal: 'ann', chat })),
    )
    expect(paid).toEqual([])
    expect(({} as Record<string, unknown>)['approved']).toBeUndefined()
    expect(chats.map(({ running }) => running)).toEqual([false, false])
  },
  120_000,
)
