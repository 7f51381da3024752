import type { ChatOptions, Content, Message, MessageInit } from '@lamella/core'
import { foldUpdates } from '@lamella/core'
import { toMessages } from '@lamella/core/authoring'
import { clientRequest, collect } from '@lamella/testing'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { completionsRecording } from '../../fixtures/completions-recording.ts'
import type { ChatDialect } from './chat-dialect.ts'
import type { ChatDialectName } from './chat-dialects.ts'
import { chatDialects, dialectOf } from './chat-dialects.ts'
import { OpenAIChatCompletionsClient } from '../openai-chat-completions-client.ts'

let server: RawServer
beforeAll(async () => {
  server = await RawServer.start(answer(completionsRecording({ content: 'Hi.' }).whole))
})
afterAll(() => server.stop())

const open = (dialect?: ChatDialectName | ChatDialect, more: object = {}) =>
  new OpenAIChatCompletionsClient({
    apiKey: 'test-key',
    baseURL: server.baseURL,
    model: 'm',
    dialect,
    ...more,
  })

interface Sent {
  readonly body: Readonly<Record<string, unknown>>
  readonly messages: readonly Readonly<Record<string, unknown>>[]
  readonly losses: unknown
}

/** The request for a history, and what the answer says that it lost. */
async function sent(
  dialect: ChatDialectName | ChatDialect | undefined,
  history: readonly MessageInit[] | string,
  options: ChatOptions = {},
): Promise<Sent> {
  const client = open(dialect)
  const response = await client.respond(clientRequest(history, options))
  const { body } = server.last
  const { losses } = response.metadata
  const told = client.canContinue(toMessages(typeof history === 'string' ? [] : history))
  expect(told.losses).toEqual(losses ?? [])
  return { body, messages: body.messages, losses }
}

const text = (value: string): Content => ({ type: 'text', text: value })
const user = (...contents: readonly Content[]): MessageInit => ({ role: 'user', contents })
const told = (callId: string, ...contents: readonly Content[]): MessageInit => ({
  role: 'tool',
  contents: [{ type: 'function-result', callId, contents }],
})
const call = (callId: string): Content => ({
  type: 'function-call',
  callId,
  name: 'f',
  arguments: '{}',
})
const said = (provider: string, ...contents: readonly Content[]): MessageInit => ({
  role: 'assistant',
  contents: contents.map((content) => ({ ...content, origin: { provider, model: 'm' } })),
})
const thought = (words: string, field = 'reasoning_content'): Content => ({
  type: 'reasoning',
  text: words,
  kind: 'raw',
  providerData: { field },
})

describe('which dialect a client speaks', () => {
  test.each([
    ['https://api.openai.com/v1', 'openai'],
    ['https://api.deepseek.com', 'deepseek'],
    ['https://api.mistral.ai/v1', 'mistral'],
    ['https://api.groq.com/openai/v1', 'groq'],
    ['https://api.together.xyz/v1', 'together'],
    ['https://openrouter.ai/api/v1', 'openrouter'],
    ['https://api.fireworks.ai/inference/v1', 'fireworks'],
    ['https://generativelanguage.googleapis.com/v1beta/openai', 'gemini'],
    ['https://api.anthropic.com/v1', 'anthropic'],
    ['https://api.x.ai/v1', 'xai'],
    ['https://api.moonshot.ai/v1', 'moonshot'],
    ['https://my.openai.azure.com/openai/v1', 'azure'],
    ['http://localhost:11434/v1', 'compatible'],
    ['https://api.openai.com.evil.example/v1', 'compatible'],
    ['https://evilopenrouter.ai/api/v1', 'compatible'],
  ] as const)('%s is %s', (baseURL, name) => {
    const client = new OpenAIChatCompletionsClient({ apiKey: 'test-key', baseURL, model: 'm' })

    expect(dialectOf(undefined, baseURL)).toBe(chatDialects[name])
    expect(client.provider).toBe(chatDialects[name].provider)
  })

  test('an option names another one, and a provider of its own another origin', () => {
    expect(open('ollama').provider).toBe('ollama')
    expect(open('ollama', { provider: 'mine' }).provider).toBe('mine')
    expect(open({ ...chatDialects.vllm, provider: 'mine' }).provider).toBe('mine')
  })

  test.each([
    [{ dialect: 'olama' }, /`dialect` must be one of .*olama|olama/],
    [{ dialect: { ...chatDialects.vllm, thinkng: 'never' } }, /unknown option `thinkng`.*thinking/],
  ])('%j is refused', (options, message) => {
    expect(() => open(undefined, options)).toThrow(message)
  })
})

