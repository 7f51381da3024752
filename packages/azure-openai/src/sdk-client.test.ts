import { AzureOpenAI } from 'openai'
import { expect, test } from 'vitest'
import { completion } from '../fixtures/azure-recordings.ts'
import { clientRequest } from '@lamella/testing'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { AzureOpenAIChatClient } from './azure-openai-chat-client.ts'

test('an SDK client of one’s own is used with its deployment and its key', async () => {
  const said = completion({ message: { role: 'assistant', content: 'Hi.' } })
  const server = await RawServer.start(answer(said))
  const sdk = new AzureOpenAI({
    endpoint: server.url,
    apiKey: 'theirs',
    apiVersion: '2024-10-21',
    deployment: 'their-own',
  })
  const client = new AzureOpenAIChatClient({ client: sdk })
  await client.respond(clientRequest())

  expect(client.deployment).toBe('their-own')
  expect(server.last.path).toContain('/deployments/their-own/')
  expect(server.last.headers['api-key']).toBe('theirs')
  await server.stop()
})
