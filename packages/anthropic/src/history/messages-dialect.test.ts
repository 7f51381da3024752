import type { ChatOptions, Content, MessageInit } from '@lamella/core'
import { foldUpdates, tool } from '@lamella/core'
import { toMessages } from '@lamella/core/authoring'
import { clientRequest, collect } from '@lamella/testing'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { messagesRecording } from '../../fixtures/messages-recording.ts'
import { AnthropicChatClient } from '../anthropic-chat-client.ts'
import type { AnthropicChatClientOptions } from '../sdk-options.ts'
import { messagesDialects } from './messages-dialect.ts'

let server: RawServer
beforeAll(async () => {
  server = await RawServer.start()
})
afterAll(() => server.stop())

const open = (more: AnthropicChatClientOptions = {}): AnthropicChatClient =>
  new AnthropicChatClient({ apiKey: 'test-key', baseURL: server.url, model: 'm', ...more })
const said = messagesRecording([{ type: 'text', text: 'Hi.' }])
const use = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }
const thinking = { type: 'thinking', thinking: 'Hm.' }
const text = (value: string, more: object = {}): Content => ({ type: 'text', text: value, ...more })
const user = (...contents: readonly Content[]): MessageInit => ({ role: 'user', contents })

describe('which dialect a client speaks', () => {
  test.each([
    [undefined, 'anthropic'],
    ['https://api.deepseek.com/anthropic', 'deepseek'],
    ['https://api.moonshot.ai/anthropic', 'moonshot'],
    ['https://api.z.ai/api/anthropic', 'zai'],
    ['https://api.minimax.io/anthropic', 'minimax'],
    ['https://api.kimi.com/coding', 'moonshot'],
    ['https://openrouter.ai/api', 'openrouter'],
    ['https://gateway.example', 'anthropic'],
    ['https://api.z.ai.evil.example', 'anthropic'],
  ])('%s is %s', (baseURL, provider) => {
    expect(new AnthropicChatClient({ apiKey: 'k', model: 'm', baseURL }).provider).toBe(provider)
  })

  test('an option names another one, and a provider of its own', () => {
    expect(open({ dialect: 'ollama' }).provider).toBe('ollama')
    expect(open({ dialect: 'ollama', provider: 'mine' }).provider).toBe('mine')
    expect(open({ dialect: { ...messagesDialects.ollama, provider: 'other' } }).provider).toBe(
      'other',
    )
  })

  test.each([
    [{ dialect: 'olama' }, /`dialect` must be one of/],
    [{ dialect: { ...messagesDialects.zai, unsigned: true } }, /unknown option `unsigned`/],
  ])('%j is refused', (options, message) => {
    expect(() => open(options as never)).toThrow(message)
  })
})

describe.each([false, true])('streamed: %s', (stream) => {
  /** The answer to a question, then the body of the request that continues it with a result. */
  async function continued(client: AnthropicChatClient): Promise<{
    readonly assistant: readonly unknown[]
    readonly losses: unknown
  }> {
    const { whole, sse } = messagesRecording([thinking, use], { stop: 'tool_use' })
    server.handler = (response, request) =>
      answer(request.body.stream ? sse : whole)(response, request)
    const ask = async (messages: readonly MessageInit[]) =>
      stream
        ? foldUpdates(await collect(client.stream(clientRequest(messages))))
        : client.respond(clientRequest(messages))
    const first = await ask([user(text('Go.'))])
    const kept: MessageInit[] = JSON.parse(JSON.stringify(first.messages))
    const { callId } = first.functionCalls[0]!
    const result = { type: 'function-result', callId, contents: [text('4')] } as const
    const history = [user(text('Go.')), ...kept, { role: 'tool', contents: [result] } as const]

    const { metadata } = await ask(history)
    expect(client.canContinue(toMessages(history)).losses).toEqual(metadata['losses'] ?? [])
    return {
      assistant: server.last.body.messages[1].content,
      losses: metadata['losses'],
    }
  }

  test('thinking without a signature goes back to servers that want it', async () => {
    const { assistant, losses } = await continued(open({ dialect: 'deepseek' }))

    expect(assistant).toEqual([thinking, use])
    expect(losses).toBeUndefined()
  })

  test('an answer without thinking goes back with an empty one where servers ask for it', async () => {
    server.handler = answer(said.whole)
    const call = { type: 'function-call', callId: 'toolu_1', name: 'f', arguments: '{}' } as const
    const result = { type: 'function-result', callId: 'toolu_1', contents: [text('4')] } as const
    const history: readonly MessageInit[] = [
      user(text('Go.')),
      { role: 'assistant', contents: [call] },
      { role: 'tool', contents: [result] },
    ]
    const send = async (dialect: 'deepseek' | 'moonshot', options: ChatOptions = {}) => {
      await open({ dialect }).respond(clientRequest(history, options))
      return server.last.body.messages[1].content
    }

    expect(await send('deepseek')).toEqual([{ type: 'thinking', thinking: '' }, use])
    expect(await send('deepseek', { reasoning: { effort: 'none' } })).toEqual([use])
    expect(await send('moonshot')).toEqual([use])
  })

  test('and is left out for Anthropic, which names the loss', async () => {
    const { assistant, losses } = await continued(open())

    expect(assistant).toEqual([use])
    expect(losses).toEqual(['reasoning of anthropic is left out'])
  })
})