describe('which thinking goes back', () => {
  const history = (provider: string): readonly MessageInit[] => [
    user(text('One?')),
    said(provider, thought('of one'), text('One.')),
    user(text('Two?')),
    said(provider, thought('of two'), call('call_2')),
    told('call_2', text('2')),
    said(provider, thought('of two, again'), text('Two.')),
    user(text('Three?')),
    said(provider, thought('of three'), call('call_3')),
    told('call_3', text('3')),
  ]
  const thoughts = ({ messages }: Sent): readonly unknown[] =>
    messages.flatMap((message) => message['reasoning_content'] ?? [])

  test.each([
    ['never', []],
    ['round', ['of three']],
    ['tool-turns', ['of two', 'of two, again', 'of three']],
    ['always', ['of one', 'of two', 'of two, again', 'of three']],
  ] as const)('%s', async (thinking, expected) => {
    const request = await sent({ ...chatDialects.vllm, thinking }, history('vllm'))

    expect(thoughts(request)).toEqual(expected)
    expect(request.losses).toBeUndefined()
  })

  test('DeepSeek gets all of it, and an empty one where the model of another provider had none', async () => {
    const [first, answered, ...rest] = history('deepseek')
    const foreign = { ...answered!, contents: [{ ...text('One.'), origin: { provider: 'x' } }] }

    const request = await sent('deepseek', [first!, foreign, ...rest])

    expect(thoughts(request)).toEqual(['', 'of two', 'of two, again', 'of three'])
  })

  test('Mistral gets it as a part of the content', async () => {
    const { messages } = await sent('mistral', [
      user(text('One?')),
      said('mistral', thought('of one', 'content'), text('One.')),
      user(text('Two?')),
    ])

    expect(messages[1]!['content']).toEqual([
      { type: 'thinking', thinking: [{ type: 'text', text: 'of one' }], closed: true },
      { type: 'text', text: 'One.' },
    ])
  })

  test('that of another model is lost, and the loss is named', async () => {
    const { losses } = await sent('deepseek', [
      user(text('One?')),
      said('anthropic', thought('of one'), text('One.')),
      user(text('Two?')),
    ])

    expect(losses).toEqual(['reasoning of anthropic is left out'])
  })
})

describe('ids of calls', () => {
  const ids = ({ messages }: Sent): readonly unknown[] =>
    messages.flatMap(({ tool_calls: calls = [], tool_call_id: of }) =>
      of === undefined ? (calls as { id: string }[]).map(({ id }) => id) : [of],
    )

  test('of other providers have nine letters and digits for Mistral, each its own', async () => {
    const request = await sent('mistral', [
      user(text('Go.')),
      said('openai', call('call_PTLP8aAbBcCdD'), call('fc_PTLP8aAbBcCdD'), call('x')),
      told('call_PTLP8aAbBcCdD', text('1')),
      told('fc_PTLP8aAbBcCdD', text('2')),
      told('x', text('3')),
    ])

    expect(ids(request)).toEqual([
      '8aAbBcCdD',
      '8aAbBcCd2',
      '00000000x',
      '8aAbBcCdD',
      '8aAbBcCd2',
      '00000000x',
    ])
    expect(request.losses).toEqual(['an id of a call is rewritten (3 times)'])
  })

  test('of its own stay', async () => {
    const history = [
      user(text('Go.')),
      said('mistral', call('D681PevKs')),
      told('D681PevKs', text('1')),
    ]

    expect(ids(await sent('mistral', history))).toEqual(['D681PevKs', 'D681PevKs'])
  })
})

