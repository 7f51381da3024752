import type { ChatOptions, ChatResponse, Content, MessageInit } from '@lamella/core'
import { foldUpdates, tool } from '@lamella/core'
import { clientRequest, collect } from '@lamella/testing'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { completionsRecording, completionsSse } from '../fixtures/completions-recording.ts'
import { responsesRecording } from '../fixtures/responses-recording.ts'
import { OpenAIChatClient } from './openai-chat-client.ts'
import { OpenAIChatCompletionsClient } from './openai-chat-completions-client.ts'

let server: RawServer
beforeAll(async () => {
  server = await RawServer.start()
})
afterAll(() => server.stop())

const part = { type: 'output_text', text: 'Hi.', annotations: [] }
const apis = [
  {
    api: 'Responses',
    Client: OpenAIChatClient,
    said: responsesRecording([
      { id: 'msg_1', type: 'message', role: 'assistant', content: [part] },
    ]),
  },
  {
    api: 'Chat Completions',
    Client: OpenAIChatCompletionsClient,
    said: completionsRecording({ content: 'Hi.' }),
  },
]

const user = (...contents: readonly Content[]): MessageInit => ({ role: 'user', contents })

describe.each(apis)('$api', ({ Client, said }) => {
  const open = () => new Client({ apiKey: 'test-key', baseURL: server.baseURL, model: 'm' })

  async function both(
    options: ChatOptions,
    messages: readonly MessageInit[] | string = 'Hi',
    headers: Record<string, string> = {},
  ): Promise<readonly ChatResponse[]> {
    const request = clientRequest(messages, options)
    server.handler = answer(said.sse, { headers })
    const streamed = foldUpdates(await collect(open().stream(request)))
    server.handler = answer(said.whole, { headers })
    return [streamed, await open().respond(request)]
  }

  test('`extraBody` is merged last and at every depth', async () => {
    const extraBody = { text: { verbosity: 'low' }, metadata: { b: '2' }, temperature: undefined }
    const schema = z.object({ a: z.string() })
    await both({
      temperature: 1,
      metadata: { a: '1' },
      responseFormat: { schema },
      providerOptions: { openai: { extraBody } },
    })

    const { body } = server.last
    expect(body.metadata).toEqual({ a: '1', b: '2' })
    expect(body.text).toMatchObject({ verbosity: 'low' })
    expect(JSON.stringify(body)).toContain('json_schema')
    expect(body).not.toHaveProperty('temperature')
  })

  test('`extraBody` cannot turn a stream off', async () => {
    server.handler = answer(said.sse)
    const providerOptions = { openai: { extraBody: { stream: false } } }

    await collect(open().stream(clientRequest('Hi', { providerOptions })))

    expect(server.last.body.stream).toBe(true)
  })

  test('the id of the request is told, and the headers where they are asked for', async () => {
    const headers = { 'x-request-id': 'req_1', 'x-served-by': 'node-7' }
    const openai = { responseHeaders: true, extraQuery: { trace: '1' } }

    for (const { metadata } of await both({}, 'Hi', headers)) {
      expect(metadata).toMatchObject({ requestId: 'req_1' })
      expect(metadata).not.toHaveProperty('headers')
    }
    for (const { metadata } of await both({ providerOptions: { openai } }, 'Hi', headers)) {
      expect(metadata['headers']).toMatchObject({ 'x-served-by': 'node-7' })
    }
    expect(server.last.path).toContain('trace=1')
  })

  test.each([
    [{ providerOptions: { OpenAI: { store: true } } }, /`OpenAI`; did you mean `openai`/],
    [{ reasoning: { effort: 'low', budgetTokens: 9 } }, /unknown option `reasoning.budgetTokens`/],
    [{ maxTokens: 5 }, /unknown option `maxTokens`; did you mean `maxOutputTokens`/],
    [{ frequencyPenalty: 1 }, /unknown option `frequencyPenalty`/],
  ])('%j is refused before anything is sent', async (options, message) => {
    await expect(open().respond(clientRequest('Hi', options as ChatOptions))).rejects.toThrow(
      message,
    )
  })

  test('options of another provider may stand beside', async () => {
    const providerOptions = { anthropic: { effort: 'low' }, mistral: { safe: true } }

    expect(await both({ providerOptions })).toHaveLength(2)
  })

  test('a time limit of one call ends the wait for its headers', async () => {
    server.handler = () => {}
    const ask = (timeoutMs: number) => {
      const providerOptions = { openai: { timeoutMs } }
      return open().respond(clientRequest('Hi', { providerOptions, transportRetries: 0 }))
    }

    await expect(ask(20)).rejects.toMatchObject({ kind: 'timeout' })
    await expect(ask(0)).rejects.toThrow(/`timeoutMs` must be more than 0 milliseconds, got 0/)
  })

  test('what the request loses is named, in a stream as well', async () => {
    const thought = {
      type: 'reasoning',
      text: 'Hm.',
      protected: 'sealed',
      origin: { provider: 'anthropic' },
    } as const
    const history: MessageInit[] = [
      user({ type: 'text', text: 'Go.' }),
      { role: 'assistant', contents: [thought, { type: 'text', text: 'So.' }] },
      user({ type: 'uri', uri: 'file_011CNha8iCJcU1wXNR6q4V8w' }, { type: 'text', text: 'And?' }),
    ]

    for (const { metadata } of await both({}, history)) {
      expect(metadata['losses']).toEqual([
        'reasoning of anthropic is left out',
        'a file that another provider keeps is left out',
      ])
    }
  })
})

