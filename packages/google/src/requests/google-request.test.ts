import type { ChatOptions, Content, Message } from '@lamella/core'
import { hostedTool, jsonSchema, message, tool } from '@lamella/core'
import { clientRequest } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { googleRecording } from '../../fixtures/google-recording.ts'
import { GoogleChatClient } from '../google-chat-client.ts'
import type { GoogleChatClientOptions } from '../connection/client-options.ts'

type Body = Readonly<Record<string, any>> // oxlint-disable-line typescript/no-explicit-any -- read by the tests

const vertex = { project: 'p', token: async () => 'token' }

/** The body that a call sends, and the metadata of its answer. */
async function ask(
  input: string | readonly Message[],
  options: ChatOptions = {},
  {
    model = 'gemini-3-flash',
    instructions,
    ...rest
  }: GoogleChatClientOptions & { instructions?: string } = {},
): Promise<{ body: Body; metadata: Readonly<Record<string, unknown>> }> {
  let body: Body = {}
  const client = new GoogleChatClient({
    ...(rest.vertex === undefined && { apiKey: 'k' }),
    ...rest,
    model,
    fetch: async (_, init) => {
      body = JSON.parse(init?.body as string)
      return Response.json(googleRecording([{ text: 'Hi.' }]).whole)
    },
  })
  const { metadata } = await client.respond({ ...clientRequest(input, options), instructions })
  return { body, metadata }
}

const weather = tool({
  name: 'get_weather',
  description: 'Tells the weather.',
  parameters: z.object({ city: z.string() }),
})
const search = hostedTool('search', { googleSearch: {} })
const origin = { provider: 'google', model: 'gemini-3-flash' }
const call = (callId: string, more: Partial<Content> = {}): Content =>
  ({
    type: 'function-call',
    callId,
    name: 'get_weather',
    arguments: '{"city":"Porto"}',
    ...more,
  }) as Content
const result = (
  callId: string,
  contents: readonly Content[],
  more: Partial<Content> = {},
): Content => ({ type: 'function-result', callId, contents, ...more }) as Content
const text = (value: string): Content => ({ type: 'text', text: value })
const png = { type: 'data', mediaType: 'image/png', data: 'AAAA' } as const

test('options and instructions have their fields', async () => {
  const options = {
    temperature: 0,
    topP: 0.5,
    maxOutputTokens: 9,
    stop: ['END'],
    seed: 7,
    user: 'u',
    allowParallelToolCalls: false,
  }
  const safetySettings = [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'OFF' }]

  const { body, metadata } = await ask('Hi', options, { instructions: 'Be brief.', safetySettings })

  expect(body).toEqual({
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    generationConfig: {
      temperature: 0,
      topP: 0.5,
      maxOutputTokens: 9,
      stopSequences: ['END'],
      seed: 7,
    },
    safetySettings,
  })
  expect(metadata['ignoredOptions']).toEqual(['user', 'allowParallelToolCalls'])
})

test('own options have their fields, and `extraBody` has the last word', async () => {
  const google = {
    cachedContent: 'cachedContents/1',
    thinkingConfig: { thinkingLevel: 'LOW', includeThoughts: true },
    responseModalities: ['TEXT', 'IMAGE'],
    mediaResolution: 'MEDIA_RESOLUTION_LOW',
    serviceTier: 'flex',
    labels: { team: 'a' },
    extraBody: { generationConfig: { topK: 3 }, labels: undefined },
  }

  const { body } = await ask(
    'Hi',
    { tools: [weather], providerOptions: { google } },
    { instructions: 'Be brief.' },
  )

  // A cached content has a system prompt and tools of its own.
  expect(body).toEqual({
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    generationConfig: {
      thinkingConfig: google.thinkingConfig,
      responseModalities: ['TEXT', 'IMAGE'],
      mediaResolution: 'MEDIA_RESOLUTION_LOW',
      topK: 3,
    },
    cachedContent: 'cachedContents/1',
    serviceTier: 'flex',
  })
})

test.each([
  [{ cachedcontent: 'x' }, 'unknown option `cachedcontent`'],
  [{ labels: [] }, '`labels` must be of type object, got array'],
  [{ timeoutMs: 0 }, '`timeoutMs` must be more than 0'],
])('a wrong own option throws: %j', async (google, words) => {
  await expect(ask('Hi', { providerOptions: { google } })).rejects.toThrow(
    `providerOptions.google: ${words}`,
  )
})

