import type {
  AgentOptions,
  AgentResponse,
  MiddlewareInput,
  RunEvent,
  RunOptions,
} from '@lamella/core'
import { Agent, jsonSchema, tool } from '@lamella/core'
import type { ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import type { BudgetEvent } from './index.ts'

/** Calls of the tool `look`, each with arguments of its own. */
export function looks(count: number): ScriptedStep[] {
  return Array.from({ length: count }, (_, at) => callFunction('look', { at }))
}

/** An agent with a tool `look`, whose model has a script. */
export function budgetedAgent(
  middleware: MiddlewareInput,
  steps: readonly ScriptedStep[],
  options: Partial<AgentOptions> = {},
) {
  const client = scriptedClient(steps, { model: 'small' })
  const ran: unknown[] = []
  const look = tool({
    name: 'look',
    description: 'Looks at something.',
    parameters: jsonSchema({ type: 'object' }),
    execute: (args) => {
      ran.push(args)
      return 'Seen.'
    },
  })
  const agent = new Agent({ client, tools: [look], middleware, ...options })
  const events: BudgetEvent[] = []
  const onEvent = ({ type, data }: RunEvent) => {
    if (type === 'budget') events.push(data as BudgetEvent)
  }
  const run = (stream: boolean, more: RunOptions = {}): Promise<AgentResponse> =>
    stream
      ? agent.run('Go', { onEvent, ...more, stream }).finalResponse()
      : agent.run('Go', { onEvent, ...more })
  return { agent, client, ran, events, look, run }
}

/** Resolves to the error of a promise. */
export async function failure(of: Promise<unknown>): Promise<unknown> {
  try {
    await of
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}
