import { callFunction, scriptedClient, testClock } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../index.ts'
import { Agent, agentMiddleware, agentTool, chatMiddleware, tool } from '../index.ts'

/** Random numbers that repeat from the same seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const pay = tool({ name: 'pay', description: 'Pays.', approval: 'always', execute: () => 'paid' })
const look = tool({ name: 'look', description: 'Looks.', timeoutMs: 50, execute: () => 'seen' })

/** All that a run with tools, a sub-agent, a request and an approval tells, as JSON. */
async function record(seed: number, stream: boolean): Promise<string> {
  const helper = new Agent({ client: scriptedClient(['Helped.']), name: 'helper' })
  const client = scriptedClient([
    [callFunction('look'), callFunction('helper', { input: 'Help.' }), callFunction('pay')],
    'Done.',
  ])
  const agent = new Agent({
    client,
    clock: testClock(),
    random: seeded(seed),
    tools: [look, pay, agentTool(helper)],
    middleware: [
      agentMiddleware('ask', async ({ run }, callNext) => {
        await run.request({ type: 'begin?', data: run.clock.now() })
        await callNext()
      }),
      chatMiddleware('noise', async ({ run }, callNext) => {
        run.emit({ type: 'noise', data: run.random() })
        await callNext()
      }),
    ],
  })
  const events: RunEvent[] = []
  const options = { onEvent: (event: RunEvent) => void events.push(event), onRequest: () => 'yes' }

  const paused = stream
    ? await agent.run('Pay.', { ...options, stream }).finalResponse()
    : await agent.run('Pay.', options)
  const answers = { [paused.pending[0]!.id]: { approved: true } }
  const done = await agent.resume(paused.checkpoint!, answers, options)

  expect([paused.status, done.status, done.text]).toEqual(['paused', 'completed', 'Done.'])
  return JSON.stringify({ paused, done, events, requests: client.requests })
}

describe.each([false, true])(
  'with a clock and random numbers of its own, streamed: %s',
  (stream) => {
    it('a run is equal byte by byte to one with the same input', async () => {
      expect(await record(1, stream)).toBe(await record(1, stream))
    })

    it('a run with other random numbers has other ids', async () => {
      expect(await record(1, stream)).not.toBe(await record(2, stream))
    })
  },
)

it('a time limit of a tool is measured by the clock of the agent', async () => {
  const clock = testClock()
  const slow = tool({
    name: 'slow',
    description: 'Never ends.',
    timeoutMs: 60_000,
    execute: () => new Promise(() => {}),
  })
  const client = scriptedClient([callFunction('slow'), 'Done.'])
  const running = new Agent({ client, clock, tools: [slow] }).run('Go.')

  await clock.advance(60_000)

  expect((await running).text).toBe('Done.')
})

it.each([
  [{ clock: {} }, 'agent: `clock` must have a function `now`'],
  [{ random: 4 }, 'agent: `random` must be a function'],
])('%o is refused', (wrong, message) => {
  expect(() => new Agent({ client: scriptedClient([]), ...(wrong as object) })).toThrow(message)
})
