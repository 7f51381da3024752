import { Agent, jsonSchema, tool } from '@lamella/core'
import { guardrail } from '@lamella/guardrail'
import { auditLog } from '@lamella/middleware-audit'
import { recorder } from '@lamella/picture'
import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import {
  calledTool,
  casesFromAudit,
  casesFromLines,
  casesFromRecordings,
  casesFromShadow,
  evaluate,
  modelUser,
  replayedTools,
  similarity,
  toolEmulator,
} from '../index.ts'

const look = tool({
  name: 'look',
  description: 'Looks up an order.',
  parameters: jsonSchema({ type: 'object', properties: { id: { type: 'number' } } }),
  execute: ({ id }) => ({ order: id, state: 'sent' }),
})
const steps = [[callFunction('look', { id: 7 })], 'Order 7 was sent.']

/** The case that every source makes of one run of this agent. */
const gathered = {
  expected: 'Order 7 was sent.',
  toolResults: [{ name: 'look', arguments: { id: 7 } }],
}

it('a case comes from each line of JSON, and a wrong line is named', async () => {
  const read = async (...lines: string[]) => {
    const cases = []
    for await (const each of casesFromLines(lines)) cases.push(each)
    return cases
  }

  expect(await read('{"id":"a","input":"Hi"}', '', '{"id":"b","input":"Ho"}')).toHaveLength(2)
  await expect(read('', '{"id":')).rejects.toThrow('line 2: it is no JSON')
  await expect(read('{"id":"","input":"Hi"}')).rejects.toThrow('line 1: `id` of a case')
  await expect(read('{"id":"a","input":"Hi","tags":[1]}')).rejects.toThrow('line 1: `tags`')
})

describe('a recorded run', () => {
  const record = async (capture: 'full' | 'facts') => {
    let recording = ''
    const sink = { write: (lines: string) => void (recording += lines) }
    const record1 = recorder({ sink, capture })
    const client = scriptedClient(steps)
    const agent = new Agent({ client, tools: [look], middleware: record1.middleware() })
    await agent.run('Where is order 7?')
    await record1.flush()
    return recording
  }

  it('is a case that runs without its tools', async () => {
    const { cases } = await casesFromRecordings([await record('full')])
    expect(cases).toMatchObject([gathered])
    const throwing = tool({
      name: 'look',
      description: '',
      execute: () => Promise.reject(new Error('no')),
    })

    const { verdict, scores } = await evaluate({
      agent: new Agent({ client: scriptedClient(steps), tools: [throwing] }),
      cases,
      tools: replayedTools(),
      checks: [calledTool('look')],
      scores: [similarity()],
    })

    expect([verdict, scores[0]?.mean]).toEqual(['passed', 1])
  })

  it('without content is skipped', async () => {
    const recordings = [await record('facts'), 'no recording', await record('full')]

    expect(await casesFromRecordings(recordings)).toMatchObject({ cases: [gathered], skipped: 2 })
  })
})

describe('an audited run', () => {
  const audit = async (capture: object) => {
    const lines: string[] = []
    const log = auditLog({
      sinks: (records) => void lines.push(...records.map((each) => JSON.stringify(each))),
      capture,
    })
    const agent = new Agent({ client: scriptedClient(steps), tools: [look], middleware: log })
    await agent.run('Where is order 7?')
    await log.close()
    return lines
  }

  it('is a case, as far as its content was recorded', async () => {
    const full = { input: 'full', output: 'full', arguments: 'full', results: 'full' }
    const { cases } = await casesFromAudit(await audit(full))

    expect(cases).toMatchObject([gathered])
    expect(await casesFromAudit(await audit({ input: 'full' }))).toMatchObject({
      cases: [{ toolResults: [] }],
    })
  })

  it('with hashes is skipped', async () => {
    expect(await casesFromAudit(await audit({}))).toEqual({ cases: [], skipped: 1 })
  })
})

it('a text that a guardrail in shadow mode found is a case, once', async () => {
  const run = async (includeContent: boolean) => {
    const events: unknown[] = []
    const numbers = guardrail({
      name: 'numbers',
      applyTo: ['input'],
      mode: 'shadow',
      includeContent,
      check: ({ text }) => ({ action: /\d/.test(text) ? 'block' : 'allow', category: 'digit' }),
      onEvent: (event) => void events.push(event),
    })
    const agent = new Agent({ client: scriptedClient(() => 'Yes.'), middleware: numbers })
    for (const input of ['I am 5', 'I am five', 'I am 5']) await agent.run(input)
    return casesFromShadow(events)
  }

  expect(await run(true)).toEqual({
    cases: [{ id: 'shadow-1', input: 'I am 5', tags: ['numbers', 'input', 'digit'] }],
    skipped: 0,
  })
  expect(await run(false)).toEqual({ cases: [], skipped: 2 })
})

describe('a model', () => {
  it('plays the user until the goal is reached', async () => {
    const user = scriptedClient([
      '{"message": "It is order 7.", "done": false}',
      '{"message": "", "done": true}',
    ])
    const client = scriptedClient(['Which order?', 'It was sent.'])
    const { cases } = await evaluate({
      agent: new Agent({ client }),
      cases: [{ id: 'played', input: 'Where is my order?', goal: 'learn where order 7 is' }],
      user: modelUser({ client: user }),
      scores: [similarity({ to: 'It was sent.' })],
    })

    expect(cases[0]?.scores).toEqual({ similarity: 1 })
    expect(JSON.stringify(user.requests[0]?.messages)).toContain('learn where order 7 is')
    user.assertDone()
  })

  it('stops playing after so many turns', async () => {
    const user = scriptedClient(() => 'And now?')
    const client = scriptedClient(() => 'No.')
    await evaluate({
      agent: new Agent({ client }),
      cases: [{ id: 'stubborn', input: 'Hi', goal: 'anything' }],
      user: modelUser({ client: user, maxTurns: 3 }),
    })

    expect([client.requests.length, user.requests.length]).toEqual([3, 2])
  })

  it('answers for tools, and knows what it answered before', async () => {
    const emulator = scriptedClient(['{"order": 7}', 'a text'])
    const calls = [[callFunction('look', { id: 7 })], [callFunction('look', { id: 8 })], 'Done.']
    const seen: unknown[] = []
    await evaluate({
      agent: new Agent({ client: scriptedClient(calls), tools: [look] }),
      cases: [{ id: 'emulated', input: 'Look' }],
      tools: toolEmulator({ client: emulator, world: 'Order 7 is late.' }),
      checks: [
        {
          name: 'see',
          run: ({ toolCalls }) => void seen.push(...toolCalls.map(({ result }) => result)),
        },
      ],
    })

    expect(seen).toEqual(['{"order":7}', 'a text'])
    const asked = JSON.stringify(emulator.requests[1]?.messages)
    expect(asked).toContain('Order 7 is late.')
    expect(asked).toContain('earlier')
  })
})
