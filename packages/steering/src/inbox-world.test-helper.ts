import type {
  AgentResponse,
  Checkpoint,
  KeyValueStore,
  Message,
  PendingRequest,
  SessionSnapshot,
} from '@lamella/core'
import {
  Agent,
  checkpointState,
  createSession,
  memoryStore,
  messageText,
  tool,
} from '@lamella/core'
import { guardrail } from '@lamella/guardrail'
import { callFunction, runIn, scriptedClient, testRandom } from '@lamella/testing'
import { expect } from 'vitest'
import { Hang } from '../../../tests/support/hang.ts'
import type { Delivery, Inbox } from './index.ts'
import { createInbox } from './index.ts'

const faults = [
  'abort',
  'kill',
  'kill',
  'kill',
  'model fails',
  'store fails',
  'store fails late',
] as const
type Fault = (typeof faults)[number] | 'none'

/** A message of the user, and what its sender was told. */
interface Sent {
  readonly id: string
  readonly kind: 'queue' | 'steer'
  readonly text: string
  /** True if another one was on its way at the same time, so that their order is open. */
  raced: boolean
  /** True once it was in the inbox. */
  isIn?: true
  told?: Delivery
}

/** A run: what it is asked, and who may know of it after a crash. */
interface Ask {
  readonly input: string
  readonly maxIterations: number
  /** Runs without a key are lost with their process. */
  readonly key: string | undefined
  readonly pause?: Pause | undefined
}

interface Pause {
  readonly checkpoint: Checkpoint
  readonly pending: readonly PendingRequest[]
}

/** Plays as many conversations, and counts what senders were told. */
export async function playInboxes(
  seeds: number,
  open: () => readonly [user: KeyValueStore, runs: KeyValueStore] | readonly [] = () => [],
): Promise<{ delivered: number; 'not-delivered': number }> {
  const first = Number(process.env['INBOX_FIRST_SEED'] ?? 1)
  const told = { delivered: 0, 'not-delivered': 0 }
  for (let seed = first; seed < first + seeds; seed++) {
    const world = new InboxWorld(seed, ...open())
    // oxlint-disable-next-line no-await-in-loop
    await world.play(6)
    expect({ seed, problems: [...new Set(world.problems)] }).toEqual({ seed, problems: [] })
    world.hang.end()
    for (const { told: fate } of world.sent) if (fate !== undefined) told[fate.type]++
  }
  return told
}

const copy = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value
const owner = { tenant: 'acme', principal: 'ann' }

/** One conversation: its user, who talks whenever anything happens, and all that outlives a process. */
class InboxWorld {
  readonly random: () => number
  readonly problems: string[] = []
  readonly hang = new Hang()
  readonly sent: Sent[] = []
  readonly #underway = new Set<Sent>()
  /** Runs whose process has died, and that nobody continues. */
  readonly lost = new Set<string>()
  readonly judged = new Set<string>()
  /** Ids of messages that a model has read. */
  readonly read = new Set<string>()
  /** The store, as the user's process and those of the runs have it. */
  readonly store: KeyValueStore
  readonly #storeOfRuns: KeyValueStore
  session: SessionSnapshot = createSession().toJSON()
  #pause: Pause | undefined
  #keys = 0
  readonly #leases = new Set<string>()
  /** True when the user only listens, and the model only answers. */
  isQuiet = false
  readonly #senders: AbortController[] = []
  readonly #waiting: Promise<unknown>[] = []

  constructor(seed: number, store: KeyValueStore = memoryStore(), storeOfRuns = store) {
    this.random = testRandom(seed)
    this.store = store
    this.#storeOfRuns = storeOfRuns
  }

  chance(share: number): boolean {
    return this.random() < share
  }

  inbox(store = this.store): Inbox {
    return createInbox({ store, id: 'chat', ...owner, maxWaiting: 4, pollMs: 1 })
  }

