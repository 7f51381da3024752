import { describe, expect, it } from 'vitest'
import type {
  AgentContext,
  AgentResponse,
  Checkpoint,
  KeyValueStore,
  Message,
  Middleware,
  MiddlewareInput,
} from '../../packages/core/src/index.ts'
import {
  Agent,
  agentMiddleware,
  createSession,
  defineState,
  jsonSchema,
  memoryStore,
  message,
  messageText,
  tool,
} from '../../packages/core/src/index.ts'
import { lifecycle } from '../../packages/lifecycle/src/index.ts'
import { sessions } from '../../packages/store/src/index.ts'
import { sqliteStore } from '../../packages/store-sqlite/src/index.ts'
import {
  callFunction,
  runModes,
  scriptedClient,
  testRandom,
} from '../../packages/testing/src/index.ts'
import { runs } from '../support/runs.ts'

// Random middleware edits a run before its loop, and some of it asks a question there. Invariant: the model reads, the
// session keeps, and the run ends with, the same as where the questions have their answers at once.

const turns = defineState({
  name: 'turns',
  initial: () => 0,
  schema: jsonSchema<number>({ type: 'number' }),
})
const work = (name: string) => tool({ name, description: '', execute: () => 'done' })
const pay = tool({ name: 'pay', description: '', approval: 'always', execute: () => 'paid' })
const added = work('added')

type Edit = (context: AgentContext, mark: string) => void

const noteOf = (mark: string): Message => ({ ...message('user', mark), id: mark })
const edits: readonly Edit[] = [
  ({ run }, mark) => run.messages.rewrite((all) => [noteOf(`note ${mark}`), ...all]),
  ({ run }) => run.messages.rewrite((all) => all.filter((entry) => messageText(entry) !== 'Old.')),
  ({ run }, mark) =>
    run.messages.rewrite((all) =>
      all.map((entry) => {
        const said = messageText(entry)
        return said.startsWith('Go')
          ? { ...message('user', `${said} ${mark}`), id: entry.id }
          : entry
      }),
    ),
  (context, mark) => {
    context.messages = [noteOf(`input ${mark}`), ...context.messages]
  },
  (context, mark) => {
    context.instructions = `${context.instructions} ${mark}`
  },
  (context) => {
    context.options = { ...context.options, temperature: (context.options.temperature ?? 0) + 1 }
  },
  (context) => {
    context.tools = context.tools.filter(({ name }) => name !== 'look')
  },
  ({ run }) => run.tools.add(added),
  ({ run }) => run.tools.remove('drop'),
  ({ run }) => run.tools.hide('work'),
  ({ run }) => run.allowIterations(1),
]

/** A stack of middleware. `asks` is false where nobody is asked. */
function stackOf(seed: number, asks: boolean, ended: string[]): MiddlewareInput {
  const random = testRandom(seed)
  const pick = (): Edit => edits[Math.floor(random() * edits.length)]!
  return Array.from({ length: 2 + Math.floor(random() * 4) }, (_, at): MiddlewareInput => {
    const [before, after] = [pick(), pick()]
    const dice = random()
    const name = `m${at}`
    if (dice < 0.4) {
      return lifecycle({
        name,
        beforeTurn: (context) => {
          ended.push(name)
          before(context, `${name}a`)
          context.run.state.update(turns, (count) => count + 1)
        },
      })
    }
    return agentMiddleware(name, async (context, callNext) => {
      before(context, `${name}a`)
      if (dice < 0.8 && asks) expect(await context.run.interrupt({ name })).toBe('yes')
      after(context, `${name}b`)
      await callNext()
    }) satisfies Middleware
  })
}

async function play(seed: number, asks: boolean, streamed: boolean, store: KeyValueStore) {
  const ended: string[] = []
  const call = callFunction('work', {}, 'c')
  const client = scriptedClient([callFunction('pay', {}, 'c'), call, call, call, 'Done.'])
  const known = sessions(store)
  const id = `s${seed}`
  const messages = [message('user', 'Old.'), message('assistant', 'Old answer.')]
  await known.save(createSession({ id, messages }))
  let counted: number | undefined
  /** A process of its own. */
  const agentOf = (): Agent =>
    new Agent({
      client,
      instructions: 'Answer.',
      tools: [pay, work('work'), work('look'), work('drop')],
      middleware: [
        agentMiddleware('count', async ({ run }, callNext) => {
          await callNext()
          counted = run.state.get(turns)
        }),
        stackOf(seed, asks, ended),
      ],
      functionInvocation: { maxIterations: 2 },
    })
  const options = { session: known.at(id), findTool: () => added, stream: true as const }
  const end = async (running: { finalResponse(): Promise<AgentResponse> }) =>
    running.finalResponse()
  const plain = <Value>(given: Value): Value => (streamed ? given : { ...given, stream: false })
  const open = (running: unknown): Promise<AgentResponse> =>
    streamed ? end(running as never) : (running as Promise<AgentResponse>)

  let response = await open(agentOf().run('Go.', plain(options)))
  for (let pauses = 0; response.status === 'paused' && pauses < 10; pauses++) {
    const checkpoint = JSON.parse(JSON.stringify(response.checkpoint)) as Checkpoint
    const answers = Object.fromEntries(
      response.pending.map(({ id: of, kind }) => [of, kind === 'approval' ? true : 'yes']),
    )
    // oxlint-disable-next-line no-await-in-loop
    response = await open(agentOf().resume(checkpoint, answers, plain(options)))
  }
  const textsOf = (all: readonly Message[]): readonly string[] =>
    all.map((entry) => `${entry.role} ${messageText(entry)}`).toSorted()
  return {
    status: response.status,
    requests: client.requests.map(
      ({ messages: sent, instructions, options: { temperature, tools } }) => ({
        messages: textsOf(sent),
        instructions,
        temperature,
        tools: tools?.map(({ name }) => name),
      }),
    ),
    session: textsOf((await known.load(id))!.messages),
    ended,
    counted,
  }
}

const seeds = runs(200)

describe.each([
  ['memory', () => memoryStore()],
  ['SQLite', () => sqliteStore(':memory:')],
] as const)('runs that middleware pauses before their loop, on %s', (_, open) => {
  it.each(runModes)(
    'end as where nobody is asked, %s',
    async (mode) => {
      for (let seed = 1; seed <= seeds; seed++) {
        // oxlint-disable-next-line no-await-in-loop
        const [paused, whole] = await Promise.all(
          [true, false].map((asks) => play(seed, asks, mode === 'streamed', open())),
        )
        expect({ seed, ...paused }).toEqual({ seed, ...whole })
      }
    },
    60_000 + seeds * 1000,
  )
})
