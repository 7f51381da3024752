// A world of processes that serve one conversation: an application that fails, is cut and dies, a person who answers
// once, late, twice or in two places, and a ledger of what was done.
import type {
  AgentResponse,
  Checkpoint,
  KeyValueStore,
  Message,
  Middleware,
  PendingRequest,
  RunOptions,
  SessionSnapshot,
} from '../../packages/core/src/index.ts'
import {
  Agent,
  agentMiddleware,
  BudgetExhausted,
  chatMiddleware,
  createSession,
  functionMiddleware,
  GuardrailTripped,
  jsonSchema,
  MiddlewareTermination,
  tool,
} from '../../packages/core/src/index.ts'
import {
  historyTruncator,
  patchToolCalls,
  summarizer,
} from '../../packages/middleware-truncate/src/index.ts'
import type { RunMode } from '../../packages/testing/src/index.ts'
import { callFunction, clientRequest, scriptedClient } from '../../packages/testing/src/index.ts'
import { RawServer } from '../../packages/testing/src/raw-server.ts'
import { providers } from '../provider-harness/swap-providers.ts'
import { Hang } from '../support/hang.ts'

const kinds = ['pay', 'pay', 'look', 'bad', 'gated', 'gated', 'pick', 'asks'] as const
type Kind = (typeof kinds)[number]

const faults = [
  'model fails',
  'abort',
  'budget',
  'block',
  'tool middleware fails',
  'tool middleware ends',
  'run again',
  'death',
] as const
/** Fault of a run, at its `at`-th event. */
export interface Fault {
  readonly kind: (typeof faults)[number] | 'none'
  readonly at: number
}

export function faultOf(random: () => number): Fault {
  const kind = random() < 0.4 ? 'none' : faults[Math.floor(random() * faults.length)]!
  return { kind, at: Math.floor(random() * (kind === 'death' || kind === 'abort' ? 14 : 3)) }
}

/** Input of a run: what the user says, answers in the session, or answers to a pause. */
export interface Ask {
  readonly input: string | readonly Message[]
  readonly answers?: Readonly<Record<string, unknown>> | undefined
  readonly checkpoint?: Checkpoint | undefined
}

export interface End {
  readonly response?: AgentResponse | undefined
  readonly error?: {
    readonly code?: string
    readonly outcome?: { readonly pending: readonly PendingRequest[] }
  }
  readonly session: SessionSnapshot
}

export function copy<Value>(value: Value): Value {
  return value === undefined ? value : (JSON.parse(JSON.stringify(value)) as Value)
}

/** All that outlives a process. */
export class World {
  readonly random: () => number
  /** How often the tool of a call did its work, by the key of the call. */
  readonly done = new Map<string, number>()
  /** Keys of finished effects that no model has read. */
  readonly unread = new Set<string>()
  readonly problems: string[] = []
  /** Messages of each model call. */
  readonly requests: (readonly Message[])[] = []
  session: SessionSnapshot = createSession().toJSON()
  processes = 0
  readonly hang = new Hang()
  readonly #store: KeyValueStore
  readonly #leases = new Set<string>()
  #keys = 0
  #runs = 0

  constructor(random: () => number, store: KeyValueStore) {
    this.random = random
    this.#store = store
  }

