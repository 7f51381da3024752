import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AgentResponse, Checkpoint, Middleware } from '../index.ts'
import {
  Agent,
  LamellaError,
  RunControl,
  agentMiddleware,
  agentTool,
  chatMiddleware,
  functionMiddleware,
  jsonSchema,
  tool,
} from '../index.ts'
import { lifecycle } from '@lamella/lifecycle'
import { runs } from '../../../../tests/support/runs.ts'

/** A run of two rounds and a sub-agent, with a moment in every place where middleware runs. */
function make(moment: (where: string) => void, ran: string[]): Agent {
  const around = (where: string) => async (_: unknown, callNext: () => Promise<unknown>) => {
    moment(`before ${where}`)
    await callNext()
    moment(`after ${where}`)
  }
  const work = tool({
    name: 'work',
    description: '',
    parameters: jsonSchema({ type: 'object' }),
    execute: async (_, { callId }) => {
      moment('in a tool')
      await Promise.resolve()
      ran.push(callId)
      return `did ${callId}`
    },
  })
  const middlewares: Middleware[] = [
    agentMiddleware('a', around('the run')),
    chatMiddleware('c', around('a model call')),
    functionMiddleware('f', around('a tool call')),
  ]
  const hooks = lifecycle({
    name: 'hooks',
    beforeIteration: () => moment('before a round'),
    beforeToolExecution: () => moment('before tools'),
    afterModelCall: () => moment('after an answer'),
    afterIteration: () => moment('after a round'),
  })
  const inner = new Agent({
    name: 'inner',
    client: scriptedClient(({ messages }) =>
      messages.some(({ role }) => role === 'tool') ? 'Helped.' : callFunction('work', {}, 'inside'),
    ),
    tools: [work],
    middleware: middlewares,
  })
  const client = scriptedClient(({ messages }) => {
    moment('in a model')
    const round = messages.filter(({ role }) => role === 'assistant').length
    if (round === 0) return [callFunction('work', {}, 'c1'), callFunction('work', {}, 'c2')]
    return round === 1 ? callFunction('inner', { task: 'Help' }, 'c3') : 'Done.'
  })
  return new Agent({ client, tools: [work, agentTool(inner)], middleware: [...middlewares, hooks] })
}

describe.each(runModes)('a run that is cancelled at any moment, %s', (mode) => {
  const run = async (agent: Agent, control: RunControl, from?: Checkpoint) => {
    if (from === undefined) return runIn(mode, agent, { control })
    return mode === 'plain'
      ? agent.resume(from, {}, { control })
      : agent.resume(from, {}, { control, stream: true }).finalResponse()
  }

  it('settles, and from a safe point ends as if it had not been cancelled, with no tool run twice', async () => {
    const input = fc.record({
      at: fc.integer({ min: 1, max: 60 }),
      cancel: fc.constantFrom('now', 'after-model', 'after-tools'),
    } as const)
    await fc.assert(
      fc.asyncProperty(fc.array(input, { minLength: 1, maxLength: 3 }), async (cuts) => {
        const ran: string[] = []
        let response: AgentResponse | undefined
        let aborted = false
        for (const cut of [...cuts, undefined]) {
          const control = new RunControl()
          let cancelled: Promise<void> | undefined
          let moments = 0
          const agent = make(() => {
            if (++moments === cut?.at) cancelled = control.cancel({ mode: cut.cancel })
          }, ran)
          try {
            response = await run(agent, control, response?.checkpoint)
          } catch (error) {
            if (cut?.cancel !== 'now' || !LamellaError.is(error, 'aborted')) throw error
            aborted = true
          }
          await cancelled
          if (aborted || response?.status !== 'paused') break
          expect(response).toMatchObject({ reason: 'cancelled', pending: [] })
        }

        if (aborted) return
        expect(response).toMatchObject({ status: 'completed' })
        expect(response?.text.endsWith('Done.')).toBe(true)
        expect(ran.toSorted()).toEqual(['c1', 'c2', 'inside'])
      }),
      { numRuns: runs(150) },
    )
  })
})
