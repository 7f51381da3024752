import { scriptedClient } from '@lamella/testing'
import type { ScriptedClient, ScriptedStep } from '@lamella/testing'
import { expect, test } from 'vitest'
import type { InternalCall } from './internal-call.ts'
import type { InternalCallEvent } from '../authoring.ts'
import { callInternally } from '../authoring.ts'
import type { AgentResponse, RunEvent } from '../index.ts'
import { Agent, chatMiddleware } from '../index.ts'

interface Ran {
  readonly response: AgentResponse
  readonly events: readonly RunEvent[]
  readonly error: unknown
}

/** Runs an agent with a middleware that calls `client`. */
async function judgedBy(client: ScriptedClient, options?: InternalCall['options']): Promise<Ran> {
  const events: RunEvent[] = []
  let error: unknown
  const judge = chatMiddleware('judge', async (context, callNext) => {
    await callInternally(context.run, {
      middleware: 'judge',
      client,
      input: 'Fine?',
      options,
    }).catch((thrown: unknown) => (error = thrown))
    await callNext()
  })
  const agent = new Agent({
    client: scriptedClient(['Yes.'], { usage: { totalTokens: 1 } }),
    middleware: judge,
  })
  const response = await agent.run('Hello', { onEvent: (event) => void events.push(event) })
  return { response, events, error }
}

const modelOf = async (step: ScriptedStep, model?: string): Promise<unknown> => {
  const client = scriptedClient([step], { model: 'of the client' })
  const { events } = await judgedBy(client, model === undefined ? undefined : { model })
  return (events[0]!.data as InternalCallEvent).model
}

test('an internal call is reported, and its usage counts for the run', async () => {
  const usage = { inputTokens: 3, outputTokens: 1, totalTokens: 4 }
  const client = scriptedClient([{ messages: 'Yes.', usage }], { provider: 'own' })

  const { response, events } = await judgedBy(client)

  expect(events).toMatchObject([
    {
      type: 'internal_call',
      data: { middleware: 'judge', provider: 'own', usage, status: 'completed' },
    },
  ])
  const { durationMs } = events[0]!.data as InternalCallEvent
  expect(durationMs).toBeGreaterThanOrEqual(0)
  expect(response.usage.totalTokens).toBe(5)
})

test('a failed internal call is reported and rejects', async () => {
  const broken = new Error('broken')

  const { events, error } = await judgedBy(scriptedClient([broken]))

  expect(error).toBe(broken)
  expect(events).toMatchObject([{ type: 'internal_call', data: { status: 'failed' } }])
})

test('the event names the model that answered, else the one of the call, else that of the client', async () => {
  const answering = { messages: 'Yes.', model: 'of the answer' }

  expect(await modelOf(answering, 'of the call')).toBe('of the answer')
  expect(await modelOf(new Error('broken'), 'of the call')).toBe('of the call')
  expect(await modelOf(new Error('broken'))).toBe('of the client')
})
