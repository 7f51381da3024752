import type { AgentMiddleware, AgentOptions, Checkpoint } from '@lamella/core'
import {
  Agent,
  agentMiddleware,
  agentTool,
  chatMiddleware,
  jsonSchema,
  tool,
  withMiddleware,
} from '@lamella/core'
import { callInternally } from '@lamella/core/authoring'
import { callFunction, scriptedClient, testClock } from '@lamella/testing'
import { expect, it } from 'vitest'
import type { RateLimitLevel } from './index.ts'
import { rateLimit } from './index.ts'

it.each<RateLimitLevel>(['agent', 'chat', 'function'])(
  'a run inside of another does not wait for the place of its caller, at level %s',
  async (level) => {
    const clock = testClock()
    const limits = [{ unit: 'concurrency', limit: 1 } as const]
    const middleware = rateLimit({ level, limits, key: () => 'all', clock })
    const look = callFunction('look', {})
    const tools = [
      tool({
        name: 'look',
        description: 'Looks.',
        parameters: jsonSchema({ type: 'object' }),
        execute: () => 'Seen.',
      }),
    ]
    const sub = new Agent({
      client: scriptedClient([look, 'Found.']),
      name: 'sub',
      middleware,
      tools,
    })
    const client = scriptedClient([callFunction('sub', { task: 'Go' }), 'Done.'])
    const agent = new Agent({ client, tools: [agentTool(sub)], middleware })

    const response = await agent.run('Hi')

    expect(response.text).toBe('Done.')
    expect(clock.sleeping).toBe(0)
  },
)

it('a run inside of another may have another limiter of the same name', async () => {
  const make = () => rateLimit({ level: 'agent', limits: [{ unit: 'concurrency', limit: 1 }] })
  const sub = new Agent({ client: scriptedClient(['Found.']), name: 'sub', middleware: make() })
  const client = scriptedClient([callFunction('sub', { task: 'Go' }), 'Done.'])
  const agent = new Agent({ client, tools: [agentTool(sub)], middleware: make() })

  expect((await agent.run('Hi')).text).toBe('Done.')
})

it.each([false, true])(
  'a call that a middleware makes for itself has the place of the one that it belongs to, stream: %s',
  async (stream) => {
    const clock = testClock()
    const limits = [{ unit: 'concurrency', limit: 2 } as const]
    const client = withMiddleware(
      scriptedClient(() => 'Hello!'),
      rateLimit({ limits, clock }),
    )
    const judge = chatMiddleware('judge', async (context, callNext) => {
      await callNext()
      await callInternally(context.run, { middleware: 'judge', client, input: 'Is it fine?' })
    })
    const agent = new Agent({ client, middleware: judge })

    const runs = Array.from({ length: 10 }, () =>
      stream ? agent.run('Hi', { stream: true }).finalResponse() : agent.run('Hi'),
    )

    expect((await Promise.all(runs)).map(({ text }) => text)).toEqual(runs.map(() => 'Hello!'))
    expect(clock.sleeping).toBe(0)
  },
)

const ask = agentMiddleware('ask', async ({ run }, callNext) => {
  await run.interrupt('Sure?')
  await callNext()
})

it.each<[string, (limit: AgentMiddleware) => Partial<AgentOptions>]>([
  ['by an approval', (middleware) => ({ middleware })],
  ['behind the limit', (limit) => ({ middleware: [limit, ask] })],
  ['before the limit', (limit) => ({ middleware: [ask, limit] })],
])('a run that was paused %s counts once', async (_, place) => {
  const limits = [{ unit: 'requests', limit: 1, windowMs: 60_000 } as const]
  const limit = rateLimit({ level: 'agent', limits, onLimit: 'reject', clock: testClock() })
  const pay = tool({ name: 'pay', description: '', approval: 'always', execute: () => 'paid' })
  const client = scriptedClient([callFunction('pay', {}), 'Paid.'])
  const agent = new Agent({ client, tools: [pay], ...place(limit) })

  let run = await agent.run('Pay.')
  for (let pauses = 0; pauses < 2 && run.status === 'paused'; pauses++) {
    const checkpoint = JSON.parse(JSON.stringify(run.checkpoint)) as Checkpoint
    // oxlint-disable-next-line no-await-in-loop
    run = await agent.resume(checkpoint, { [run.pending[0]!.id]: true })
  }

  expect(run.text).toBe('Paid.')
  const another = new Agent({ client: scriptedClient(['Hello.']), middleware: limit })
  await expect(another.run('Again.')).rejects.toMatchObject({ code: 'rate_limited' })
})
