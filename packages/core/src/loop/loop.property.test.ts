import type { ScriptedReply } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AgentResponse, FunctionInvocationConfiguration } from '../index.ts'
import { Agent, MiddlewareTermination, functionMiddleware, jsonSchema, tool } from '../index.ts'
import { comparable, play, playOn, resultsOf } from './loop-invariant.test-helper.ts'
import { runs } from '../../../../tests/support/runs.ts'

const kinds = [
  'good',
  'bad',
  'ghost',
  'gated',
  'declared',
  'badArgs',
  'asks',
  'ends',
  'stops',
] as const
type Kind = (typeof kinds)[number]

interface Script {
  readonly rounds: readonly (readonly Kind[])[]
  readonly config: FunctionInvocationConfiguration
  /** How each open request is answered, in turn. */
  readonly answers: readonly boolean[]
  readonly ids: 'unique' | 'by round'
}

const scripts: fc.Arbitrary<Script> = fc.record({
  rounds: fc.array(
    fc.array(
      fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom<Kind>('good', 'bad', 'ghost', 'badArgs') },
        { weight: 3, arbitrary: fc.constantFrom<Kind>('gated', 'declared', 'asks') },
        { weight: 1, arbitrary: fc.constantFrom<Kind>('ends', 'stops') },
      ),
      { minLength: 1, maxLength: 4 },
    ),
    { maxLength: 5 },
  ),
  config: fc.record(
    {
      maxIterations: fc.integer({ min: 1, max: 6 }),
      maxFunctionCalls: fc.integer({ min: 1, max: 8 }),
      maxConsecutiveErrorsPerRequest: fc.integer({ min: 0, max: 3 }),
      maxConcurrency: fc.integer({ min: 1, max: 3 }),
      includeDetailedErrors: fc.boolean(),
    },
    { requiredKeys: [] },
  ),
  answers: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
  ids: fc.constantFrom('unique', 'by round'),
})

interface Counts {
  readonly executed: Map<string, number>
  running: number
  most: number
  modelCalls: number
}

function make({ rounds, config, ids }: Script): { readonly agent: Agent; readonly counts: Counts } {
  const counts: Counts = { executed: new Map(), running: 0, most: 0, modelCalls: 0 }
  const steps: ScriptedReply[] = rounds.map((round, index) =>
    round.map((kind, at) =>
      callFunction(
        kind === 'badArgs' ? 'good' : kind,
        kind === 'badArgs' ? '{' : { round: index },
        ids === 'unique' ? `c${index}_${at}` : `c${at}`,
      ),
    ),
  )
  const client = scriptedClient(({ index }) => {
    counts.modelCalls++
    return steps[index] ?? 'Done.'
  })
  const execute = async (kind: string, key: string): Promise<string> => {
    counts.executed.set(key, (counts.executed.get(key) ?? 0) + 1)
    counts.most = Math.max(counts.most, ++counts.running)
    await Promise.resolve()
    counts.running--
    if (kind === 'bad') throw new Error('bad')
    return kind
  }
  const tools = kinds
    .filter((kind) => kind !== 'ghost' && kind !== 'badArgs')
    .map((name) =>
      tool({
        name,
        description: '',
        parameters: jsonSchema({ type: 'object' }),
        approval: name === 'gated' ? 'always' : 'never',
        ...(name !== 'declared' && {
          execute: (args, { callId, run }) => {
            if (name === 'stops') run.stop('stopped by a tool')
            return execute(name, `${String(args['round'])} ${callId}`)
          },
        }),
      }),
    )
  const middleware = functionMiddleware('middleware', async (context, callNext) => {
    const { name } = context.function
    if (name === 'asks') await context.run.interrupt('Sure?')
    await callNext()
    if (name === 'ends') throw new MiddlewareTermination('ended by a middleware')
  })
  return {
    agent: new Agent({ client, tools, middleware: middleware, functionInvocation: config }),
    counts,
  }
}

/** Runs to the end, answering whatever is asked: one request at a time, in an order of the script's. */
async function playToEnd(
  script: Script,
  stream: boolean,
): Promise<{ readonly outcomes: unknown[]; readonly counts: Counts }> {
  const { agent, counts } = make(script)
  const outcomes: unknown[] = []
  let { response } = await play(agent, 'Go', { stream })
  outcomes.push(comparable(response))
  for (let turn = 0; response.status === 'paused'; turn++) {
    expect(turn).toBeLessThan(60)
    const { pending, checkpoint }: AgentResponse = response
    const answer = script.answers[turn % script.answers.length]!
    const request = pending[answer ? 0 : pending.length - 1]!
    ;({ response } = await playOn(agent, checkpoint, { [request.id]: answer }, { stream }))
    outcomes.push(comparable(response))
  }
  return { outcomes, counts }
}

describe('whatever the model calls, and whatever the limits', () => {
  it('each call has one result or one open pause, streamed is plain, nothing runs twice, no limit is passed', async () => {
    await fc.assert(
      fc.asyncProperty(scripts, async (script) => {
        const [plain, streamed] = [await playToEnd(script, false), await playToEnd(script, true)]

        expect(streamed.outcomes).toEqual(plain.outcomes)
        for (const { counts } of [plain, streamed]) {
          const executed = [...counts.executed.values()]
          const {
            maxFunctionCalls = Infinity,
            maxConcurrency = Infinity,
            maxIterations = 40,
          } = script.config
          expect(executed.every((times) => times === 1)).toBe(true)
          expect(executed.length).toBeLessThanOrEqual(maxFunctionCalls)
          expect(counts.most).toBeLessThanOrEqual(maxConcurrency)
          expect(counts.modelCalls).toBeLessThanOrEqual(maxIterations + 1)
        }
      }),
      { numRuns: runs(300) },
    )
  })

  it('a run without pauses ends in words, a result that was asked for, or a stop', async () => {
    const unpaused = scripts.filter(({ rounds }) =>
      rounds.flat().every((kind) => !['gated', 'declared', 'asks'].includes(kind)),
    )
    await fc.assert(
      fc.asyncProperty(unpaused, async (script) => {
        const { agent } = make(script)

        const { response } = await play(agent, 'Go', { stream: true })

        const { status, messages, text } = response
        expect(status === 'terminated' ? messages.at(-1)?.role === 'tool' : text !== '').toBe(true)
        expect(resultsOf(response.messages)).toHaveLength(response.functionCalls.length)
      }),
    )
  })
})