describe('thinking', () => {
  test.each([
    ['gemini-3-flash', 'none', { thinkingLevel: 'MINIMAL' }],
    ['gemini-3-flash', 'medium', { thinkingLevel: 'MEDIUM' }],
    ['gemini-3-flash', 'xhigh', { thinkingLevel: 'HIGH' }],
    ['gemini-3.1-pro-preview', 'minimal', { thinkingLevel: 'LOW' }],
    ['gemini-3.8-flash', 'none', { thinkingLevel: 'LOW' }],
    ['gemini-3.5-flash-lite', 'none', { thinkingLevel: 'MINIMAL' }],
    ['gemini-4-hydrogen', 'xhigh', { thinkingLevel: 'XHIGH' }],
    ['gemini-2.5-flash', 'none', { thinkingBudget: 0 }],
    ['gemini-2.5-pro', 'none', { thinkingBudget: 128 }],
    ['gemini-2.5-pro', 'low', { thinkingBudget: 1024 }],
    ['models/gemini-2.5-flash', 'high', { thinkingBudget: 24_576 }],
    ['gemini-2.0-flash', 'high', undefined],
    ['gemma-3-27b-it', 'high', undefined],
  ])('%s thinks with effort %s', async (model, effort, thinkingConfig) => {
    const { body, metadata } = await ask('Hi', { reasoning: { effort } }, { model })

    expect(body['generationConfig']?.thinkingConfig).toEqual(thinkingConfig)
    expect(metadata['ignoredOptions']).toEqual(
      thinkingConfig === undefined ? ['reasoning'] : undefined,
    )
  })

  test('is shown where a summary is asked for', async () => {
    const { body } = await ask('Hi', { reasoning: { summary: 'auto' } })

    expect(body['generationConfig']).toEqual({ thinkingConfig: { includeThoughts: true } })
  })
})

describe('tools', () => {
  const declarations = [
    {
      name: 'get_weather',
      description: 'Tells the weather.',
      parametersJsonSchema: {
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
      },
    },
  ]

  test.each<[string, ChatOptions['toolChoice'], unknown]>([
    ['nothing', undefined, undefined],
    ['auto', 'auto', { functionCallingConfig: { mode: 'AUTO' } }],
    ['none', 'none', { functionCallingConfig: { mode: 'NONE' } }],
    ['required', 'required', { functionCallingConfig: { mode: 'ANY' } }],
    [
      'one tool',
      { mode: 'required', functionName: 'get_weather' },
      { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['get_weather'] } },
    ],
  ])('a choice of %s', async (_name, toolChoice, toolConfig) => {
    const { body } = await ask('Hi', { tools: [weather], toolChoice })

    expect(body['tools']).toEqual([{ functionDeclarations: declarations }])
    expect(body['toolConfig']).toEqual(toolConfig)
  })

  test('hosted tools go beside others, and are told about where the API takes it', async () => {
    const options = { tools: [weather, search] }

    const gemini = await ask('Hi', options)
    const onVertex = await ask('Hi', options, { vertex })

    expect(gemini.body['tools']).toEqual([
      { googleSearch: {} },
      { functionDeclarations: declarations },
    ])
    const functionCallingConfig = { mode: 'VALIDATED' }
    expect(gemini.body['toolConfig']).toEqual({
      functionCallingConfig,
      includeServerSideToolInvocations: true,
    })
    expect(onVertex.body['toolConfig']).toEqual({ functionCallingConfig })
  })

  test('hosted tools do not run where the choice is none', async () => {
    const { body } = await ask('Hi', { tools: [weather, search], toolChoice: 'none' })

    expect(body['tools']).toEqual([{ functionDeclarations: declarations }])
  })

  test('a model before Gemini 3 gets no hosted tools beside others', async () => {
    const { body, metadata } = await ask(
      'Hi',
      { tools: [weather, search] },
      { model: 'gemini-2.5-flash' },
    )

    expect(body['tools']).toEqual([{ functionDeclarations: declarations }])
    expect(metadata['omittedTools']).toEqual([
      { name: 'search', reason: 'this model takes no hosted tools beside others' },
    ])
  })

  test('a tool that cannot be described is left out, and the others stay', async () => {
    const parameters = jsonSchema({
      type: 'object',
      properties: { a: { $ref: 'https://a.example' } },
    })
    const foreign = tool({ name: 'foreign', description: '', parameters })

    const { body, metadata } = await ask('Hi', { tools: [foreign, weather] })

    expect(body['tools']).toEqual([{ functionDeclarations: declarations }])
    expect(metadata['omittedTools']).toEqual([
      { name: 'foreign', reason: 'its schema refers to another document' },
    ])
  })

  test('a hosted tool in the format of another provider throws', async () => {
    const tools = [hostedTool('web', { type: 'web_search' })]

    await expect(ask('Hi', { tools })).rejects.toThrow(
      `the hosted tool "web" needs a definition in Google's format`,
    )
  })

  test('a tool without parameters has no schema, and further fields are those of its metadata', async () => {
    const now = tool({
      name: 'now',
      description: '',
      metadata: { google: { behavior: 'BLOCKING' } },
    })

    const { body } = await ask('Hi', { tools: [now] })

    expect(body['tools'][0].functionDeclarations).toEqual([{ name: 'now', behavior: 'BLOCKING' }])
  })
})

