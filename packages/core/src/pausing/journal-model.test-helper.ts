import type { Agent as AgentType, Checkpoint, PendingRequest, Session, Message } from '../index.ts'
import { callFunction, scriptedClient } from '@lamella/testing'
import {
  Agent,
  agentTool,
  functionMiddleware,
  jsonSchema,
  memoryStore,
  textOf,
  tool,
} from '../index.ts'

const kinds = ['good', 'bad', 'safe', 'gated', 'declared', 'asks', 'inside', 'sub'] as const
type Kind = (typeof kinds)[number]

/** Tool calls of an agent, round by round; those of sub-agents inside. */
export interface Script {
  readonly rounds: readonly (readonly Call[])[]
}
interface Call {
  readonly kind: Kind
  /** Position in the tree of scripts, such as `0.1.2`. */
  readonly key: string
  readonly script?: Script | undefined
}

/** Levels of agents, the outermost included. */
const levels = 4

export function makeScript(random: () => number, path = '0', level = 1): Script {
  const upTo = (most: number): number => 1 + Math.floor(random() * most)
  const rounds = Array.from({ length: upTo(level === 1 ? 3 : 2) }, (_, round) =>
    Array.from({ length: upTo(3) }, (__, at): Call => {
      const key = `${path}.${round}${at}`
      const all = level < levels ? [...kinds, 'sub' as const] : kinds.slice(0, -1)
      const kind = all[Math.floor(random() * all.length)]!
      return { kind, key, script: kind === 'sub' ? makeScript(random, key, level + 1) : undefined }
    }),
  )
  return { rounds }
}

/** Answer of a person to a gated call: by its key alone, so that it is the same in every process. */
function verdictOn(key: string): 'yes' | 'no' | 'edit' {
  return (['yes', 'no', 'edit'] as const)[key.length % 3]!
}

/** The answer that the person, the caller or the application gives to a request. */
export function answerTo(request: PendingRequest): unknown {
  if (request.kind === 'interrupt') return `yes ${(request.payload as { key: string }).key}`
  const call = request.kind === 'approval' ? request.request.call : request.call
  const { key } = JSON.parse(call.arguments) as { key: string }
  if (request.kind === 'function-call') return `picked ${key}`
  const verdict = verdictOn(key)
  if (verdict === 'edit') return { approved: true, arguments: { key, n: 7 } }
  return verdict === 'yes' ? true : { approved: false, reason: 'no' }
}

/** Calls that the tools of this process must execute. */
export function executedIn(script: Script): readonly Call[] {
  return script.rounds.flat().flatMap((call) => {
    if (call.script !== undefined) return executedIn(call.script)
    if (call.kind === 'declared') return []
    return call.kind === 'gated' && verdictOn(call.key) === 'no' ? [] : [call]
  })
}

/** The answer of the agent with this script, if the results of the `uncertain` calls were lost. */
export function answerOf(script: Script, uncertain: ReadonlySet<string>): string {
  const results = script.rounds.flat().map((call) => `${call.key}=${resultOf(call, uncertain)}`)
  return `(${results.join(', ')})`
}

function resultOf({ kind, key, script }: Call, uncertain: ReadonlySet<string>): string {
  if (script !== undefined) return answerOf(script, uncertain)
  if (uncertain.has(key)) return lost
  if (kind === 'bad') return 'Error: Function failed.'
  if (kind === 'declared') return `picked ${key}`
  if (kind === 'inside') return `inside ${key} yes ${key}`
  if (kind !== 'gated') return `${kind} ${key}`
  const verdict = verdictOn(key)
  if (verdict === 'no') return 'Error: Tool call invocation was rejected by user. no'
  return `gated ${key} ${verdict === 'yes' ? 1 : 7}`
}

const lost = 'LOST'

/** Keys of the calls that an answer reports as uncertain. */
export function uncertainIn(answer: string): ReadonlySet<string> {
  return new Set([...answer.matchAll(/([\d.]+)=LOST/g)].map(([, key]) => key!))
}

/** A process: it knows nothing of others besides what it is given, and may die at any of its events. */
export class Process {
  readonly agent: AgentType
  /** The last checkpoint that it saved. */
  saved: Checkpoint | undefined
  readonly #death = new AbortController()
  #eventsLeft: number

