import type { AgentResponse, FunctionMiddleware } from '@lamella/core'
import { functionMiddleware } from '@lamella/core'
import type { ScriptedStep } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { budgetedAgent, looks } from './budgeted-agent.test-helper.ts'
import type { BudgetLimits } from './index.ts'
import { budget } from './index.ts'

/** Asks twice before each call of a tool. */
const asking: FunctionMiddleware = functionMiddleware('asking', async ({ run }, callNext) => {
  await run.interrupt('Sure?')
  await run.interrupt('Really?')
  await callNext()
})

/** Runs to the end, with a yes to each question, and each time from a checkpoint that was kept as JSON. */
async function answered(
  limits: BudgetLimits,
  steps: readonly ScriptedStep[],
): Promise<{ readonly response: AgentResponse; readonly pauses: number; readonly ran: number }> {
  const { agent, ran } = budgetedAgent([budget({ limits }), asking], steps)
  let response = await agent.run('Go')
  let pauses = 0
  for (; response.status === 'paused'; pauses++) {
    const answers = Object.fromEntries(response.pending.map(({ id }) => [id, 'yes']))
    response = await agent.resume(JSON.parse(JSON.stringify(response.checkpoint)), answers)
  }
  return { response, pauses, ran: ran.length }
}

describe('a tool call that pauses the run', () => {
  it.each<BudgetLimits>([{ toolCalls: 1 }, { toolCallsPerTool: 1 }, { repeatedToolCalls: 1 }])(
    'counts once, however often the run is resumed: %o',
    async (limits) => {
      const { response, pauses, ran } = await answered(limits, [...looks(1), 'Done.'])

      expect(response).toMatchObject({ status: 'completed', text: 'Done.' })
      expect([pauses, ran]).toEqual([2, 1])
    },
  )

  it.each<BudgetLimits>([{ toolCalls: 1 }, { toolCallsPerTool: 1 }])(
    'counts when it is made: %o',
    async (limits) => {
      const { response, ran } = await answered(limits, [...looks(2), 'Done.'])

      expect([response.status, ran]).toEqual(['budget_exhausted', 1])
    },
  )

  it('is still known for a repeated one when the next comes', async () => {
    const same = looks(1)[0]!

    const { response, ran } = await answered({ repeatedToolCalls: 2 }, [same, same, same, 'Done.'])

    expect(response).toMatchObject({ status: 'budget_exhausted', reason: 'repeatedToolCalls' })
    expect(ran).toBe(2)
  })

  it('is made when the run is resumed, although no model call is left', async () => {
    const { response, ran } = await answered({ modelCalls: 1 }, [...looks(1), 'Done.'])

    expect(response).toMatchObject({ status: 'budget_exhausted', reason: 'modelCalls' })
    expect(ran).toBe(1)
  })
})