  async play(steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) {
      // oxlint-disable-next-line no-await-in-loop
      await this.talk(this.inbox())
      const fault = this.chance(0.4) ? 'none' : faults[Math.floor(this.random() * faults.length)]!
      // oxlint-disable-next-line no-await-in-loop
      await this.#run(`Say ${step}.`, fault)
    }
    this.isQuiet = true
    for (let more = 0; more < 9 && (more === 0 || this.#pause !== undefined); more++) {
      // oxlint-disable-next-line no-await-in-loop
      await this.#run('Bye.', 'none', 100)
    }
    await this.#judge()
  }

  /** The user may say something now, from the process of this inbox. */
  async talk(inbox: Inbox, death?: Promise<unknown>): Promise<void> {
    while (!this.isQuiet && this.chance(0.06)) {
      const sends = Promise.all([
        this.#send(inbox, death === undefined),
        this.chance(0.2) && this.#send(this.inbox(), true),
      ])
      // oxlint-disable-next-line no-await-in-loop
      await (death === undefined ? sends : Promise.race([sends, death]))
    }
    if (this.chance(0.02)) this.#senders[Math.floor(this.random() * this.#senders.length)]?.abort()
  }

  /** Resolves when the message is in the inbox, or refused. */
  async #send(inbox: Inbox, isHeard: boolean): Promise<void> {
    const { sent } = this
    const first = sent[Math.floor(this.random() * sent.length)]
    if (first?.isIn && this.chance(0.1)) {
      const again = inbox[first.kind]('said twice', { id: first.id })
      void again.then((told) => {
        const answers = [first.told ?? told, told]
        const [was, is] = answers.map((answer) => JSON.stringify(answer))
        const isDelivered = answers.some(({ type }) => type === 'delivered')
        // Who has died, or lost the store, asks again.
        if (isDelivered && was !== is && !answers.some(isOpen))
          this.problems.push(`${first.id} was told ${was} and ${is}`)
      })
      return
    }
    const id = `m${sent.length}`
    const kind = this.chance(0.5) ? 'steer' : 'queue'
    const manner = this.chance(0.1) ? 'rude' : this.chance(0.2) ? 'secret' : 'fine'
    const entry: Sent = { id, kind, text: `${id} is ${manner}.`, raced: false }
    sent.push(entry)
    this.#underway.add(entry)
    if (this.#underway.size > 1) for (const other of this.#underway) other.raced = true
    const sender = new AbortController()
    this.#senders.push(sender)
    const delivery = inbox[kind](entry.text, { id, signal: sender.signal })
    let isOver = false
    const heard = delivery.then((told) => {
      entry.told = told
      isOver = true
    })
    if (isHeard) this.#waiting.push(heard)
    const isThere = async (): Promise<boolean> => {
      const found = (await this.inbox().waiting()).some((other) => other.id === id)
      if (found) entry.isIn = true
      return found || isOver
    }
    // One whose process has died may never get there.
    const turns = isHeard ? Infinity : 50
    // oxlint-disable-next-line no-await-in-loop
    for (let turn = 0; turn < turns && !(await isThere()); turn++) await tick()
    this.#underway.delete(entry)
  }

  async #run(input: string, fault: Fault, maxIterations?: number): Promise<void> {
    const pause = this.isQuiet || this.chance(0.8) ? this.#pause : undefined
    const ask: Ask = {
      input,
      maxIterations: maxIterations ?? 1 + Math.floor(this.random() * 4),
      key: this.chance(0.8) ? `run ${this.#keys++}` : undefined,
      pause,
    }
    this.#pause = undefined
    const snapshot = this.session
    for (let kind = fault; ; kind = this.chance(0.3) ? fault : 'none') {
      const process = new InboxProcess(this, kind, ask)
      const session = createSession(copy(snapshot))
      // oxlint-disable-next-line no-await-in-loop
      const end = await Promise.race([process.run(session), process.death])
      if (end !== 'died') {
        this.session = copy(session.toJSON())
        if (end?.status === 'paused') {
          this.#pause = { checkpoint: copy(end.checkpoint!), pending: end.pending }
        }
        return
      }
      if (ask.key === undefined) {
        this.lost.add(process.runId)
        return
      }
      // oxlint-disable-next-line no-await-in-loop
      for (const lease of this.#leases) await this.store.delete(lease)
    }
  }

