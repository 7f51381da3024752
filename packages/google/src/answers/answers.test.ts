import type { ChatResponse } from '@lamella/core'
import { foldUpdates } from '@lamella/core'
import { clientRequest, collect } from '@lamella/testing'
import { expect, test } from 'vitest'
import { googleRecording } from '../../fixtures/google-recording.ts'
import { GoogleChatClient } from '../google-chat-client.ts'

type Wire = Readonly<Record<string, unknown>>

/** The answer for these parts, whole; that it is the same streamed is tested for all answers. */
function respond(parts: readonly Wire[], ending: Wire = {}): Promise<ChatResponse> {
  const { whole } = googleRecording(parts, { ending, model: 'gemini-3-flash-001' })
  return clientOf(() => Response.json(whole)).respond(clientRequest())
}

function clientOf(answer: () => Response): GoogleChatClient {
  return new GoogleChatClient({ apiKey: 'k', model: 'gemini-3-flash', fetch: async () => answer() })
}

test('thoughts, text, calls, images and the work of hosted tools become contents', async () => {
  const code = { executableCode: { language: 'PYTHON', code: '6*7' } }
  const search = { toolCall: { id: 't1', toolType: 'GOOGLE_SEARCH_WEB', args: {} } }

  const response = await respond([
    { text: 'Hm.', thought: true, thoughtSignature: 'dGhvdWdodA==' },
    code,
    { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '42' } },
    search,
    { text: 'It is 42.', thoughtSignature: 'dGV4dA==' },
    { inlineData: { mimeType: 'image/png', data: 'AAAA' }, thoughtSignature: 'aW1hZ2U=' },
    { functionCall: { id: 'c1', name: 'f', args: { a: 1 } }, thoughtSignature: 'Y2FsbA==' },
  ])

  const origin = { provider: 'google', model: 'gemini-3-flash' }
  expect(response.messages[0]!.contents).toMatchObject([
    { type: 'reasoning', text: 'Hm.', kind: 'summary', protected: 'dGhvdWdodA==', origin },
    { type: 'hosted', name: 'code_execution', data: code },
    { type: 'hosted', name: 'code_execution' },
    { type: 'hosted', name: 'google_search_web', data: search },
    { type: 'text', text: 'It is 42.' },
    { type: 'reasoning', text: '', protected: 'dGV4dA==', providerData: { of: 'text' } },
    { type: 'data', mediaType: 'image/png', providerData: { thoughtSignature: 'aW1hZ2U=' } },
    {
      type: 'function-call',
      callId: expect.stringMatching(/^call_/),
      name: 'f',
      arguments: '{"a":1}',
      providerData: { callId: 'c1', thoughtSignature: 'Y2FsbA==' },
    },
  ])
  expect(response.model).toBe('gemini-3-flash-001')
})

test('usage counts thinking as output and results of hosted tools as input', async () => {
  const usageMetadata = {
    promptTokenCount: 20,
    toolUsePromptTokenCount: 5,
    cachedContentTokenCount: 8,
    candidatesTokenCount: 12,
    thoughtsTokenCount: 6,
    totalTokenCount: 43,
  }
  const { whole } = googleRecording([{ text: 'Hi.' }])

  const { usage } = await clientOf(() => Response.json({ ...whole, usageMetadata })).respond(
    clientRequest(),
  )

  expect(usage).toEqual({
    inputTokens: 25,
    outputTokens: 18,
    totalTokens: 43,
    cachedInputTokens: 8,
    reasoningTokens: 6,
    toolInputTokens: 5,
  })
})

test('sources are annotations of the words that they support, which Google counts in bytes', async () => {
  const text = 'Größer. Der Douro fließt. 🌊 Ja.'
  const words = 'Der Douro fließt.'
  const startIndex = new TextEncoder().encode('Größer. ').length
  const endIndex = startIndex + new TextEncoder().encode(words).length
  const ending = {
    groundingMetadata: {
      groundingChunks: [
        { web: { uri: 'https://a.example', title: 'A' } },
        { web: { uri: 'https://b.example' } },
      ],
      groundingSupports: [
        { segment: { startIndex, endIndex, text: words }, groundingChunkIndices: [0] },
        {
          segment: { startIndex: 1, endIndex: 4, text: 'other words' },
          groundingChunkIndices: [0],
        },
      ],
    },
  }

  const whole = await respond([{ text }], ending)
  const { sse } = googleRecording([{ text }], { ending, size: 2 })
  const streamed = foldUpdates(
    await collect(clientOf(() => new Response(sse)).stream(clientRequest())),
  )

  for (const { messages } of [whole, streamed]) {
    const [content] = messages[0]!.contents
    const { annotations } = content!
    expect(annotations).toEqual([
      { type: 'grounding', uri: 'https://a.example', title: 'A', start: 8, end: 8 + words.length },
      { type: 'grounding', uri: 'https://a.example', title: 'A' },
      { type: 'grounding', uri: 'https://b.example' },
    ])
    expect(text.slice(8, 8 + words.length)).toBe(words)
  }
  expect(whole.metadata['groundingMetadata']).toEqual(ending.groundingMetadata)
})

test('an unknown part is kept as it came', async () => {
  const part = { newThing: { a: 1 } }

  const { messages } = await respond([part])

  expect(messages[0]!.contents).toMatchObject([{ type: 'hosted', name: 'newThing', data: part }])
})
