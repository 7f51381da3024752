import type { ClientHarness, ClientScenario } from '@lamella/testing'
import { chatClientContract, describeContract } from '@lamella/testing'
import type { Handler } from '@lamella/testing/raw-server'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { describe, it } from 'vitest'
import type { AiSdkProvider } from '../../fixtures/ai-sdk-providers.ts'
import { aiSdkProviders } from '../../fixtures/ai-sdk-providers.ts'
import { breakOff, play } from '../../fixtures/model-recording.ts'
import { aiSdk } from './ai-sdk-chat-client.ts'

for (const provider of aiSdkProviders) {
  const create = async (scenario: ClientScenario): Promise<ClientHarness> => {
    let open = 0
    const server = await RawServer.start((response, request) => {
      open++
      response.on('close', () => open--)
      return handler(provider, scenario)(response, request)
    })
    return {
      client: aiSdk(provider.open(server.url)),
      openExchanges: () => open,
      repeatsIds: true,
      close: () => server.stop(),
    }
  }

  describeContract(chatClientContract({ name: provider.name, create }), { describe, it })
}

function handler(provider: AiSdkProvider, scenario: ClientScenario): Handler {
  switch (scenario.kind) {
    case 'text':
      return play(provider.say(scenario.text))
    case 'calls':
      return play(provider.call(scenario.calls))
    case 'status': {
      const { status, retryAfterSeconds } = scenario
      const headers =
        retryAfterSeconds === undefined ? {} : { 'retry-after': `${retryAfterSeconds}` }
      return answer(provider.failure, { status, headers })
    }
    default:
      return breakOff(provider.say(scenario.text), scenario.kind)
  }
}
