import { Agent, agentTool } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { budgetedAgent, looks } from './budgeted-agent.test-helper.ts'
import type { BudgetOptions } from './index.ts'
import { budget } from './index.ts'

const ask = (at: number) => callFunction('sub', { task: `${at}` }, `s${at}`)

/** An agent that asks a sub-agent twice, which looks twice each time. */
function family(options: BudgetOptions, onChild = true) {
  const middleware = budget(options)
  const child = budgetedAgent(
    onChild ? middleware : [],
    [...looks(2), 'Found.', ...looks(2), 'Found.'],
    {
      name: 'sub',
    },
  )
  const parent = budgetedAgent(middleware, [ask(1), ask(2), 'Done.'], {
    tools: [agentTool(child.agent)],
  })
  return { child, parent }
}

describe.each([false, true])('a sub-agent, with stream: %s', (stream) => {
  it.each([
    [{ modelCalls: 5 }, 5],
    [{ toolCalls: 3 }, 5],
    [{ totalTokens: 70 }, 5],
  ])('shares the budget of its caller: %j', async (limits, calls) => {
    const { child, parent } = family({ limits, estimate: () => ({}) }, false)

    const response = await parent.run(stream)

    expect(response.status).toBe('budget_exhausted')
    expect(child.client.requests.length + parent.client.requests.length).toBe(calls)
  })

  it('completes where the budget is enough for all of them', async () => {
    const { parent } = family({ limits: { modelCalls: 9, toolCalls: 6 } })

    expect(await parent.run(stream)).toMatchObject({ status: 'completed' })
  })

  it('that lists the same object does not count twice', async () => {
    const { child, parent } = family({ limits: { modelCalls: 5 } }, true)

    expect(await parent.run(stream)).toMatchObject({ status: 'budget_exhausted' })
    expect(child.client.requests.length + parent.client.requests.length).toBe(5)
  })

  it('may have a smaller budget of its own', async () => {
    const small = budget({ name: 'small', limits: { modelCalls: 1 } })
    const large = budget({ limits: { modelCalls: 10 } })
    const child = budgetedAgent([large, small], looks(4), { name: 'sub' })
    const parent = budgetedAgent(large, [ask(1), ask(2), 'Done.'], {
      tools: [agentTool(child.agent)],
    })

    expect(await parent.run(stream)).toMatchObject({ status: 'completed' })
    expect(child.client.requests).toHaveLength(2)
    expect(parent.events.at(-1)).toMatchObject({ status: 'settled', spent: { modelCalls: 5 } })
  })
})

it('a sub-agent with another object has a budget of its own, also of the same name', async () => {
  const child = budgetedAgent(budget({ limits: { modelCalls: 2 } }), looks(4), { name: 'sub' })
  const parent = budgetedAgent(budget({ limits: { modelCalls: 2 } }), [ask(1), 'Done.'], {
    tools: [agentTool(child.agent)],
  })

  expect(await parent.run(false)).toMatchObject({ status: 'completed', text: 'Done.' })
  expect(child.client.requests).toHaveLength(2)
})

it('sub-agents that run side by side cannot spend the same token twice', async () => {
  const middleware = budget({ limits: { totalTokens: 100 }, estimate: () => ({ inputTokens: 15 }) })
  const client = scriptedClient(() => 'Found.')
  const sub = new Agent({ client, name: 'sub', middleware: middleware })
  const calls = Array.from({ length: 20 }, (_, at) => ask(at))
  const parent = budgetedAgent(middleware, [calls, 'Done.'], { tools: [agentTool(sub)] })

  const response = await parent.run(false)

  expect(response.status).toBe('budget_exhausted')
  expect(response.usage.totalTokens).toBeLessThanOrEqual(100)
  expect(client.requests).toHaveLength(5)
})