describe('what a request may hold', () => {
  const pixel: Content = { type: 'data', mediaType: 'image/png', data: 'AAAA' }
  const photo: Content = { type: 'uri', uri: 'https://a.example/1.png', mediaType: 'image/png' }

  test.each([
    ['openai', 2, undefined],
    ['ollama', 1, ['an image behind an address is left out']],
    ['deepseek', 0, ['an image is left out (2 times)']],
  ] as const)('images for %s', async (dialect, count, losses) => {
    const request = await sent(dialect, [user(text('See.'), pixel, photo)])

    expect(JSON.stringify(request.messages).split('"image_url":{')).toHaveLength(count + 1)
    expect(request.losses).toEqual(losses)
  })

  test('images that a tool returned are left out as well', async () => {
    const { losses, messages } = await sent('deepseek', [
      user(text('Go.')),
      said('deepseek', call('call_1')),
      told('call_1', text('A chart.'), pixel),
    ])

    expect(losses).toEqual(['an image is left out'])
    expect(messages.at(-1)).toMatchObject({ role: 'tool', content: 'A chart.' })
  })

  test('a file behind an address is named, and one that another provider keeps left out', async () => {
    const { losses } = await sent('openai', [
      user(
        text('Read.'),
        { type: 'uri', uri: 'https://a.example/1.pdf', mediaType: 'application/pdf' },
        { type: 'uri', uri: 'file_011CNha8iCJcU1wXNR6q4V8w' },
      ),
    ])

    expect(losses).toEqual([
      'a file behind an address is named, not shown',
      'a file that another provider keeps is left out',
    ])
  })

  test('a message of the assistant stands between tool results and the user for Mistral', async () => {
    const history = [
      user(text('Go.')),
      said('mistral', call('D681PevKs')),
      told('D681PevKs', text('1')),
      user(text('Well?')),
    ]
    const roles = ({ messages }: Sent): unknown => messages.map(({ role }) => role).join(' ')

    expect(roles(await sent('mistral', history))).toBe('user assistant tool assistant user')
    expect(roles(await sent('openai', history))).toBe('user assistant tool user')
  })

  test('a refusal is a field for OpenAI and text elsewhere', async () => {
    const history = [user(text('Go.')), said('x', { type: 'refusal', text: 'No.' })]

    expect((await sent('openai', history)).messages[1]).toMatchObject({
      content: [{ type: 'refusal', refusal: 'No.' }],
    })
    expect((await sent('groq', history)).messages[1]).toEqual({ role: 'assistant', content: 'No.' })
  })

  test('JSON without a schema is a schema for any object where `json_object` is refused', async () => {
    const options = { responseFormat: 'json' } as const

    expect((await sent('openai', 'Hi', options)).body['response_format']).toEqual({
      type: 'json_object',
    })
    expect((await sent('lmstudio', 'Hi', options)).body['response_format']).toMatchObject({
      type: 'json_schema',
      json_schema: { schema: { type: 'object' } },
    })
  })

  test('a part in the server’s own words goes as it is', async () => {
    const part = { type: 'video_url', video_url: { url: 'https://a.example/1.mp4' } }

    const { messages, losses } = await sent('vllm', [
      user(text('See.'), { type: 'hosted', name: 'video', data: part }),
    ])

    expect(messages[0]!['content']).toEqual([{ type: 'text', text: 'See.' }, part])
    expect(losses).toBeUndefined()
  })

  test.each([
    ['GPT-4o', 'max_completion_tokens'],
    ['us.openai.gpt-5', 'max_completion_tokens'],
    ['azure/gpt-4o', 'max_completion_tokens'],
    ['openrouter/openai/o3', 'max_completion_tokens'],
    ['ft:gpt-4o:x', 'max_completion_tokens'],
    ['openai/gpt-oss-120b', 'max_tokens'],
    ['llama3.2', 'max_tokens'],
    ['claude-sonnet-5', 'max_tokens'],
  ])('the model %s counts with `%s`', async (model, field) => {
    const { body } = await sent('compatible', 'Hi', { model, maxOutputTokens: 5 })

    expect(body[field]).toBe(5)
  })
})

