import { Agent, explain } from '@lamella/core'
import type { ChatClient } from '@lamella/core'
import { OpenAIChatCompletionsClient } from '@lamella/openai'
import { runIn, runModes, scriptedClient } from '@lamella/testing'
import { startModelServer } from '@lamella/testing/model-server'
import { describe, expect, it } from 'vitest'
import { failure } from './failing-run.test-helper.ts'
import { circuitBreaker, fallback } from './index.ts'

const clientAt = (baseURL: string, name?: string): ChatClient =>
  new OpenAIChatCompletionsClient({ baseURL, apiKey: 'k', model: 'm', name })

describe.each(runModes)('two servers of one model, %s', (mode) => {
  it('a dead server leaves the way to the healthy one open', async () => {
    await using east = await startModelServer({ failures: () => ({ status: 503 }) })
    await using west = await startModelServer({ answer: () => ({ text: 'West answers.' }) })
    const agent = new Agent({
      client: clientAt(east.baseURL),
      options: { transportRetries: 0 },
      middleware: [fallback({ clients: [clientAt(west.baseURL)] }), circuitBreaker({ minimum: 2 })],
    })

    const answers: string[] = []
    for (let run = 0; run < 5; run++) answers.push((await runIn(mode, agent, { input: 'Hi' })).text)

    expect(answers).toEqual(Array(5).fill('West answers.'))
    expect([east.requests.length, west.requests.length]).toEqual([2, 5])
  })

  it('attempts, events and the answer name the client', async () => {
    const west = scriptedClient(['West answers.'], { name: 'west', provider: 'p', model: 'm' })
    const east = scriptedClient([failure('overloaded')], {
      name: 'east',
      provider: 'p',
      model: 'm',
    })
    const events: unknown[] = []
    const agent = new Agent({
      client: east,
      middleware: fallback({ clients: [west], onEvent: (event) => events.push(event) }),
    })

    const { attempts, metadata } = await runIn(mode, agent, { input: 'Hi' })

    expect(attempts.map(({ client, status }) => [client, status])).toEqual([
      ['east', 'failed'],
      ['west', 'ok'],
    ])
    expect(metadata['servedBy']).toEqual({ provider: 'p', client: 'west', model: 'm' })
    expect(events).toEqual([
      { status: 'switching', provider: 'p', client: 'west', model: 'm', reason: 'overloaded' },
      { status: 'served', provider: 'p', client: 'west', model: 'm' },
    ])
  })
})

describe('explain', () => {
  it('reports two clients that cannot be told apart', () => {
    const [east, west] = [clientAt('https://east.example/v1'), clientAt('https://west.example/v1')]
    const agent = new Agent({ client: east, middleware: fallback({ clients: [west] }) })

    const { warnings } = explain(agent, 'Hi')

    expect(warnings).toEqual([
      'fallback: two clients are named openai/m; give each a `name` of its own',
    ])
  })

  it('reports neither clients with names nor another model of the same client', () => {
    const [east, west] = [
      clientAt('https://east.example/v1', 'east'),
      clientAt('https://west.example/v1', 'west'),
    ]
    const agent = new Agent({
      client: east,
      middleware: fallback({ clients: [west, { client: east, model: 'small' }, east] }),
    })

    const explanation = explain(agent, 'Hi')

    expect(explanation.warnings).toEqual([])
    expect(explanation.client).toBe('east')
    expect(String(explanation)).toContain('fallback → east m')
  })
})
