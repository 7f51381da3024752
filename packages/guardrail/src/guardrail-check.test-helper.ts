import type { ScriptedClient, ScriptedStep } from '@lamella/testing'
import { scriptedClient } from '@lamella/testing'
import type { AgentResponse, RunEvent } from '@lamella/core'
import { Agent } from '@lamella/core'
import type { GuardrailEvent } from './guardrail-check.ts'
import type { GuardrailOptions } from './guardrail-options.ts'
import { guardrail } from './guardrail.ts'

export type Check = GuardrailOptions['check']

export const calm: Check = () => ({ action: 'allow' })
export const broken: Check = () => {
  throw new Error('the judge is ill')
}
export const secrets: Check = ({ text }) =>
  text.includes('secret')
    ? { action: 'block', category: 'secrets', severity: 0.9 }
    : { action: 'allow' }

export interface Ran {
  readonly response: AgentResponse
  readonly events: readonly RunEvent[]
  readonly client: ScriptedClient
}

export async function run(
  options: Partial<GuardrailOptions>,
  input = 'Hello',
  steps: readonly ScriptedStep[] = ['The answer.'],
): Promise<Ran> {
  const events: RunEvent[] = []
  const client = scriptedClient(steps)
  const middleware = guardrail({ name: 'g', applyTo: ['input'], check: calm, ...options })
  const agent = new Agent({ client, middleware })
  const response = await agent.run(input, { onEvent: (event) => void events.push(event) })
  return { response, events, client }
}

export function statuses(events: readonly RunEvent[]): unknown[] {
  return events.map(({ data }) => (data as GuardrailEvent).status)
}