describe('a format of the answer', () => {
  const format = { schema: z.object({ city: z.literal('Porto') }) }

  test('is sent as a schema', async () => {
    const { body } = await ask('Hi', { responseFormat: format, tools: [weather] })

    expect(body['generationConfig']).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: {
        type: 'object',
        properties: { city: { type: 'string', enum: ['Porto'] } },
        required: ['city'],
      },
    })
  })

  test('is put into words beside tools, for models before Gemini 3', async () => {
    const { body } = await ask(
      'Hi',
      { responseFormat: format, tools: [weather] },
      { model: 'gemini-2.5-flash' },
    )

    expect(body['generationConfig']).toBeUndefined()
    expect(body['systemInstruction'].parts[0].text).toMatch(/^Answer with JSON .*"Porto"/)
  })

  test('of any JSON has a media type alone', async () => {
    const { body } = await ask('Hi', { responseFormat: 'json' })

    expect(body['generationConfig']).toEqual({ responseMimeType: 'application/json' })
  })
})

describe('a history', () => {
  const round = (...calls: readonly Content[]): readonly Message[] => [
    message('user', 'Weather?'),
    message('assistant', calls),
    message(
      'tool',
      calls.map((each, at) => result((each as { callId: string }).callId, [text(`rain ${at}`)])),
    ),
  ]

  test('of this model goes back with its signatures, in their places', async () => {
    const { body } = await ask([
      message('user', 'Weather?'),
      {
        ...message('assistant', [
          { type: 'reasoning', text: 'Hm.', protected: 'c2lnMQ==' },
          text('I look.'),
          { type: 'reasoning', text: '', protected: 'c2lnMg==', providerData: { of: 'text' } },
          call('c1', { providerData: { thoughtSignature: 'c2lnMw==' } }),
          call('c2'),
        ]),
        origin,
      },
      message('tool', [result('c2', [text('sun')]), result('c1', [text('rain')])]),
    ])

    const args = { city: 'Porto' }
    expect(body['contents']).toEqual([
      { role: 'user', parts: [{ text: 'Weather?' }] },
      {
        role: 'model',
        parts: [
          { text: 'Hm.', thought: true, thoughtSignature: 'c2lnMQ==' },
          { text: 'I look.', thoughtSignature: 'c2lnMg==' },
          { functionCall: { id: 'c1', name: 'get_weather', args }, thoughtSignature: 'c2lnMw==' },
          { functionCall: { id: 'c2', name: 'get_weather', args } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'c1', name: 'get_weather', response: { output: 'rain' } } },
          { functionResponse: { id: 'c2', name: 'get_weather', response: { output: 'sun' } } },
        ],
      },
    ])
  })

  test.each([
    ['another provider', { provider: 'anthropic', model: 'claude' }],
    ['another model', { provider: 'google', model: 'gemini-2.5-flash' }],
  ])('of %s gets the documented stand-in for a signature', async (_name, from) => {
    const foreign = call('c1', { origin: from, providerData: { thoughtSignature: 'foreign' } })

    const modern = await ask(round(foreign, call('c2')))
    const older = await ask(round(foreign, call('c2')), {}, { model: 'gemini-2.0-flash' })

    const signatures = (body: Body): unknown[] =>
      body['contents'][1].parts.map((part: Body) => part['thoughtSignature'])
    expect(signatures(modern.body)).toEqual(['skip_thought_signature_validator', undefined])
    expect(signatures(older.body)).toEqual([undefined, undefined])
  })

  test('has no ids of calls on Vertex AI', async () => {
    const { body } = await ask(round(call('c1')), {}, { vertex })

    expect(body['contents'][1].parts[0].functionCall).toEqual({
      name: 'get_weather',
      args: { city: 'Porto' },
    })
    expect(body['contents'][2].parts[0].functionResponse).toEqual({
      name: 'get_weather',
      response: { output: 'rain 0' },
    })
  })

  test('begins and ends with the user', async () => {
    const { body } = await ask([message('assistant', 'Hello.')])

    expect(body['contents'].map(({ role }: Body) => role)).toEqual(['user', 'model', 'user'])
  })

  test('has its system messages in the system prompt, for Gemma in the first message', async () => {
    const history = [message('user', 'Hi'), message('system', 'Be kind.'), message('user', 'You?')]

    const gemini = await ask(history, {}, { instructions: 'Be brief.' })
    const gemma = await ask(history, {}, { instructions: 'Be brief.', model: 'gemma-3-27b-it' })

    expect(gemini.body['systemInstruction']).toEqual({
      parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }],
    })
    expect(gemma.body['systemInstruction']).toBeUndefined()
    expect(gemma.body['contents'][0].parts).toEqual([
      { text: 'Be brief.\n\n' },
      { text: 'Be kind.\n\n' },
      { text: 'Hi' },
      { text: 'You?' },
    ])
  })

  test('has an error of a tool under its own name', async () => {
    const failed = result('c1', [], {
      error: { code: 'timeout', message: 'secret' },
    })

    const { body } = await ask([message('assistant', [call('c1')]), message('tool', [failed])])

    expect(body['contents'][2].parts[0].functionResponse.response).toEqual({
      error: 'The tool failed: timeout.',
    })
  })

  test('has the files of a result inside of it, or behind it for models before Gemini 3', async () => {
    const history = [
      message('user', 'Hi'),
      message('assistant', [call('c1')]),
      message('tool', [result('c1', [text('A chart.'), png])]),
    ]
    const inlineData = { mimeType: 'image/png', data: 'AAAA' }

    const modern = await ask(history)
    const older = await ask(history, {}, { model: 'gemini-2.5-flash' })

    const response = { id: 'c1', name: 'get_weather', response: { output: 'A chart.' } }
    expect(modern.body['contents'][2].parts).toEqual([
      { functionResponse: { ...response, parts: [{ inlineData }] } },
    ])
    expect(older.body['contents'][2].parts).toEqual([
      { functionResponse: response },
      { text: 'Files of the result of get_weather:' },
      { inlineData },
    ])
  })
})

