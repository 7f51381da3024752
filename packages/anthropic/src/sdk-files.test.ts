import { Anthropic } from '@anthropic-ai/sdk'
import { clientRequest } from '@lamella/testing'
import { startModelServer } from '@lamella/testing/model-server'
import { expect, test } from 'vitest'
import { messagesRecording } from '../fixtures/messages-recording.ts'
import { AnthropicChatClient } from './anthropic-chat-client.ts'

test.each([
  ['application/pdf', 'document'],
  ['image/png', 'image'],
])('the SDK client that sends also uploads, and %s goes by its id', async (mediaType, type) => {
  const { whole } = messagesRecording([{ type: 'text', text: 'A river.' }])
  await using server = await startModelServer({
    failures: ({ path }) => ({
      body: path.startsWith('/v1/files') ? { id: 'file_011CNha8', type: 'file' } : whole,
    }),
  })
  const sdk = new Anthropic({ apiKey: 'test-key', baseURL: server.url })
  const client = new AnthropicChatClient({ client: sdk, model: 'm' })

  const { id } = await sdk.files.upload({ file: new File(['…'], 'a.bin', { type: mediaType }) })
  const content = { type: 'uri', uri: id, mediaType } as const
  const { text } = await client.respond(clientRequest([{ role: 'user', contents: [content] }]))

  expect(text).toBe('A river.')
  expect(server.requests.at(-1)!.body).toMatchObject({
    messages: [{ content: [{ type, source: { type: 'file', file_id: 'file_011CNha8' } }] }],
  })
})