  /** Runs in a process of its own. After its death, another one is asked the same, with the same key. */
  async run(ask: Ask, fault: Fault, snapshot = this.session): Promise<End> {
    const mode: RunMode = this.random() < 0.5 ? 'plain' : 'streamed'
    const idempotencyKey = fault.kind === 'death' ? `work ${this.#runs++}` : undefined
    const process = new Process(this, fault, ask)
    const session = createSession(copy(snapshot))
    const died = process.death.then(() => 'died' as const)
    const end = await Promise.race([
      endOf(mode, process.agent, ask, { session, idempotencyKey, ...process.options }),
      died,
    ])
    // It may also die when the run has ended, before its session is saved.
    const isKept = end !== 'died' && (end.response === undefined || idempotencyKey === undefined)
    if (isKept) return { ...end, session: session.toJSON() }
    for (const key of this.#leases) await this.#store.delete(key)
    const again = createSession(copy(snapshot))
    const { agent } = new Process(this, { kind: 'none', at: 0 }, ask)
    return {
      ...(await endOf(mode, agent, ask, { session: again, idempotencyKey })),
      session: again.toJSON(),
    }
  }

  /** The store, as all processes see it. It knows the leases, which run out when their process has died. */
  get store(): KeyValueStore {
    const store = this.#store
    return {
      get: (key) => store.get(key),
      set: (key, value, options) => store.set(key, value, options),
      delete: (key) => store.delete(key),
      compareAndSet: (key, expected, value, options) => {
        if (options?.ttlMs === 30_000) this.#leases.add(key)
        return store.compareAndSet(key, expected, value, options)
      },
    }
  }

  /** Next answer of the model. Ids come again in each round, and within one for other calls. */
  answer(): string | readonly ReturnType<typeof callFunction>[] {
    if (this.random() < 0.45) return 'Said.'
    return Array.from({ length: 1 + Math.floor(this.random() * 3) }, (_, at) => {
      const kind = kinds[Math.floor(this.random() * kinds.length)]!
      const key = `${kind}-${this.#keys++}.`
      // The id is the address of an answer to this one.
      const id = kind === 'pick' ? key : `c${this.random() < 0.2 ? 0 : at}`
      return callFunction(kind, { key }, id)
    })
  }

  /** A model reads a request. */
  read(messages: readonly Message[], elsewhere: ReadonlySet<string>): void {
    const text = JSON.stringify(messages)
    for (const key of this.unread) {
      if (text.includes(key)) this.unread.delete(key)
      else if (!elsewhere.has(key)) this.problems.push(`${key} is forgotten`)
    }
    this.problems.push(...brokenRules(messages))
    this.requests.push(messages)
  }
}

/** Sends requests as the clients of all providers would, one after another, and returns what is wrong with them. */
export class Wires {
  readonly #server = RawServer.start((reply, { body }) => {
    this.#body = body as Body
    reply.writeHead(400).end('{}')
  })
  readonly #tools = [...new Set<Kind>(kinds)].map((name) => tool({ name, description: '' }))
  #body: Body | undefined
  #sent = 0

  async problemsOf(messages: readonly Message[]): Promise<readonly string[]> {
    const provider = providers[this.#sent++ % providers.length]!
    const { url } = await this.#server
    this.#body = undefined
    await provider
      .open(url)
      .respond(clientRequest(messages, { tools: this.#tools }))
      .catch(() => undefined)
    const body = this.#body as Body | undefined
    if (body === undefined) return [`${provider.name}: nothing is sent`]
    const sent = JSON.stringify(body)
    const keys = new Set(JSON.stringify(messages).match(/(?:pay|look|bad|gated|pick|asks)-\d+\./g))
    const lost = [...keys].filter((key) => !sent.includes(key))
    const problems = lost.length > 0 ? [`${lost.join()} is not sent`] : []
    return [...problems, ...provider.problems(body)].map((each) => `${provider.name}: ${each}`)
  }

  async close(): Promise<void> {
    await (await this.#server).stop()
  }
}

type Body = Parameters<(typeof providers)[number]['problems']>[0]

async function endOf(
  mode: RunMode,
  agent: Agent,
  { input, answers, checkpoint }: Ask,
  options: RunOptions,
): Promise<Omit<End, 'session'>> {
  const all = { ...options, ...(mode === 'streamed' && { stream: true as const }) } as {
    stream: true
  }
  const given = answers === undefined ? all : { ...all, answers }
  try {
    const running =
      checkpoint === undefined
        ? agent.run(input, given)
        : agent.resume(copy(checkpoint), answers ?? {}, all)
    return {
      response: await (mode === 'streamed'
        ? running.finalResponse()
        : (running as unknown as Promise<AgentResponse>)),
    }
  } catch (error) {
    return { error: error as NonNullable<End['error']> }
  }
}

/** A process, with the fault of its run. */
class Process {
  readonly agent: Agent
  readonly options: Pick<RunOptions, 'signal'>
  readonly death: Promise<void>
  readonly #world: World
  readonly #fault: Fault
  readonly #abort = new AbortController()
  #isDead = false
  #die!: () => void
  #events = 0

  constructor(world: World, fault: Fault, { checkpoint }: Ask) {
    // A run that was paused continues its own conversation: it does not read what others have done meanwhile.
    const elsewhere = new Set(checkpoint === undefined ? [] : world.unread)
    this.#world = world
    this.#fault = fault
    this.options = fault.kind === 'abort' ? { signal: this.#abort.signal } : {}
    this.death = new Promise((resolve) => (this.#die = resolve))
    let asked = 0
    const client = scriptedClient(
      async ({ messages }) => {
        await this.#event()
        world.read(messages, elsewhere)
        await this.#event()
        if (fault.kind === 'model fails' && asked++ === fault.at) throw new TypeError('down')
        return world.answer()
      },
      { idPrefix: `${world.processes++}-` },
    )
    this.agent = new Agent({
      name: 'teller',
      client,
      tools: this.#tools(),
      middleware: this.#middleware(),
      store: world.store,
      functionInvocation: { maxIterations: 4 },
    })
  }

  /** Something that a process may die before, or be aborted at. */
  async #event(): Promise<void> {
    await Promise.resolve()
    const { kind, at } = this.#fault
    if (this.#events++ === at) {
      if (kind === 'abort') this.#abort.abort(new Error('cut'))
      if (kind === 'death') {
        this.#isDead = true
        this.#die()
      }
    }
    if (this.#isDead) await this.#world.hang.wait()
  }

  #tools() {
    const parameters = jsonSchema({ type: 'object', properties: { key: { type: 'string' } } })
    const { done, unread } = this.#world
    const work = async (key: string): Promise<string> => {
      await this.#event()
      done.set(key, (done.get(key) ?? 0) + 1)
      unread.add(key)
      await this.#event()
      if (key.startsWith('bad')) throw new Error('bad')
      return 'paid'
    }
    return [...new Set<Kind>(kinds)].map((name) =>
      tool({
        name,
        description: '',
        parameters,
        readOnly: name === 'look',
        approval: name === 'gated' ? 'always' : 'never',
        ...(name !== 'pick' && {
          execute: async ({ key }, { run }) => {
            if (name === 'look') return 'seen'
            if (name === 'asks') await run.interrupt({ key })
            return work(String(key))
          },
        }),
      }),
    )
  }

  #middleware(): Middleware[] {
    const { random } = this.#world
    const { kind, at } = this.#fault
    const compaction = random() < 0.3 ? compactionOf(random) : []
    let calls = 0
    const atModel = (error: () => Error): Middleware =>
      chatMiddleware('fault', async (_, callNext) => {
        await callNext()
        if (calls++ === at) throw error()
      })
    const atTool = (error: () => Error, isEarly: boolean): Middleware =>
      functionMiddleware('fault', async (_, callNext) => {
        const isNow = calls++ === at
        if (isNow && isEarly) throw error()
        await callNext()
        if (isNow) throw error()
      })
    const block = {
      guardrail: 'g',
      level: 'chat',
      stage: 'output',
      category: 'c',
      message: 'No.',
    } as const
    switch (kind) {
      case 'budget':
        return [
          ...compaction,
          atModel(() => new BudgetExhausted('calls', { limit: at, used: at } as never)),
        ]
      case 'block':
        return [...compaction, atModel(() => new GuardrailTripped(block))]
      case 'tool middleware fails':
        return [...compaction, atTool(() => new TypeError('broken'), random() < 0.5)]
      case 'tool middleware ends':
        return [
          ...compaction,
          atTool(() => new MiddlewareTermination('enough', { result: 'No.' }), random() < 0.5),
        ]
      case 'run again':
        return [
          agentMiddleware('again', async (_, callNext) => {
            await callNext().catch((error: unknown) => {
              if ((error as Error).message !== 'once') throw error
              return callNext()
            })
          }),
          ...compaction,
          atModel(() => new TypeError('once')),
        ]
      default:
        return compaction
    }
  }
}

function compactionOf(random: () => number): Middleware[] {
  if (random() < 0.3) return [summarizer({ client: teller, maxMessages: 5, keepMessages: 2 })]
  return [historyTruncator({ maxMessages: 4, persist: random() < 0.5 }), patchToolCalls()]
}

const teller = scriptedClient(() => 'They talked.')

/** Breaches of the rules of providers: each call has its result right behind it, in order, and nothing else stands there. */
function brokenRules(messages: readonly Message[]): readonly string[] {
  const problems: string[] = []
  let open: string[] = []
  for (const { role, contents } of messages) {
    if (open.length > 0 && role !== 'tool' && role !== 'assistant') {
      problems.push(`no result of ${open.join()} before a message of the ${role}`)
      open = []
    }
    for (const part of contents) {
      if (part.type === 'function-call') {
        if (open.includes(part.callId)) problems.push(`two open calls with the id ${part.callId}`)
        open.push(part.callId)
      }
      if (part.type === 'function-result' && open.shift() !== part.callId)
        problems.push(`a result of ${part.callId} is out of place`)
    }
  }
  return open.length === 0 ? problems : [...problems, `no result of ${open.join()}`]
}
