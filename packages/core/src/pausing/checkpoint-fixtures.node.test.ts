import { readFileSync } from 'node:fs'
import { scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Checkpoint, MiddlewareInput, SessionSnapshot } from '../index.ts'
import {
  Agent,
  agentTool,
  checkpointState,
  createSession,
  defineState,
  functionMiddleware,
  jsonSchema,
  tool,
} from '../index.ts'

// Written by the version that their name says, and never changed: later versions must read them.
const saved = JSON.parse(
  readFileSync(new URL('../../fixtures/checkpoint-1.json', import.meta.url), 'utf8'),
) as Record<'approvals' | 'question' | 'session' | 'step' | 'stopped' | 'child', Checkpoint> & {
  readonly sessionSnapshot: SessionSnapshot
}

const count = defineState({ name: 'count', initial: () => 0, schema: z.number() })
const tools = [
  tool({
    name: 'pay',
    description: '',
    parameters: jsonSchema({ type: 'object', properties: { euro: { type: 'number' } } }),
    approval: 'always',
    execute: ({ euro }) => `paid ${String(euro)}`,
  }),
  tool({
    name: 'look',
    description: '',
    execute: (_, { run }) => `looked ${run.state.update(count, (n) => n + 1)}`,
  }),
  tool({ name: 'pick', description: '' }),
]
const clerk = (middleware: MiddlewareInput = []): Agent =>
  new Agent({ name: 'clerk', client: scriptedClient(['Done.']), tools, middleware })
const yes = (checkpoint: Checkpoint): Record<string, unknown> =>
  Object.fromEntries(checkpointState(checkpoint).pending.map(({ id }) => [id, true]))
const resultsOf = (messages: readonly unknown[]): string => JSON.stringify(messages)

describe('checkpoints of version 1', () => {
  it('with approvals and tools of the caller continue', async () => {
    const response = await clerk().resume(saved.approvals, yes(saved.approvals))

    expect(response).toMatchObject({ status: 'completed', runId: 'run_approvals' })
    expect(response.text).toContain('Done.')
    expect(resultsOf(response.messages)).toContain('paid 5')
    expect(resultsOf(response.messages)).not.toContain('looked 2')
  })

  it('with the question of a middleware give it the answer', async () => {
    const answers: unknown[] = []
    const ask = functionMiddleware('ask', async ({ run, function: called }, callNext) => {
      if (called.name === 'look') answers.push(await run.interrupt({ may: 'look' }))
      await callNext()
    })

    const response = await clerk(ask).resume(saved.question, yes(saved.question))

    expect(answers).toEqual([true])
    expect(resultsOf(response.messages)).toContain('looked 1')
  })

  it('of a session continue with the snapshot of that session', async () => {
    const session = createSession(saved.sessionSnapshot)

    const response = await clerk().resume(saved.session, yes(saved.session), { session })

    expect(resultsOf(response.messages)).toContain('paid 7')
    expect(session.messages.at(-1)?.role).toBe('assistant')
    expect(session.pending).toEqual([])
  })

  it('of a step continue without an answer, and tell anew what was said before it', async () => {
    const response = await clerk().resume(saved.step, {})
    const stopped = await clerk().resume(saved.stopped, {})

    expect(response.text).toBe('I look. Done.')
    expect(resultsOf(response.messages)).toContain('looked 1')
    expect(resultsOf(response.messages)).not.toContain('looked 2')
    expect(stopped).toMatchObject({ status: 'terminated', text: 'I look. Enough.' })
  })

  it('with a sub-agent in them reach it', async () => {
    const client = scriptedClient(['All done.'])
    const outer = new Agent({ client, tools: [agentTool(clerk())] })

    const response = await outer.resume(saved.child, yes(saved.child))

    expect(checkpointState(saved.child).pending).toMatchObject([
      { kind: 'approval', path: ['clerk'] },
    ])
    expect(response.text).toBe('All done.')
    expect(resultsOf(response.messages)).toContain('Done.')
  })

  it('of a later version are refused by their number', () => {
    const later = { ...saved.step, version: 2 } as unknown as Checkpoint

    expect(() => clerk().resume(later, {})).toThrow('version 2')
  })
})
