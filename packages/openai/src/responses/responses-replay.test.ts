import type { Content, FunctionCallContent, Message, MessageInput } from '@lamella/core'
import { foldUpdates, message } from '@lamella/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clientRequest, collect } from '@lamella/testing'
import type { Received } from '@lamella/testing/raw-server'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { responsesRecording } from '../../fixtures/responses-recording.ts'
import { OpenAIChatClient } from '../openai-chat-client.ts'

// What OpenAI said goes back as it came.

let server: RawServer
let client: OpenAIChatClient
beforeAll(async () => {
  server = await RawServer.start()
  client = new OpenAIChatClient({ apiKey: 'test-key', baseURL: server.baseURL, model: 'gpt-4.1' })
})
afterAll(() => server.stop())

async function sent(input: MessageInput, model = 'gpt-5-mini'): Promise<Received['body']> {
  server.handler = answer(responsesRecording([]).whole)
  await client.respond(clientRequest(input, { model }))
  return server.last.body
}

const reasoning = {
  id: 'rs_1',
  type: 'reasoning',
  summary: [
    { type: 'summary_text', text: 'First.' },
    { type: 'summary_text', text: 'Then.' },
  ],
  encrypted_content: 'sealed',
}
const call = {
  id: 'fc_1',
  type: 'function_call',
  call_id: 'call_1',
  name: 'f',
  arguments: '{"a":1}',
}
const said = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  phase: 'final_answer',
  content: [{ type: 'output_text', text: 'Done.', annotations: [] }],
}
const searched = {
  id: 'ws_1',
  type: 'web_search_call',
  status: 'completed',
  action: { type: 'search' },
}
const model = 'gpt-5-mini'

async function history(
  output: readonly Readonly<Record<string, unknown>>[],
  more: object = {},
): Promise<Message[]> {
  server.handler = answer(responsesRecording(output, { model, ...more }).sse)
  const updates = await collect(client.stream(clientRequest('Hi', { model })))
  return [...foldUpdates(updates).messages]
}

test('reasoning, hosted tools, calls and messages, with their ids', async () => {
  const messages = await history([reasoning, searched, call, said])

  const { input } = await sent([message('user', 'Hi'), ...messages])

  expect(input).toEqual([
    { role: 'user', content: 'Hi' },
    reasoning,
    searched,
    call,
    said,
    {
      type: 'function_call_output',
      call_id: 'call_1',
      output: 'No result of this call was recorded.',
    },
  ])
})

test('reasoning that is kept by OpenAI goes back by its id', async () => {
  const stored = { id: 'rs_1', type: 'reasoning', summary: [] }

  const kept = await sent(await history([stored, said], { store: true }))
  const lost = await sent(await history([stored, said], { store: false }))

  expect(kept.input).toEqual([stored, said])
  expect(lost.input).toEqual([{ role: 'assistant', phase: 'final_answer', content: 'Done.' }])
})

test('reasoning does not go back to another model, nor the ids of what came of it', async () => {
  const messages = await history([reasoning, searched, call, said])

  const { input } = await sent(messages, 'gpt-4.1')

  expect(input.slice(0, 2)).toEqual([
    { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{"a":1}' },
    { role: 'assistant', phase: 'final_answer', content: 'Done.' },
  ])
})

test('a dated name is the same model', async () => {
  const { input } = await sent(await history([reasoning, said]), 'gpt-5-mini-2025-08-07')

  expect(input).toEqual([reasoning, said])
})

test('reasoning without what it led to is left out', async () => {
  const [first] = await history([reasoning, said])
  const changed = {
    ...first!,
    contents: [first!.contents[0]!, first!.contents[1]!, { type: 'text' as const, text: '42' }],
  }

  const { input } = await sent([changed])

  expect(input).toEqual([{ role: 'assistant', content: '42' }])
})

test('free-text calls, images and approvals of remote tools have forms of their own', async () => {
  const custom = {
    id: 'ctc_1',
    type: 'custom_tool_call',
    call_id: 'call_9',
    name: 'sql',
    input: 'SELECT 1',
  }
  const image = {
    id: 'ig_1',
    type: 'image_generation_call',
    status: 'completed',
    output_format: 'png',
    result: 'AAAA',
  }
  const asked = {
    id: 'mcpr_1',
    type: 'mcp_approval_request',
    name: 'zip',
    arguments: '{}',
    server_label: 's',
  }
  const messages = await history([custom, image, asked])
  const made = messages
    .flatMap(({ contents }) => contents)
    .find(({ type }) => type === 'function-call')
  const result: Content = {
    type: 'function-result',
    callId: (made as FunctionCallContent).callId,
    contents: [{ type: 'text', text: '1' }],
  }
  const yes: Content = {
    type: 'approval-response',
    id: 'mcpr_1',
    approved: true,
    hosted: true,
    reason: 'fine',
  }

  const { input } = await sent([...messages, message('tool', result), message('user', yes)])

  expect(input).toEqual([
    custom,
    image,
    asked,
    { type: 'custom_tool_call_output', call_id: 'call_9', output: '1' },
    {
      type: 'mcp_approval_response',
      approval_request_id: 'mcpr_1',
      approve: true,
      reason: 'fine',
    },
  ])
})

test('text and a refusal of one message stay one message', async () => {
  const both = {
    ...said,
    content: [
      { type: 'output_text', text: 'Well. ', annotations: [] },
      { type: 'refusal', refusal: 'No.' },
    ],
  }

  expect((await sent(await history([both]))).input).toEqual([both])
})

test('what a hosted tool had only begun is left out', async () => {
  const half: Content = {
    type: 'hosted',
    name: 'web_search',
    id: 'ws_1',
    data: { ...searched, status: 'in_progress' },
    origin: { provider: 'openai' },
  }

  expect((await sent([message('user', 'Hi'), message('assistant', half)])).input).toHaveLength(1)
})

test('output of a tool that the application runs itself is passed through', async () => {
  const output = { type: 'apply_patch_call_output', call_id: 'call_1', status: 'completed' }

  const { input } = await sent([
    message('tool', { type: 'hosted', name: 'apply_patch', data: output }),
  ])

  expect(input).toEqual([output])
})

test('what a Chat Completions server put beside a call stays away', async () => {
  const signed: Content = {
    type: 'function-call',
    callId: 'call_1',
    name: 'f',
    arguments: '{}',
    origin: { provider: 'openai' },
    providerData: { extra: { extra_content: { google: { thought_signature: 'sig' } } } },
  }

  const { input } = await sent([message('user', 'Hi'), message('assistant', signed)])

  expect(input[1]).toEqual({
    type: 'function_call',
    call_id: 'call_1',
    name: 'f',
    arguments: '{}',
  })
})

test('items that a server numbers anew have ids of their own in the next request', async () => {
  const first = await history([reasoning, call, said])
  const second = await history([reasoning, call, said])

  const { input } = await sent([
    message('user', 'Hi'),
    ...first,
    message('user', 'And?'),
    ...second,
  ])

  const ids = input.flatMap(({ id }: { id?: string }) => id ?? [])
  expect(ids).toEqual(['rs_1', 'fc_1', 'msg_1', 'rs_1_2', 'fc_1_2', 'msg_1_2'])
})