describe('what a request loses, extra fields and facts of the answer', () => {
  const document: Content = {
    type: 'data',
    mediaType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    data: 'UEsDBA==',
  }
  const pixel: Content = { type: 'data', mediaType: 'image/png', data: 'AAAA' }

  /** Both forms of the call, which must agree. */
  async function respond(
    client: AnthropicChatClient,
    messages: readonly MessageInit[],
    options: ChatOptions = {},
    headers: Record<string, string> = {},
  ) {
    server.handler = answer(said.sse, { headers })
    const streamed = foldUpdates(await collect(client.stream(clientRequest(messages, options))))
    server.handler = answer(said.whole, { headers })
    const whole = await client.respond(clientRequest(messages, options))
    return { whole, streamed }
  }

  test.each([
    [undefined, [document, pixel], [document]],
    ['deepseek', [document, pixel], [document, pixel]],
  ] as const)('files that cannot be shown are named, dialect %s', async (dialect, files, lost) => {
    const { whole, streamed } = await respond(open({ dialect }), [user(text('See.'), ...files)])

    const losses = lost.map(({ mediaType }) => `a file of type ${mediaType} is left out`)
    expect(whole.metadata['losses']).toEqual(losses)
    expect(streamed.metadata['losses']).toEqual(losses)
  })

  test('`extraBody` is merged last and at every depth', async () => {
    const extraBody = { output_config: { format: { name: 'x' } }, max_tokens: undefined }
    const options = { reasoning: { effort: 'low' }, providerOptions: { anthropic: { extraBody } } }

    await respond(open(), [user(text('Hi.'))], options)

    expect(server.last.body.output_config).toEqual({ effort: 'low', format: { name: 'x' } })
    expect(server.last.body).not.toHaveProperty('max_tokens')
  })

  test('options under the client’s own provider name come before those of anthropic', async () => {
    const providerOptions = {
      anthropic: { effort: 'low', serviceTier: 'auto' },
      mine: { effort: 'high' },
    }

    await respond(open({ provider: 'mine' }), [user(text('Hi.'))], { providerOptions })

    expect(server.last.body).toMatchObject({
      output_config: { effort: 'high' },
      service_tier: 'auto',
    })
  })

  test.each([
    [{ providerOptions: { claude: { effort: 'low' } } }, /`claude`; did you mean `anthropic`/],
    [{ providerOptions: { Anthropic: { effort: 'low' } } }, /`Anthropic`; did you mean/],
    [{ reasoning: { budgetTokens: 9 } }, /unknown option `reasoning.budgetTokens`/],
    [{ frequencyPenalty: 1 }, /unknown option `frequencyPenalty`/],
  ])('%j is refused before anything is sent', async (options, message) => {
    await expect(open().respond(clientRequest('Hi', options as ChatOptions))).rejects.toThrow(
      message,
    )
  })

  test('the id of the request is told, and the headers where they are asked for', async () => {
    const headers = { 'request-id': 'req_1', 'x-served-by': 'node-7' }
    const providerOptions = { anthropic: { responseHeaders: true, extraQuery: { trace: '1' } } }

    const plain = await respond(open(), [user(text('Hi.'))], {}, headers)
    const full = await respond(open(), [user(text('Hi.'))], { providerOptions }, headers)

    for (const { metadata } of [plain.whole, plain.streamed]) {
      expect(metadata).toMatchObject({ requestId: 'req_1' })
      expect(metadata).not.toHaveProperty('headers')
    }
    for (const { metadata } of [full.whole, full.streamed]) {
      expect(metadata['headers']).toMatchObject({ 'x-served-by': 'node-7' })
    }
    expect(server.last.path).toContain('trace=1')
  })

  test('a time limit of one call ends the wait for its headers', async () => {
    server.handler = () => {}
    const providerOptions = { anthropic: { timeoutMs: 20 } }
    const request = clientRequest('Hi', { providerOptions, transportRetries: 0 })

    await expect(open().respond(request)).rejects.toMatchObject({ kind: 'timeout' })
    const wrong = clientRequest('Hi', { providerOptions: { anthropic: { timeoutMs: 0 } } })
    await expect(open().respond(wrong)).rejects.toThrow(/`timeoutMs` must be more than 0/)
  })

  test('a content can carry a breakpoint of the prompt cache', async () => {
    const cacheControl = { metadata: { cacheControl: '1h' } }
    const messages = [user(text('Long.', cacheControl), text('Short.'))]

    await respond(open(), messages)

    expect(server.last.body.messages[0].content).toEqual([
      { type: 'text', text: 'Long.', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'text', text: 'Short.' },
    ])
    const wrong = clientRequest([user(text('x', { metadata: { cacheControl: '2h' } }))])
    await expect(open().respond(wrong)).rejects.toThrow(/must be '5m' or '1h', got "2h"/)
  })

  test('a deferred tool is left to the search of the provider', async () => {
    const deferred = tool({
      name: 'rare',
      description: 'A tool that is seldom needed.',
      parameters: z.object({}),
      metadata: { deferLoading: true },
      execute: () => 'Done.',
    })

    await respond(open(), [user(text('Hi.'))], { tools: [deferred] })

    expect(server.last.body.tools).toMatchObject([{ name: 'rare', defer_loading: true }])
  })
})