describe('files', () => {
  const uri = (address: string, mediaType?: string): Content => ({
    type: 'uri',
    uri: address,
    mediaType,
  })

  test.each<[string, Content, unknown]>([
    ['an image', png, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
    [
      'a sound',
      { ...png, mediaType: 'audio/wav' },
      { inlineData: { mimeType: 'audio/wav', data: 'AAAA' } },
    ],
    [
      'bytes',
      { ...png, data: new Uint8Array(3) },
      { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
    ],
    [
      'a PDF behind an address',
      uri('https://a.example/b.pdf'),
      { fileData: { mimeType: 'application/pdf', fileUri: 'https://a.example/b.pdf' } },
    ],
    [
      'a video of YouTube',
      uri('https://youtu.be/abc'),
      { fileData: { fileUri: 'https://youtu.be/abc' } },
    ],
    [
      'an object of Cloud Storage',
      uri('gs://b/v.mp4'),
      { fileData: { mimeType: 'video/mp4', fileUri: 'gs://b/v.mp4' } },
    ],
    [
      'a file of the Files API',
      uri('files/abc', 'video/mp4'),
      {
        fileData: {
          mimeType: 'video/mp4',
          fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/abc',
        },
      },
    ],
    [
      'a data URI',
      uri('data:image/webp;base64,AAAA'),
      { inlineData: { mimeType: 'image/webp', data: 'AAAA' } },
    ],
    [
      'JSON as text',
      { ...png, mediaType: 'application/json' },
      { inlineData: { mimeType: 'text/plain', data: 'AAAA' } },
    ],
    [
      'a part of a video',
      { ...uri('gs://b/v.mp4'), metadata: { google: { videoMetadata: { fps: 2 } } } },
      { fileData: { mimeType: 'video/mp4', fileUri: 'gs://b/v.mp4' }, videoMetadata: { fps: 2 } },
    ],
  ])('%s', async (_name, content, part) => {
    const { body, metadata } = await ask([message('user', [content])])

    expect(body['contents'][0].parts).toEqual([part])
    expect(metadata['losses']).toBeUndefined()
  })

  test.each<[string, Content]>([
    ['image/gif', { ...png, mediaType: 'image/gif' }],
    ['application/zip', { ...png, mediaType: 'application/zip' }],
    ['unknown', uri('ftp://a.example/b')],
  ])('a file of type %s is left out, and listed', async (type, content) => {
    const { body, metadata } = await ask([message('user', [text('See:'), content])])

    expect(body['contents'][0].parts).toEqual([{ text: 'See:' }])
    expect(metadata['losses']).toEqual([`a file of type ${type} is left out`])
  })
})
