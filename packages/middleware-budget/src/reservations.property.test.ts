import type { KeyValueStore, RunContext } from '@lamella/core'
import {
  Agent,
  MiddlewareTermination,
  agentMiddleware,
  chatMiddleware,
  functionMiddleware,
  jsonSchema,
  memoryStore,
  tool,
} from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { budget } from './index.ts'
import { runs } from '../../../tests/support/runs.ts'

const usage = { inputTokens: 10, outputTokens: 5 }

/** Waits for so many turns of the microtask queue. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await Promise.resolve()
}

const faults = [
  'none',
  'tool',
  'middleware',
  'pause',
  'end of tools',
  'model',
  'end of run',
] as const
const plan = fc.record({
  stream: fc.boolean(),
  abortAt: fc.option(fc.nat(700)),
  fault: fc.constantFrom(...faults),
  calls: fc.integer({ min: 1, max: 3 }),
  rounds: fc.nat(2),
})

it('however runs end, what they share is what they used', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(plan, { minLength: 1, maxLength: 8 }), async (plans) => {
      const store = memoryStore()
      const increment: KeyValueStore['increment'] = async (...given) => {
        await turns(3)
        return store.increment(...given)
      }
      const shared = budget({
        scope: () => 'all',
        store: { ...store, increment },
        limits: { modelCalls: 20, toolCalls: 12, totalTokens: 400 },
        estimate: () => ({ inputTokens: 30 }),
      })
      const used = { toolCalls: 0, runs: [] as RunContext[] }

      await Promise.all(plans.map((one) => run(one, shared, used)))
      await turns(1000)

      const kept = async (counter: string): Promise<unknown> =>
        (await store.get(`budget:[null,null,"budget","own","all",0,"${counter}"]`)) ?? 0
      const tokens = used.runs.map(({ usage: { inputTokens = 0, outputTokens = 0 } }) => {
        return inputTokens + outputTokens
      })
      expect(await kept('toolCalls')).toBe(used.toolCalls)
      // A call that was under way when its run was aborted counts as what was reserved for it.
      const reported = tokens.reduce((sum, count) => sum + count, 0)
      const left = ((await kept('totalTokens')) as number) - reported
      const aborted = plans.filter(({ abortAt }) => abortAt !== null).length
      expect(left % 30).toBe(0)
      expect(left).toBeGreaterThanOrEqual(0)
      expect(left).toBeLessThanOrEqual(30 * aborted)
    }),
    { numRuns: runs(150) },
  )
})

type Plan = typeof plan extends fc.Arbitrary<infer Value> ? Value : never

async function run(
  { stream, abortAt, fault, calls, rounds }: Plan,
  shared: ReturnType<typeof budget>,
  used: { toolCalls: number; readonly runs: RunContext[] },
): Promise<void> {
  const counting = [
    agentMiddleware('counting', async (context, callNext) => {
      used.runs.push(context.run)
      await callNext()
    }),
    chatMiddleware('ending', async (_, callNext) => {
      if (fault === 'end of run') throw new MiddlewareTermination('enough')
      await callNext()
    }),
    functionMiddleware('counting', async (context, callNext) => {
      if (fault === 'pause') await context.run.interrupt('Sure?')
      used.toolCalls++
      if (fault === 'middleware') throw new Error('a middleware failed')
      if (fault === 'end of tools') throw new MiddlewareTermination('enough', { result: 'Bye.' })
      await callNext()
    }),
  ]
  const work = tool({
    name: 'work',
    description: '',
    parameters: jsonSchema({ type: 'object' }),
    execute: async () => {
      await turns(4)
      if (fault === 'tool') throw new Error('the tool failed')
    },
  })
  const asks = Array.from({ length: rounds }, (_, round) => async () => {
    await turns(5)
    if (fault === 'model') return new Error('the model failed')
    const contents = Array.from({ length: calls }, (_unused, at) =>
      callFunction('work', { round, at }, `c${round}${at}`),
    )
    return { messages: { role: 'assistant' as const, contents }, usage }
  })
  const client = scriptedClient([...asks, { messages: 'Done.', usage }], { model: 'small' })
  const agent = new Agent({ client, tools: [work], middleware: [shared, ...counting] })
  const abort = new AbortController()
  if (abortAt !== null) void turns(abortAt).then(() => abort.abort())
  const { signal } = abort
  const response = stream
    ? agent.run('Go', { signal, stream }).finalResponse()
    : agent.run('Go', { signal })
  await response.catch(() => {})
}
