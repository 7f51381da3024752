import { callFunction, scriptedClient } from '@lamella/testing'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AgentResponse, Checkpoint, Session, SessionSnapshot } from '../index.ts'
import {
  Agent,
  MiddlewareTermination,
  agentMiddleware,
  agentTool,
  createSession,
  functionMiddleware,
  jsonSchema,
  memoryStore,
  tool,
} from '../index.ts'
import { lifecycle } from '@lamella/lifecycle'
import { Journal } from '../run/journal.ts'
import { comparable, modes, play, playOn } from '../loop/loop-invariant.test-helper.ts'
import { shouting } from '../stream/shouting.test-helper.ts'
import { runs } from '../../../../tests/support/runs.ts'

const kinds = [
  'good',
  'bad',
  'gated',
  'declared',
  'asks',
  'ends',
  'stops',
  'direct',
  'sub',
] as const
type Kind = (typeof kinds)[number]

interface Script {
  /** Tool calls of the model, iteration by iteration, with or without words before it. */
  readonly rounds: readonly { readonly says: boolean; readonly calls: readonly Kind[] }[]
  readonly answers: readonly boolean[]
  readonly hasSession: boolean
  readonly middlewares: {
    readonly shouts: boolean
    readonly hooks: boolean
    readonly forgets: boolean
  }
}

