import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Agent, chatMiddleware, tool } from '@lamella/core'
import { callFunction, runIn, runModes, scriptedClient, testClock } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { TelemetryMessage } from './telemetry-message.ts'
import { tracing } from '../tracing.ts'

const look = tool({ name: 'look', description: 'Looks.', execute: () => 'seen' })
const steps = () => [
  callFunction('look'),
  { messages: 'A secret.', usage: { inputTokens: 5, outputTokens: 2, totalTokens: 7 } },
]

describe.each(runModes)('debug lines, %s', (mode) => {
  it('tell run, session, messages, tokens, status and time', async () => {
    const lines: string[] = []
    const middleware = tracing({ log: (line) => lines.push(line), clock: testClock() })
    const client = scriptedClient(steps(), { model: 'm1' })
    const agent = new Agent({ name: 'my helper', client, tools: [look], middleware })
    const session = agent.createSession({ id: 's1\nforged' })

    await runIn(mode, agent, { session, runId: 'r1' })

    const where = 'run=r1 "session=s1\\nforged"'
    expect(lines[0]).toBe(`lamella invoke_agent "my helper" start ${where} messages=1`)
    expect(lines[2]).toMatch(
      /^lamella chat m1 end .* messages=1 tokens=\d+ status=completed elapsedMs=0$/,
    )
    expect(lines[3]).toBe(`lamella execute_tool look start ${where}`)
    expect(lines.at(-1)).toMatch(
      /^lamella invoke_agent "my helper" end .* messages=1 tokens=\d+ status=completed elapsedMs=0$/,
    )
    expect(lines.join('\n')).not.toContain('secret')
    expect(lines).toHaveLength(8)
  })
})

describe('the diagnostics channel', () => {
  it('is told of starts, ends and events, without content', async () => {
    const told: TelemetryMessage[] = []
    const listen = (message: unknown) => void told.push(message as TelemetryMessage)
    const noting = chatMiddleware('noting', async ({ run }, callNext) => {
      run.emit({ type: 'cache', data: { status: 'miss' } })
      await callNext()
    })
    const middleware = [tracing({ diagnosticsChannel: 'test:one' }), noting]
    const agent = new Agent({ name: 'helper', client: scriptedClient(['Secret.']), middleware })

    await agent.run('Before anybody listens')
    subscribe('test:one', listen)
    const second = new Agent({ name: 'helper', client: scriptedClient(['Secret.']), middleware })
    await second.run('Hello', { runId: 'r2' })
    unsubscribe('test:one', listen)

    expect(told.map(({ phase, operation, runId }) => `${phase} ${operation} ${runId}`)).toEqual([
      'start invoke_agent r2',
      'start chat r2',
      'event chat r2',
      'end chat r2',
      'end invoke_agent r2',
    ])
    expect(told[2]).toMatchObject({ type: 'cache', facts: { status: 'miss' } })
    expect(told[4]).toMatchObject({ status: 'completed', messages: 1, agentName: 'helper' })
    expect(JSON.stringify(told)).not.toContain('Secret')
  })

  it('can be left out', async () => {
    const told: unknown[] = []
    const listen = (message: unknown) => void told.push(message)
    subscribe('lamella:telemetry', listen)
    const middleware = tracing({ diagnosticsChannel: false })

    await new Agent({ client: scriptedClient(['Done.']), middleware }).run('Hello')
    unsubscribe('lamella:telemetry', listen)

    expect(told).toEqual([])
    expect(channel('lamella:telemetry').hasSubscribers).toBe(false)
  })
})