  /** The store of a process: each access is an event of it. */
  storeOf(
    event: () => Promise<void>,
    fails: (fault: Fault) => boolean,
    ended: () => void,
  ): KeyValueStore {
    const store = this.#storeOfRuns
    const during = async <Value>(work: () => Promise<Value>): Promise<Value> => {
      await event()
      if (fails('store fails')) throw new Error('the store is away')
      const isLate = fails('store fails late')
      const value = await work()
      if (isLate) throw new Error('the answer of the store is lost')
      await event()
      return value
    }
    return {
      ...(store.signals && { signals: store.signals }),
      get: (key) => during(() => store.get(key)),
      // Once the end of a run is recorded, what its caller does with it is no matter of the inbox.
      set: (key, value, options) =>
        during(async () => {
          await store.set(key, value, options)
          if (Object(value).ending !== undefined) ended()
        }),
      delete: (key) => during(() => store.delete(key)),
      compareAndSet: (key, expected, value, options) => {
        if (options?.ttlMs === 30_000) this.#leases.add(key)
        return during(() => store.compareAndSet(key, expected, value, options))
      },
    }
  }

  /** A model reads a request. */
  reads(messages: readonly Message[]): void {
    const own = messages.flatMap(({ id }) => this.sent.find((entry) => entry.id === id) ?? [])
    this.#checkOrder('the model reads', own)
    for (const { id, text } of own) {
      this.read.add(id)
      if (!this.judged.has(text)) this.problems.push(`${id} was not judged`)
    }
    const words = messages.map(messageText).join(' ')
    if (/rude|secret|said twice/.test(words)) this.problems.push(`the model reads: ${words}`)
    for (const [at, { contents }] of messages.entries()) {
      if (contents.every(({ type }) => type !== 'function-call')) continue
      if (messages[at + 1]?.role !== 'tool')
        this.problems.push('a message is between call and result')
    }
  }

  #checkOrder(who: string, found: readonly Sent[]): void {
    const ids = found.map(({ id }) => id)
    if (new Set(ids).size < ids.length)
      this.problems.push(`${who} ${ids.join()}: one is there twice`)
    for (const kind of ['steer', 'queue']) {
      const order = found.filter((entry) => entry.kind === kind && !entry.raced)
      const numbers = order.map((entry) => this.sent.indexOf(entry))
      if (numbers.some((number, at) => number < (numbers[at - 1] ?? 0)))
        this.problems.push(`${who} ${ids.join()}: out of order`)
    }
  }

  /** Judges the fate of each message. */
  async #judge(): Promise<void> {
    await Promise.all(this.#waiting)
    const inbox = this.inbox()
    const left = await inbox.waiting()
    if (left.length > 0) this.problems.push(`${left.map(({ id }) => id).join()} wait after the end`)
    const kept = this.session.messages.flatMap(
      ({ id }) => this.sent.find((entry) => entry.id === id) ?? [],
    )
    this.#checkOrder('the session has', kept)
    for (const entry of this.sent) {
      const { id, told } = entry
      // Who has died, or lost the store, asks again.
      // oxlint-disable-next-line no-await-in-loop
      const known = await inbox.steer('said twice', { id })
      const fate = told === undefined || isOpen(told) ? known : told
      if (JSON.stringify(fate) !== JSON.stringify(known) && !isRefused(fate))
        this.problems.push(`${id} was told ${JSON.stringify([fate, known])}`)
      const isKept = kept.includes(entry)
      if (fate.type === 'delivered' && !isKept && !this.lost.has(fate.runId))
        this.problems.push(`${id} is lost: ${JSON.stringify(fate)}`)
      if (fate.type === 'not-delivered' && (isKept || this.read.has(id)))
        this.problems.push(`${id} was read: ${JSON.stringify(fate)}`)
    }
  }
}

