import type { ChatResponse } from '@lamella/core'
import { Agent, foldUpdates, tool } from '@lamella/core'
import { clientRequest, collect } from '@lamella/testing'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { completionsSse } from '../../fixtures/completions-recording.ts'
import { OpenAIChatCompletionsClient } from '../openai-chat-completions-client.ts'

let server: RawServer
let client: OpenAIChatCompletionsClient
beforeAll(async () => {
  server = await RawServer.start()
  const { baseURL } = server
  client = new OpenAIChatCompletionsClient({ apiKey: 'test-key', baseURL, model: 'm' })
})
afterAll(() => server.stop())

type Fragment = Readonly<Record<string, unknown>>

const fragment = (index: unknown, id: unknown, name: unknown, args: unknown): Fragment => ({
  ...(index !== undefined && { index }),
  ...(id !== undefined && { id }),
  type: 'function',
  function: { ...(name !== undefined && { name }), ...(args !== undefined && { arguments: args }) },
})
const chunk = (delta: object, finish: string | null = null): Fragment => ({
  id: 'c1',
  choices: [{ index: 0, delta, finish_reason: finish }],
})

/** A stream of chunks, each with these entries of `tool_calls`. */
function stream(...chunks: readonly unknown[]): string {
  const calls = chunks.map((entries) => chunk({ tool_calls: entries }))
  return completionsSse([...calls, chunk({}, 'tool_calls')])
}

async function streamed(sse: string): Promise<ChatResponse> {
  server.handler = answer(sse)
  return foldUpdates(await collect(client.stream(clientRequest())))
}

async function whole(calls: unknown): Promise<ChatResponse> {
  const message = { role: 'assistant', content: null, tool_calls: calls }
  server.handler = answer({ id: 'c1', choices: [{ index: 0, message, finish_reason: 'stop' }] })
  return client.respond(clientRequest())
}

const namesOf = ({ functionCalls }: ChatResponse): readonly string[] =>
  functionCalls.map((call) => `${call.name}(${call.arguments})`)

describe('fragments of one call', () => {
  test.each([
    [
      'one id with the name, another with the rest (Poolside)',
      [
        [fragment(0, 'call-1', 'pay', '')],
        [fragment(0, 'call-2', undefined, '{"amount":')],
        [fragment(0, 'call-2', undefined, '5}')],
      ],
    ],
    [
      'a new id and the name with each fragment (vLLM)',
      [
        [fragment(0, 'call-1', 'pay', '')],
        [fragment(0, 'call-2', 'pay', '{"amount":')],
        [fragment(0, 'call-3', 'pay', '5}')],
      ],
    ],
    [
      'the name with each fragment',
      [[fragment(0, 'call-1', 'pay', '{"amou')], [fragment(0, undefined, 'pay', 'nt":5}')]],
    ],
    [
      'an id that continues under another index',
      [[fragment(0, 'call-1', 'pay', '{"amount":')], [fragment(1, 'call-1', undefined, '5}')]],
    ],
    [
      'the arguments before the name',
      [[fragment(0, undefined, undefined, '{"amount":')], [fragment(0, 'call-1', 'pay', '5}')]],
    ],
    ['one call without a list', [fragment(0, 'call-1', 'pay', '{"amount":5}')]],
  ])('%s', async (_, chunks) => {
    expect(namesOf(await streamed(stream(...chunks)))).toEqual(['pay({"amount":5})'])
  })
})

