import { clientRequest } from '@lamella/testing'
import { startModelServer } from '@lamella/testing/model-server'
import { OpenAI } from 'openai'
import { expect, test } from 'vitest'
import { completionsRecording } from '../fixtures/completions-recording.ts'
import { responsesRecording } from '../fixtures/responses-recording.ts'
import { OpenAIChatClient } from './openai-chat-client.ts'
import { OpenAIChatCompletionsClient } from './openai-chat-completions-client.ts'

test.each([
  ['Responses', OpenAIChatClient, { type: 'input_file', file_id: 'file-abc' }],
  [
    'Chat Completions',
    OpenAIChatCompletionsClient,
    { type: 'file', file: { file_id: 'file-abc' } },
  ],
] as const)('%s: the SDK client that sends also uploads', async (_api, Client, part) => {
  const content = [{ type: 'output_text', text: 'A river.', annotations: [] }]
  const said = { id: 'msg_1', type: 'message', role: 'assistant', content }
  await using server = await startModelServer({
    failures: ({ path }) => {
      if (path.endsWith('/files')) return { body: { id: 'file-abc', object: 'file' } }
      const isChat = path.endsWith('/chat/completions')
      return {
        body: isChat
          ? completionsRecording({ content: 'A river.' }).whole
          : responsesRecording([said]).whole,
      }
    },
  })
  const sdk = new OpenAI({ apiKey: 'test-key', baseURL: server.baseURL })
  const client = new Client({ client: sdk, model: 'm' })

  const file = new File(['…'], 'a.pdf', { type: 'application/pdf' })
  const { id } = await sdk.files.create({ file, purpose: 'user_data' })
  const uploaded = { type: 'uri', uri: id, mediaType: 'application/pdf' } as const
  const { text } = await client.respond(clientRequest([{ role: 'user', contents: [uploaded] }]))

  expect(text).toBe('A river.')
  expect(JSON.stringify(server.requests.at(-1)!.body)).toContain(JSON.stringify(part))
})
