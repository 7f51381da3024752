import type { AgentOptions, JsonSchema, Tool } from '@lamella/core'
import type { GuardrailEvent } from '@lamella/guardrail'
import { Agent, jsonSchema, memoryStore, tool } from '@lamella/core'
import type { ScriptedClient, ScriptedStep } from '@lamella/testing'
import { scriptedClient } from '@lamella/testing'
import { toolPolicy } from './tool-policy.ts'
import type { ToolPolicyOptions } from './policy/tool-policy-options.ts'

export interface PolicyAgent {
  readonly agent: Agent
  readonly client: ScriptedClient
  /** Calls that reached a tool. */
  readonly done: readonly string[]
  readonly events: readonly GuardrailEvent[]
}

const text: JsonSchema = { type: 'string' }

/** An agent with a tool that reads, two that write, and a policy. */
export function policyAgent(
  options: ToolPolicyOptions,
  steps: readonly ScriptedStep[],
  more: Partial<AgentOptions> = {},
): PolicyAgent {
  const done: string[] = []
  const events: GuardrailEvent[] = []
  const make = (name: string, properties: JsonSchema, over: Partial<Tool> = {}): Tool =>
    tool({
      name,
      description: `Does ${name}.`,
      parameters: jsonSchema({ type: 'object', properties }),
      execute: (args) => {
        done.push(`${name} ${JSON.stringify(args)}`)
        return `${name} is done`
      },
      ...over,
    } as Parameters<typeof tool>[0])
  const tools = [
    make('read_file', { path: text }, { readOnly: true }),
    make('write_file', { path: text, body: text }),
    make('pay', {
      to: text,
      amount: { type: 'number' },
      memo: { type: 'object', properties: { text } },
    }),
  ]
  const client = scriptedClient(steps)
  const onEvent = (event: GuardrailEvent): void => {
    if (event.status !== 'passed') events.push(event)
  }
  const middleware = toolPolicy({ onEvent, ...options })
  // Each is a process of its own: with a store, claims do not stay in this process.
  const agent = new Agent({ client, tools, middleware, store: memoryStore(), ...more })
  return { agent, client, done, events }
}

/** Returns the last tool results that the model read. */
export function lastResults({ requests }: ScriptedClient): string {
  return JSON.stringify(requests.at(-1)?.messages.at(-1)?.contents)
}
