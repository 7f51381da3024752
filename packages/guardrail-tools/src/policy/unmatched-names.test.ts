import type { RunEvent } from '@lamella/core'
import { Agent, agentTool, explain } from '@lamella/core'
import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { range, toolPolicy } from '../index.ts'
import type { ToolPolicyOptions } from '../index.ts'
import { policyAgent } from '../policy-agent.test-helper.ts'

const euros = { amount: range({ max: 9 }) }
const misspelled: readonly [ToolPolicyOptions, string][] = [
  [{ allow: ['*'], ask: ['payment'] }, '`ask` names no tool: payment'],
  [{ allow: ['*'], deny: ['payBack'] }, '`deny` names no tool: payBack'],
  [{ allow: ['*'], rules: { 'pay_*': euros } }, '`rules` names no tool: pay_*'],
  [{ allow: ['pay', 'reed_file'] }, '`allow` names no tool: reed_file'],
  [{ allow: ['*'], maxCalls: { pays: 1 } }, '`maxCalls` names no tool: pays'],
]

describe.each(runModes)('a name in a policy that fits no tool, %s', (mode) => {
  it.each(misspelled)('is reported by explain and by the run: %j', async (options, words) => {
    const { agent } = policyAgent(options, ['Done.'])
    const events: RunEvent[] = []

    await runIn(mode, agent, { onEvent: (event: RunEvent) => void events.push(event) })

    expect(explain(agent, 'Hi').warnings).toEqual([`tool-policy: ${words}`])
    const told = events.flatMap(({ type, data }) => (type === 'tool_policy' ? [data] : []))
    expect(told).toEqual([expect.objectContaining({ policy: 'tool-policy', status: 'unmatched' })])
  })

  it.each(misspelled)(
    'fails a strict run before its first model call: %j',
    async (options, words) => {
      const { agent, client } = policyAgent({ ...options, strict: true }, [])

      const failed = runIn(mode, agent)

      await expect(failed).rejects.toMatchObject({
        code: 'policy_unmatched',
        message: `tool-policy: ${words}`,
      })
      expect(client.requests).toEqual([])
    },
  )
})

it('names that fit are reported nowhere, nor is the policy of a caller in its sub-agents', async () => {
  const inside = new Agent({ name: 'inside', client: scriptedClient(['Found.']) })
  const client = scriptedClient([callFunction('inside', { task: 'Find it.' }), 'Done.'])
  const middleware = toolPolicy({ allow: ['in*'], strict: true })
  const agent = new Agent({ client, tools: [agentTool(inside)], middleware })

  const { status } = await agent.run('Go')

  expect(status).toBe('completed')
  expect(explain(agent, 'Go').warnings).toEqual([])
})