const completions = () =>
  new OpenAIChatCompletionsClient({ apiKey: 'test-key', baseURL: server.baseURL, model: 'm' })
const responses = () =>
  new OpenAIChatClient({ apiKey: 'test-key', baseURL: server.baseURL, model: 'm' })

test('`extraBody.stream_options` are laid over those that ask for usage', async () => {
  const extraBody = { stream_options: { include_obfuscation: false } }
  server.handler = answer(completionsRecording({ content: 'Hi.' }).sse)

  const request = clientRequest('Hi', { providerOptions: { openai: { extraBody } } })
  await collect(completions().stream(request))

  expect(server.last.body.stream_options).toEqual({
    include_usage: true,
    include_obfuscation: false,
  })
})

test.each([
  [{ mediaType: 'image/png' }, { type: 'input_image', file_id: 'file-abc', detail: 'auto' }],
  [{ name: 'chart.png' }, { type: 'input_image', file_id: 'file-abc', detail: 'auto' }],
  [
    { mediaType: 'image/png', metadata: { detail: 'low' } },
    { type: 'input_image', file_id: 'file-abc', detail: 'low' },
  ],
  [{ mediaType: 'application/pdf' }, { type: 'input_file', file_id: 'file-abc' }],
  [{}, { type: 'input_file', file_id: 'file-abc' }],
])('a file that OpenAI keeps, with %j, goes by its id', async (more, expected) => {
  server.handler = answer(apis[0]!.said.whole)

  await responses().respond(clientRequest([user({ type: 'uri', uri: 'file-abc', ...more })]))

  expect(server.last.body.input[0].content).toEqual([expected])
})

describe('log probabilities', () => {
  const tokens = ['H', 'i', '.'].map((token) => ({ token, logprob: -0.1, top_logprobs: [] }))

  test('of Chat Completions are the same streamed and whole', async () => {
    const choice = (at: number, finish: string | null = null) => ({
      id: 'c1',
      choices: [
        {
          index: 0,
          delta: { content: tokens[at]!.token },
          logprobs: { content: [tokens[at]] },
          finish_reason: finish,
        },
      ],
    })
    server.handler = answer(completionsSse([choice(0), choice(1), choice(2, 'stop')]))
    const streamed = foldUpdates(await collect(completions().stream(clientRequest())))
    const message = { role: 'assistant', content: 'Hi.' }
    const logprobs = { content: tokens }
    server.handler = answer({
      id: 'c1',
      choices: [{ index: 0, message, logprobs, finish_reason: 'stop' }],
    })
    const whole = await completions().respond(clientRequest())

    expect(streamed.metadata['logProbs']).toEqual(tokens)
    expect(whole.metadata['logProbs']).toEqual(tokens)
  })

  test('of Responses are the same streamed and whole', async () => {
    const content = [{ ...part, logprobs: tokens }]
    const { whole, sse } = responsesRecording([
      { id: 'msg_1', type: 'message', role: 'assistant', content },
    ])
    server.handler = answer(sse)
    const streamed = foldUpdates(await collect(responses().stream(clientRequest())))
    server.handler = answer(whole)

    expect(streamed.metadata['logProbs']).toEqual(tokens)
    expect((await responses().respond(clientRequest())).metadata['logProbs']).toEqual(tokens)
  })
})

test('a deferred tool is left to the search of the provider, where there is one', async () => {
  const deferred = tool({
    name: 'rare',
    description: 'A tool that is seldom needed.',
    parameters: z.object({}),
    metadata: { deferLoading: true },
    execute: () => 'Done.',
  })
  const request = clientRequest('Hi', { tools: [deferred] })

  server.handler = answer(apis[0]!.said.whole)
  await responses().respond(request)
  expect(server.last.body.tools).toMatchObject([{ name: 'rare', defer_loading: true }])

  server.handler = answer(apis[1]!.said.whole)
  await completions().respond(request)
  expect(JSON.stringify(server.last.body.tools)).not.toContain('defer')
})
