import { chatClientContract, describeContract } from '@lamella/testing'
import { scenarioServer, startModelServer } from '@lamella/testing/model-server'
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
        close: () => server.close(),
      }
    },
  })

  describeContract(contract, { describe, it })
}
