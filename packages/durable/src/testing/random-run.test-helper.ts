import type { ChatClient, KeyValueStore, Message, PendingRequest } from '@lamella/core'
import { Agent, agentTool, jsonSchema, messageText, ProviderError, tool } from '@lamella/core'
import { pii } from '@lamella/guardrail-pii'
import { cache } from '@lamella/middleware-cache'
import { fallback } from '@lamella/middleware-fallback'
import { callFunction, scriptedClient, testRandom } from '@lamella/testing'
import type { Answers } from '../steps/durable-engine.ts'

/** Everything outside of a workflow that outlives its process. */
export interface World {
  /** Entered before and after whatever happens outside: the process may end here. Resolves after some time. */
  happens(what: string): Promise<void>
  /** Notes a finished model call, by the name of its step. */
  answered(step: string): void | Promise<void>
  /** Pays, once for a key. */
  pay(key: string, amount: number): void | Promise<void>
  readonly store: KeyValueStore
  /** Returns true if the first server is down. */
  isDown(): boolean
}

type Kind = (typeof kinds)[number]
interface PlannedCall {
  readonly kind: Kind
  readonly id: string
}
type Plan = readonly (readonly PlannedCall[])[]

const kinds = ['pay', 'look', 'refund', 'broken', 'ask', 'helper'] as const

/** Tokens of each model call. */
export const tokensOfCall = 15

/** The run of a seed: tool calls of its rounds. */
function planOf(seed: number): Plan {
  const random = testRandom(seed)
  const below = (count: number): number => Math.floor(random() * count)
  return Array.from({ length: 1 + below(3) }, (_, round) =>
    Array.from({ length: 1 + below(3) }, (__, at) => ({
      kind: kinds[below(kinds.length)]!,
      id: `call-${round}-${at}`,
    })),
  )
}

/** Outcome of the workflow of a seed. */
export interface Expected {
  readonly text: string
  readonly payments: Readonly<Record<string, number>>
  /** Tokens of all model calls. One that was lost in a kill and answered by the cache has none. */
  readonly tokens: number
}

/** Outcome of the workflow of a seed, however often its process was killed. */
export function expectedOf(id: string, seed: number): Expected {
  const plan = planOf(seed)
  const calls = plan.flat()
  const helpers = calls.filter(({ kind }) => kind === 'helper')
  const tokens = tokensOfCall * (plan.length + 1 + 2 * helpers.length)
  const paying = calls.flatMap(({ kind, id: call }): [string, number][] => {
    if (kind === 'helper') return [[`${id}/helper ${call}/pay inner`, amountOf(call)]]
    const pays = kind === 'pay' || (kind === 'refund' && isApproved(call))
    return pays ? [[`${id}/${kind} ${call}`, amountOf(call)]] : []
  })
  const looks = calls
    .filter(({ kind }) => kind === 'look')
    .map(({ id: call }) => `${call}=${mailOf(call)}`)
  return { text: `Done. ${looks.join(' ')}`.trim(), payments: Object.fromEntries(paying), tokens }
}

const vault = pii({ vault: true })

/** The agent of a seed, with approvals, parallel tools, a sub-agent, a fallback, a vault and a cache. */
export function agentOf(seed: number, world: World): Agent {
  const plan = planOf(seed)
  const pays = (name: string, approval: 'always' | 'never') =>
    tool({
      name,
      description: 'Pays.',
      approval,
      parameters: jsonSchema({ type: 'object', properties: { amount: { type: 'number' } } }),
      async execute({ amount }, { metadata }) {
        await world.happens(name)
        await world.pay(String(metadata['idempotencyKey']), Number(amount))
        await world.happens(name)
        return 'paid'
      },
    })
  const pay = pays('pay', 'never')
  const look = tool({
    name: 'look',
    description: 'Looks a person up.',
    readOnly: true,
    parameters: jsonSchema({ type: 'object', properties: { call: { type: 'string' } } }),
    async execute({ call }) {
      await world.happens('look')
      return `${String(call)}=${mailOf(String(call))}`
    },
  })
  const broken = tool({
    name: 'broken',
    description: 'Fails.',
    async execute() {
      await world.happens('broken')
      throw new Error('out of order')
    },
  })
  const ask = tool({
    name: 'ask',
    description: 'Asks a person.',
    async execute(_, { run }) {
      await world.happens('ask')
      return run.interrupt('Which one?')
    },
  })
  const helper = new Agent({
    name: 'helper',
    client: modelOf('first', world, (messages) => {
      const task = messageText(messages[0]!)
      const round = messages.filter(({ role }) => role === 'assistant').length
      const step = `helper ${task}/model ${round}`
      return {
        step,
        reply: round > 0 ? 'Helped.' : callFunction('pay', { amount: amountOf(task) }, 'inner'),
      }
    }),
    tools: [pay],
  })
  const answer: Answerer = (messages) => {
    const round = messages.filter(({ role }) => role === 'assistant').length
    const calls = plan[round]?.map(({ kind, id }) =>
      callFunction(kind, kind === 'helper' ? { task: id } : { call: id, amount: amountOf(id) }, id),
    )
    const found = JSON.stringify(messages).match(/call-\d-\d=<EMAIL_\d+>/g) ?? []
    return {
      step: `model ${round}`,
      reply: calls ?? `Done. ${[...new Set(found)].toSorted().join(' ')}`.trim(),
    }
  }
  return new Agent({
    client: modelOf('first', world, answer),
    tools: [
      pay,
      pays('refund', 'always'),
      look,
      broken,
      ask,
      agentTool(helper, { description: 'Helps.' }),
    ],
    middleware: [
      vault,
      cache({ store: world.store, namespace: `${seed}` }),
      fallback({ clients: [modelOf('second', world, answer)] }),
    ],
  })
}

/** Answers the requests of a run, which a person does. */
export function answersTo(requests: readonly PendingRequest[]): Answers {
  return Object.fromEntries(
    requests.map((request) => [
      request.id,
      request.kind === 'approval' ? isApproved(request.request.call.callId) : 'this one',
    ]),
  )
}

type Answerer = (messages: readonly Message[]) => {
  readonly step: string
  readonly reply:
    | ReturnType<typeof callFunction>
    | readonly ReturnType<typeof callFunction>[]
    | string
}

function modelOf(provider: string, world: World, answer: Answerer): ChatClient {
  return scriptedClient(
    async ({ messages }) => {
      const { step, reply } = answer(messages)
      await world.happens(step)
      if (provider === 'first' && world.isDown() && !step.startsWith('helper')) {
        throw new ProviderError('down', { kind: 'server', provider })
      }
      await world.answered(step)
      await world.happens(step)
      return reply
    },
    { provider },
  )
}

function mailOf(call: string): string {
  return `${call.replaceAll('-', '')}@example.com`
}

function amountOf(call: string): number {
  return 1 + Number(call.replaceAll(/\D/g, ''))
}

function isApproved(call: string): boolean {
  return Number(call.at(-1)) % 2 === 0
}
