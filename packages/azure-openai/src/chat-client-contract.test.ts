import { chatClientContract, describeContract } from '@lamella/testing'
import {
  completionsContract,
  scenarioServer,
  startModelServer,
} from '@lamella/testing/model-server'
import { describe, it } from 'vitest'
import { AzureOpenAIChatClient } from './azure-openai-chat-client.ts'

for (const api of ['chat', 'responses'] as const) {
  const contract = chatClientContract({
    name: `AzureOpenAIChatClient, ${api}`,
    create: async (scenario) => {
      const server = await startModelServer({ ...scenarioServer(scenario), apiKey: 'test-key' })
      return {
        client: new AzureOpenAIChatClient({
          api,
          endpoint: server.url,
          apiKey: 'test-key',
          deployment: 'd',
        }),
        openExchanges: () => server.requests.filter(({ outcome }) => outcome === 'open').length,
        lastBody: () => JSON.stringify(server.requests.at(-1)?.body),
        close: () => server.close(),
      }
    },
  })

  describeContract(contract, { describe, it })
}

describeContract(
  completionsContract({
    name: 'AzureOpenAIChatClient, Chat Completions',
    create: ({ url: endpoint }) =>
      new AzureOpenAIChatClient({ endpoint, apiKey: 'test-key', deployment: 'd' }),
  }),
  { describe, it },
)