const scripts: fc.Arbitrary<Script> = fc.record({
  rounds: fc.array(
    fc.record({
      says: fc.boolean(),
      calls: fc.array(
        fc.oneof(
          { weight: 6, arbitrary: fc.constantFrom<Kind>('good', 'bad', 'sub') },
          { weight: 4, arbitrary: fc.constantFrom<Kind>('gated', 'declared', 'asks') },
          { weight: 1, arbitrary: fc.constantFrom<Kind>('ends', 'stops', 'direct') },
        ),
        { minLength: 1, maxLength: 3 },
      ),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  answers: fc.array(fc.boolean(), { minLength: 1, maxLength: 4 }),
  hasSession: fc.boolean(),
  middlewares: fc.record({ shouts: fc.boolean(), hooks: fc.boolean(), forgets: fc.boolean() }),
})

/** A process: all that it knows besides its code is what it is given. */
function start({ rounds, middlewares }: Script) {
  const executed: string[] = []
  const rounded: string[] = []
  const client = scriptedClient(({ messages }) => {
    const last = messages.findLast(({ id }) => id?.startsWith('said-'))?.id ?? 'said--1'
    const round = Number(last.slice('said-'.length)) + 1
    const step = rounds[round]
    const words = { type: 'text', text: step === undefined ? 'Done.' : `Round ${round}. ` } as const
    const calls = (step?.calls ?? []).map((kind, at) => callFunction(kind, {}, `c${round}_${at}`))
    const contents = step === undefined || step.says ? [words, ...calls] : calls
    return { messages: [{ id: `said-${round}`, role: 'assistant' as const, contents }] }
  })
  const execute = (kind: Kind, callId: string): string => {
    executed.push(callId)
    if (kind === 'bad') throw new Error('bad')
    return `${kind} of ${callId}`
  }
  const tools = kinds
    .filter((kind) => kind !== 'sub')
    .map((name) =>
      tool({
        name,
        description: '',
        parameters: jsonSchema({ type: 'object' }),
        idempotent: true,
        approval: name === 'gated' ? 'always' : 'never',
        returnDirect: name === 'direct',
        ...(name !== 'declared' && {
          execute: (_, { callId, run }) => {
            if (name === 'stops') run.stop('stopped by a tool', { response: 'That is all.' })
            return execute(name, callId)
          },
        }),
      }),
    )
  const helper = new Agent({
    name: 'helper',
    client: scriptedClient(({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? 'Helped.'
        : [{ type: 'text', text: 'I look. ' }, callFunction('look', {}, 'look')],
    ),
    tools: [tool({ name: 'look', description: '', idempotent: true, execute: () => 'seen' })],
  })
  const sub = { ...agentTool(helper, { name: 'sub' }), parameters: jsonSchema({ type: 'object' }) }
  const asks = functionMiddleware('asks', async (context, callNext) => {
    const { name } = context.function
    if (name === 'asks') await context.run.interrupt('Sure?')
    await callNext()
    if (name === 'ends') throw new MiddlewareTermination('ended by a middleware')
  })
  const shouts = agentMiddleware('shouts', async (context, callNext) => {
    context.transformUpdates(shouting)
    await callNext()
  })
  const hooks = lifecycle({
    name: 'hooks',
    beforeIteration: ({ iteration }) => void rounded.push(`before ${iteration}`),
    afterIteration: ({ iteration }) => void rounded.push(`after ${iteration}`),
  })
  const forgets = lifecycle({
    name: 'forgets',
    afterModelCall: ({ run, iteration }) => {
      if (iteration === 1) {
        run.messages.rewrite((all) =>
          all.filter(({ role }) => role === 'user').concat(all.slice(-1)),
        )
      }
    },
  })
  const middleware = [
    asks,
    middlewares.shouts ? shouts : [],
    middlewares.hooks ? hooks : [],
    middlewares.forgets ? forgets : [],
  ]
  // A store of its own: what another process has claimed is not claimed here.
  const store = memoryStore()
  const agent = new Agent({ client, tools: [...tools, sub], middleware, store })
  return { agent, executed, rounded }
}

interface Step {
  readonly checkpoint: Checkpoint
  /** Pauses before it. */
  readonly leg: number
  readonly session: SessionSnapshot | undefined
  /** Of hooks, before this step. */
  readonly rounded: readonly string[]
}

/** Answers what a run asks until it has ended. */
async function goOn(
  { agent }: ReturnType<typeof start>,
  { answers }: Script,
  first: AgentResponse,
  from: number,
  options: { readonly stream: boolean; readonly session: Session | undefined },
  onLeg?: (leg: number) => object,
): Promise<AgentResponse[]> {
  const all = [first]
  for (let leg = from; all.at(-1)!.status === 'paused'; leg++) {
    expect(leg).toBeLessThan(30)
    const { pending, checkpoint } = all.at(-1)!
    const given = { [pending[0]!.id]: answers[leg % answers.length] }
    const more = { ...options, ...onLeg?.(leg + 1) }
    all.push((await playOn(agent, checkpoint, given, more)).response)
  }
  return all
}

describe.each(modes)(
  'a run that is cut off and continues from any of its steps, $name',
  ({ stream }) => {
    it('ends as one that was never cut off', async () => {
      await fc.assert(
        fc.asyncProperty(scripts, async (script) => {
          const process = start(script)
          const session = script.hasSession ? createSession() : undefined
          const steps: Step[] = []
          const onLeg = (leg: number) => {
            const before = copy(session?.toJSON())
            return {
              onCheckpoint: (checkpoint: Checkpoint) =>
                void steps.push({
                  checkpoint: copy(checkpoint),
                  leg,
                  session: before,
                  rounded: [...process.rounded],
                }),
            }
          }
          const { response } = await play(process.agent, 'Go', { stream, session, ...onLeg(0) })
          const whole = await goOn(process, script, response, 0, { stream, session }, onLeg)

          for (const { checkpoint, leg, session: snapshot, rounded } of steps) {
            const other = start(script)
            const again = snapshot && createSession(snapshot)
            const options = { stream, session: again }
            const { response: next } = await playOn(other.agent, checkpoint, {}, options)
            const rest = await goOn(other, script, next, leg, options)

            expect(rest.map(lasting)).toEqual(whole.slice(leg).map(lasting))
            expect(again && outlineOf(again)).toEqual(session && outlineOf(session))
            const kept = doneIn(checkpoint)
            expect(other.executed.filter((callId) => kept.includes(callId))).toEqual([])
            expect([...rounded, ...other.rounded]).toEqual(process.rounded)
          }
        }),
        { numRuns: runs(40) },
      )
    })
  },
)

/** Ids of the calls whose tools have returned or failed. */
function doneIn({ journal }: Checkpoint): string[] {
  const { messages } = new Journal(journal)
  return journal.flatMap((step) => {
    if (step.kind !== 'call' && step.kind !== 'tool') return []
    const [id, at] = step.address.split(':')
    const call = messages.all.find((entry) => entry.id === id)?.contents[Number(at)]
    return call?.type === 'function-call' ? [call.callId] : []
  })
}

function copy<Value>(value: Value): Value {
  return value === undefined ? value : (JSON.parse(JSON.stringify(value)) as Value)
}

/** Without what the last model call told of itself, and what calls that are made again cost. */
function lasting(response: AgentResponse): unknown {
  const {
    conversationId: _c,
    model: _m,
    metadata: _d,
    finishReason: _f,
    usage: _u,
    ...rest
  } = comparable(response) as Record<string, unknown>
  return { ...rest, pending: response.pending.map(({ kind }) => kind) }
}

function outlineOf(session: Session): unknown {
  return session.messages.map(({ role, contents }) => [
    role,
    contents.map((part) =>
      'text' in part ? part.text : 'callId' in part ? part.callId : part.type,
    ),
  ])
}