describe('fragments of two calls', () => {
  test.each([
    [
      'different names under one index without ids',
      [[fragment(0, undefined, 'pay', '{"a":1}')], [fragment(0, undefined, 'ask', '{"b":2}')]],
      ['pay({"a":1})', 'ask({"b":2})'],
    ],
    [
      'two entries of one list under one index without ids',
      [[fragment(0, undefined, 'pay', '{"a":1}'), fragment(0, undefined, 'pay', '{"b":2}')]],
      ['pay({"a":1})', 'pay({"b":2})'],
    ],
    [
      'the same name again, behind complete arguments',
      [[fragment(0, undefined, 'pay', '{"a":"}"}')], [fragment(0, undefined, 'pay', '{"b":2}')]],
      ['pay({"a":"}"})', 'pay({"b":2})'],
    ],
    [
      'one id for two names',
      [[fragment(0, 'call_0', 'pay', '{}')], [fragment(0, 'call_0', 'ask', '{}')]],
      ['pay({})', 'ask({})'],
    ],
    [
      'ids of their own under one index (Gemini)',
      [[fragment(0, 'a', 'pay', '{}')], [fragment(0, 'b', 'pay', '{}')]],
      ['pay({})', 'pay({})'],
    ],
  ])('%s', async (_, chunks, calls) => {
    expect(namesOf(await streamed(stream(...chunks)))).toEqual(calls)
  })

  test('a whole answer with repeated indexes and names has all of its calls', async () => {
    const calls = [1, 2, 3].map((n) => fragment(0, undefined, 'pay', `{"a":${n}}`))

    expect(namesOf(await whole(calls))).toEqual(['pay({"a":1})', 'pay({"a":2})', 'pay({"a":3})'])
  })
})

describe('a call beside `custom`', () => {
  test.each([
    ['empty', { input: '', name: '' }],
    ['null', null],
    ['without fields', {}],
  ])('that is %s is a call of a function', async (_, custom) => {
    const call = { ...fragment(undefined, 'call-1', 'pay', '{"a":1}'), custom }

    for (const response of [await whole([call]), await streamed(stream([{ index: 0, ...call }]))]) {
      expect(namesOf(response)).toEqual(['pay({"a":1})'])
      expect(response.functionCalls[0]!.providerData).toEqual({ callId: 'call-1' })
    }
  })

  test('that is used is a call with free text', async () => {
    const custom = { id: 'call-1', type: 'custom', custom: { name: 'run', input: 'ls' } }

    for (const response of [
      await whole([{ ...custom, function: null }]),
      await whole([{ ...custom, function: { name: '', arguments: '' } }]),
    ]) {
      expect(namesOf(response)).toEqual(['run(ls)'])
      expect(response.functionCalls[0]!.providerData).toEqual({ callId: 'call-1', type: 'custom' })
    }
  })
})

describe('a call that cannot run', () => {
  test('arguments of which nothing names the tool are a failure', async () => {
    const calls = [fragment(0, 'call-1', undefined, '{"a":1}')]

    await expect(whole(calls)).rejects.toMatchObject({ kind: 'server' })
    await expect(streamed(stream(calls))).rejects.toMatchObject({ kind: 'server' })
  })

  test.each(['{"amount":', '{"to":["x"', '{"to":"a}'])(
    '`[DONE]` within the arguments %s is a stream that broke off',
    async (args) => {
      const sse = completionsSse([chunk({ tool_calls: [fragment(0, 'call-1', 'pay', args)] })])

      await expect(streamed(sse)).rejects.toMatchObject({ kind: 'truncated_stream' })
    },
  )

  test('`[DONE]` behind complete arguments is the end', async () => {
    const calls = [fragment(0, 'call-1', 'pay', '{"amount":5}')]
    const sse = completionsSse([chunk({ tool_calls: calls })])

    expect(namesOf(await streamed(sse))).toEqual(['pay({"amount":5})'])
  })
})

test('a tool runs with the arguments that came under another id', async () => {
  const ran: unknown[] = []
  const list = tool({
    name: 'delete_files',
    description: 'Deletes files.',
    parameters: z.object({ onlyMine: z.boolean().optional() }),
    execute: (args) => {
      ran.push(args)
      return 'Done.'
    },
  })
  const asked = stream(
    [fragment(0, 'call-1', 'delete_files', '')],
    [fragment(0, 'call-2', undefined, '{"onlyMine":true}')],
  )
  const said = completionsSse([chunk({ content: 'Done.' }, 'stop')])
  server.handler = (response, request) =>
    answer(request.body.messages.at(-1).role === 'tool' ? said : asked)(response, request)
  const agent = new Agent({ client, tools: [list] })

  await agent.run('Delete my files.', { stream: true }).finalResponse()

  expect(ran).toEqual([{ onlyMine: true }])
})