test('a signature of Gemini beside the text goes back beside it', async () => {
  const { whole, sse } = completionsRecording(
    { content: 'Hi.', extra_content: { google: { thought_signature: 'sig' } } },
    { size: 99 },
  )
  const client = open('gemini')
  server.handler = (response, request) =>
    answer(request.body.stream ? sse : whole)(response, request)
  const asWhole = await client.respond(clientRequest())
  const streamed = foldUpdates(await collect(client.stream(clientRequest())))
  const [message] = asWhole.messages as readonly [Message]

  await client.respond(clientRequest([user(text('Hi.')), message, user(text('And?'))]))

  expect(streamed.messages).toEqual(asWhole.messages)
  expect(server.last.body.messages[1]).toEqual({
    role: 'assistant',
    content: 'Hi.',
    extra_content: { google: { thought_signature: 'sig' } },
  })
})

describe('fields that a server refuses', () => {
  test('the name of a provider selects its dialect where the address does not', async () => {
    const { provider } = dialectOf(undefined, server.baseURL, 'deepseek')
    expect([provider, dialectOf(undefined, server.baseURL, 'acme').provider]).toEqual([
      'deepseek',
      'openai',
    ])
  })

  test('Groq gets no names of authors, and Mistral its own field for a seed', async () => {
    const named = { ...user(text('Hi')), authorName: 'ada' }

    expect((await sent('groq', [named])).messages).toEqual([{ role: 'user', content: 'Hi' }])
    const { body } = await sent('mistral', 'Hi', { seed: 7 })
    expect([body['seed'], body['random_seed']]).toEqual([undefined, 7])
  })

  test.each(['vllm', 'llamacpp', 'lmstudio', 'ollama'] as const)(
    '%s gets one system message, in front',
    async (dialect) => {
      const client = open(dialect)
      const history = [
        { role: 'system', contents: [text('Two.')] } as const,
        user(text('Hi')),
        { role: 'system', contents: [text('Three.')] } as const,
        user(text('Ho')),
      ]

      await client.respond({ ...clientRequest(history), instructions: 'One.' })

      expect(
        server.last.body.messages.map(({ role, content }: Received) => [role, content]),
      ).toEqual([
        ['system', 'One.\n\nTwo.\n\nThree.'],
        ['user', 'Hi'],
        ['user', 'Ho'],
      ])
    },
  )

  test.each([
    ['ollama', 'application/pdf', 'a file is left out'],
    ['ollama', 'audio/wav', 'sound is left out'],
    ['deepseek', 'application/pdf', 'a file is left out'],
    ['vllm', 'application/pdf', 'a file is left out'],
  ] as const)('%s gets no %s, which the losses name', async (dialect, mediaType, words) => {
    const { messages, losses } = await sent(dialect, [
      user(text('See.'), { type: 'data', mediaType, data: 'AAAA' }),
    ])

    expect(JSON.stringify(messages)).not.toContain('AAAA')
    expect(losses).toEqual([words])
  })

  test('Gemini gets a signature with calls of other models', async () => {
    const { messages } = await sent('gemini', [
      user(text('Hi')),
      said('acme', call('a'), call('b')),
      told('a', text('1')),
      told('b', text('2')),
    ])

    const [first, second] = messages[1]!['tool_calls'] as Readonly<Record<string, unknown>>[]
    expect(first!['extra_content']).toEqual({
      google: { thought_signature: 'skip_thought_signature_validator' },
    })
    expect(second).not.toHaveProperty('extra_content')
  })

  test.each([
    ['audio/vnd.wave', 'wav'],
    ['audio/wave', 'wav'],
    ['AUDIO/MPEG; rate=1', 'mp3'],
    ['audio/webm;codecs=opus', 'webm'],
  ])('sound of type %s is sent as %s', async (mediaType, format) => {
    const { messages } = await sent('openai', [user({ type: 'data', mediaType, data: 'AAAA' })])

    expect(messages[0]!['content']).toEqual([
      { type: 'input_audio', input_audio: { data: 'AAAA', format } },
    ])
  })

  test('an answer that begins within its reasoning is read by option', async () => {
    const { whole } = completionsRecording({ content: 'Hm.</think>\n\n42' })
    const own = await RawServer.start(answer(whole))
    const dialect = { ...chatDialects.vllm, beginsInThinking: true }

    const response = await open(dialect, { baseURL: own.baseURL }).respond(clientRequest())
    await own.stop()

    expect(response.text).toBe('42')
    expect(response.messages[0]!.contents[0]).toMatchObject({ type: 'reasoning', text: 'Hm.' })
  })
})

interface Received {
  readonly role: string
  readonly content: unknown
}