  /** `executed` counts what the tools of all processes did, by key. */
  constructor(script: Script, executed: Map<string, number>, diesAfter: number) {
    this.#eventsLeft = diesAfter
    this.agent = this.#makeAgent(script, executed, 1)
  }

  get isDead(): boolean {
    return this.#death.signal.aborted
  }

  options(session: Session | undefined): object {
    if (this.#eventsLeft === Infinity) return { session }
    const onCheckpoint = async (checkpoint: Checkpoint): Promise<void> => {
      await this.#event()
      this.saved = JSON.parse(JSON.stringify(checkpoint)) as Checkpoint
      await this.#event()
    }
    return { session, onCheckpoint, signal: this.#death.signal }
  }

  /** Something that a process may die before. */
  async #event(): Promise<void> {
    await Promise.resolve()
    if (!this.isDead && this.#eventsLeft-- <= 0) this.#death.abort(new Error('killed'))
    if (this.isDead) await new Promise(() => {})
  }

  #makeAgent(script: Script, executed: Map<string, number>, level: number): Agent {
    const parameters = {
      type: 'object',
      properties: { key: { type: 'string' }, n: { type: 'number' } },
    }
    const execute = async (kind: Kind, { key, n }: Record<string, unknown>): Promise<string> => {
      await this.#event()
      executed.set(String(key), (executed.get(String(key)) ?? 0) + 1)
      await this.#event()
      if (kind === 'bad') throw new Error('bad')
      return `${kind} ${String(key)}${kind === 'gated' ? ` ${String(n)}` : ''}`
    }
    const tools = kinds.slice(0, -1).map((name) =>
      tool({
        name,
        description: '',
        parameters: jsonSchema(parameters),
        idempotent: name === 'safe',
        approval: name === 'gated' ? 'always' : 'never',
        ...(name !== 'declared' && {
          execute: async (args, { run }) => {
            if (name !== 'inside') return execute(name, args)
            const answer = await run.interrupt({ key: args['key'] })
            return `${await execute(name, args)} ${String(answer)}`
          },
        }),
      }),
    )
    const asks = functionMiddleware('asks', async (context, callNext) => {
      const { key } = context.arguments
      if (context.function.name === 'asks') await context.run.interrupt({ key })
      await callNext()
    })
    const sub =
      level < levels
        ? [
            agentTool(this.#makeAgent(script, executed, level + 1), {
              name: 'sub',
              argument: 'key',
            }),
          ]
        : []
    const client = scriptedClient(({ messages }) => nextStep(script, messages))
    return new Agent({
      name: `level-${level}`,
      client,
      tools: [...tools, ...sub],
      middleware: asks,
      store: memoryStore(),
    })
  }
}

/** Next answer of the model: the calls of the next round, or all results. Ids of calls come again in each round. */
function nextStep(root: Script, messages: readonly Message[]) {
  const asked = textOf(messages.find(({ role }) => role === 'user')!.contents)
  const script = scriptAt(root, asked)
  const answers = messages.filter(({ role }) => role === 'assistant')
  const round = script.rounds[answers.length]
  if (round === undefined) return `(${resultsIn(messages).join(', ')})`
  return round.map(({ kind, key }, at) =>
    callFunction(kind, kind === 'sub' ? { key } : { key, n: 1 }, `c${at}`),
  )
}

function scriptAt(root: Script, key: string): Script {
  if (!key.startsWith('0.')) return root
  const inner = root.rounds.flat().find((call) => key.startsWith(call.key))!.script!
  return root.rounds.flat().some((call) => call.key === key) ? inner : scriptAt(inner, key)
}

/** Results of all calls in their order, each of which must have exactly one before the next answer. */
function resultsIn(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((entry, index) => {
    if (entry.role !== 'assistant') return []
    const after = messages.slice(index + 1)
    const next = after.findIndex(({ role }) => role === 'assistant')
    const given = (next < 0 ? after : after.slice(0, next)).flatMap(({ contents }) => contents)
    return entry.contents.flatMap((call) => {
      if (call.type !== 'function-call') return []
      const { key } = JSON.parse(call.arguments) as { key: string }
      const results = given.filter(
        (part) => part.type === 'function-result' && part.callId === call.callId,
      )
      const texts = results.map((part) =>
        part.type === 'function-result' && part.error?.code === 'uncertain'
          ? lost
          : textOf((part as { contents: Message['contents'] }).contents),
      )
      return `${key}=${texts.join(' AND ')}`
    })
  })
}
