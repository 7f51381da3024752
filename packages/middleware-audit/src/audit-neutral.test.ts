import type { MiddlewareInput } from '@lamella/core'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  functionMiddleware,
  outcomeOf,
  ProviderError,
  tool,
} from '@lamella/core'
import { guardrail } from '@lamella/guardrail'
import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { memorySink } from './audit.test-helper.ts'
import { auditLog } from './audit-log.ts'
import type { AuditLogOptions } from './run/audit-options.ts'

const fail = (): never => {
  throw new Error('broken')
}
const tick = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Ways to keep a log, none of which may show. */
const logs: Readonly<Record<string, () => AuditLogOptions>> = {
  on: () => ({ sinks: memorySink() }),
  'in full and signed': () => ({
    sinks: memorySink(),
    capture: { input: 'full', arguments: 'full', results: 'full', errors: 'full' },
    sign: { keyId: 'k', key: 'secret' },
  }),
  'with a sink that fails': () => ({ sinks: () => Promise.reject(new Error('full')) }),
  'with a sink that throws': () => ({ sinks: fail }),
  'with a file that cannot be': () => ({ sinks: { name: 'no', open: fail, write: fail } }),
  'with callbacks that throw': () => ({
    sinks: memorySink(),
    subject: fail,
    hashKey: fail,
    onEvent: fail,
  }),
}

const calls = () => [callFunction('look', {}, 'c1'), callFunction('fail', {}, 'c2')]
const overloaded = () => new ProviderError('busy', { kind: 'overloaded', provider: 'scripted' })
const scenarios: Readonly<
  Record<string, { steps: () => unknown[]; middlewares?: MiddlewareInput }>
> = {
  'an answer': { steps: () => ['One two three.'] },
  tools: { steps: () => [calls(), 'Done.'] },
  'a failure': { steps: () => [{ updates: ['One '], error: overloaded() }] },
  'a pause': { steps: () => [callFunction('pay', {}, 'c1')] },
  'a block': {
    steps: () => ['A secret.'],
    middlewares: guardrail({ name: 'g', applyTo: ['output'], check: () => ({ action: 'block' }) }),
  },
  'a short circuit': {
    steps: () => [],
    middlewares: agentMiddleware('short', async (context) => void (context.result = 'At once.')),
  },
}

async function trial(name: string, stream: boolean, log: MiddlewareInput): Promise<unknown> {
  const { steps, middlewares = [] } = scenarios[name]!
  const order: string[] = []
  const note = (place: string) => async (_: unknown, callNext: () => Promise<unknown>) => {
    order.push(`${place} in`)
    await callNext().finally(() => order.push(`${place} out`))
  }
  const notes = (place: string) => [
    agentMiddleware(`a-${place}`, note(`agent ${place}`)),
    chatMiddleware(`c-${place}`, note(`chat ${place}`)),
    functionMiddleware(`f-${place}`, (context, next) =>
      note(`${context.callId} ${place}`)(context, next),
    ),
  ]
  const tools = [
    tool({ name: 'look', description: '', execute: async () => (await tick(), 'seen') }),
    tool({ name: 'fail', description: '', execute: () => Promise.reject(new Error('no')) }),
    tool({ name: 'pay', description: '', approval: 'always', execute: () => 'paid' }),
  ]
  const client = scriptedClient(steps() as never, { chunk: 3 })
  const middleware = [notes('outside'), log, middlewares, notes('inside')]
  const agent = new Agent({ client, tools, middleware })
  const updates: unknown[] = []
  const run = async () => {
    if (!stream) return agent.run('Hello', { runId: 'r1' })
    const streamed = agent.run('Hello', { runId: 'r1', stream: true })
    for await (const update of streamed) updates.push(update)
    return streamed.finalResponse()
  }
  const result = await run().catch((error: unknown) => [String(error), outcomeOf(error)])
  const ids = new Map<string, string>()
  const json = JSON.stringify(
    { result, updates, order, requests: client.requests },
    (key, item: unknown) => (['signal', 'signature'].includes(key) ? undefined : item),
  )
  return json.replaceAll(/\b[a-z]+_([0-9a-z]{4,}-[0-9a-z]+|[0-9a-f]{8,})\b/g, (id) => {
    if (!ids.has(id)) ids.set(id, `#${ids.size}`)
    return ids.get(id)!
  })
}

describe.each(Object.keys(scenarios))('a log changes nothing: %s', (name) => {
  it.each([false, true])('streamed: %s', async (stream) => {
    const without = await trial(name, stream, [])

    for (const [kind, make] of Object.entries(logs)) {
      expect([kind, await trial(name, stream, auditLog(make()))]).toEqual([kind, without])
    }
  })
})