const isOpen = (told: Delivery): boolean =>
  told.type === 'not-delivered' && told.reason === 'unknown'
/** Refused at once, which leaves no trace. */
const isRefused = (told: Delivery): boolean =>
  told.type === 'not-delivered' && ['ended', 'full', 'paused'].includes(told.reason)
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A process with an agent, whose run meets a fault. */
class InboxProcess {
  readonly death: Promise<'died'>
  runId = ''
  readonly #world: InboxWorld
  readonly #ask: Ask
  readonly #fault: Fault
  readonly #abort = new AbortController()
  #at: number
  #die!: () => void
  #isDead = false
  #isTalking = false
  #events = 0

  constructor(world: InboxWorld, fault: Fault, ask: Ask) {
    this.#world = world
    this.#ask = ask
    this.#fault = fault
    this.#at = 1 + Math.floor(world.random() * 40)
    this.death = new Promise((resolve) => (this.#die = () => resolve('died')))
  }

  async run(session: ReturnType<typeof createSession>): Promise<AgentResponse | undefined> {
    const { input, maxIterations, key, pause } = this.#ask
    const world = this.#world
    const event = (): Promise<void> => this.#event()
    const store = world.storeOf(
      event,
      (fault) => this.#fault === fault && this.#events === this.#at,
      () => (this.#at = Infinity),
    )
    const inbox = world.inbox(store)
    const work = tool({ name: 'work', description: '', execute: () => this.#event() })
    const buy = tool({
      name: 'buy',
      description: '',
      approval: 'always',
      execute: () => this.#event(),
    })
    const client = scriptedClient(async ({ messages }) => {
      await this.#event(inbox)
      world.reads(messages)
      if (this.#fault === 'model fails' && this.#events > this.#at) throw new Error('down')
      const name = world.chance(0.3) ? 'buy' : 'work'
      return world.isQuiet || world.chance(0.5)
        ? 'Said.'
        : [callFunction(name, {}, `c${this.#events}`)]
    })
    const judge = guardrail({
      name: 'judge',
      applyTo: ['input'],
      timeoutMs: Infinity,
      onEvent: () => {},
      check: async ({ text }) => {
        await this.#event()
        world.judged.add(text)
        if (text.includes('rude')) return { action: 'block' }
        return text.includes('secret')
          ? { action: 'replace', replacement: text.replace('secret', 'hidden') }
          : { action: 'allow' }
      },
    })
    const agent = new Agent({
      name: 'support',
      client,
      tools: [work, buy],
      middleware: [judge, inbox],
      store,
      functionInvocation: { maxIterations },
    })
    const shared = {
      session,
      ...owner,
      signal: this.#abort.signal,
      keep: 'all' as const,
      ...(key !== undefined && { idempotencyKey: key }),
      onEvent: () => {},
    }
    try {
      if (pause === undefined) {
        this.runId = `run-${world.sent.length}-${world.random()}`
        const mode = world.chance(0.5) ? 'plain' : 'streamed'
        return await runIn(mode, agent, { ...shared, input, runId: this.runId })
      }
      this.runId = checkpointState(pause.checkpoint).runId
      const answers = Object.fromEntries(pause.pending.map(({ id }) => [id, world.chance(0.7)]))
      return await agent.resume(copy(pause.checkpoint), answers, shared)
    } catch {
      return undefined
    }
  }

  /** Something happens: the user may talk, and the process may meet its fault. */
  async #event(inbox?: Inbox): Promise<void> {
    if (this.#isDead) return this.#world.hang.wait()
    this.#events++
    if (!this.#isTalking) {
      this.#isTalking = true
      await this.#world.talk(this.#world.inbox())
      if (inbox !== undefined) await this.#world.talk(inbox, this.death)
      this.#isTalking = false
    }
    if (this.#events >= this.#at) {
      if (this.#fault === 'abort') this.#abort.abort()
      if (this.#fault === 'kill') {
        this.#isDead = true
        this.#die()
        return this.#world.hang.wait()
      }
    }
    return undefined
  }
}
