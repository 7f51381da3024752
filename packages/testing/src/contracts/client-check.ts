import type { ChatClient, ChatRequest, ChatResponseUpdate } from '@lamella/core'
import { message } from '@lamella/core'
import type { ClientHarness, ClientScenario } from './client-scenario.ts'
import type { ContractCheck } from './contract-suite.ts'

/** Creates a client, and a provider that plays the scenario. */
export type CreateClient = (scenario: ClientScenario) => ClientHarness | Promise<ClientHarness>

/** A check with its own client, which is closed afterwards. */
export type ClientCheck = (
  name: string,
  scenario: ClientScenario,
  body: (client: ChatClient, harness: ClientHarness) => Promise<void>,
) => ContractCheck

/** Creates checks that get their client from `create`. */
export function clientCheck(create: CreateClient): ClientCheck {
  return (name, scenario, body) => ({
    name,
    run: async () => {
      const harness = await create(scenario)
      try {
        await body(harness.client, harness)
      } finally {
        await harness.close?.()
      }
    },
  })
}

/** The scenario of most checks. */
export const say: Extract<ClientScenario, { kind: 'text' }> = {
  kind: 'text',
  text: 'The quick brown fox jumps over the lazy dog.',
}

const never = new AbortController().signal

/** A minimal request. */
export function request(signal: AbortSignal = never): ChatRequest {
  return { messages: [message('user', 'Hello')], instructions: undefined, options: {}, signal }
}

/** Returns true if an update contains text. */
export function hasText({ contents }: ChatResponseUpdate): boolean {
  return contents.some((content) => content.type === 'text' && content.text !== '')
}
