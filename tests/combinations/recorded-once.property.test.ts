import { afterAll, describe, expect, it } from 'vitest'
import type { Checkpoint, KeyValueStore, PendingRequest } from '../../packages/core/src/index.ts'
import { memoryStore } from '../../packages/core/src/index.ts'
import { unpaired } from '../../packages/core/src/messages/call-results.ts'
import { postgresStore } from '../../packages/store-postgres/src/index.ts'
import { redisStore } from '../../packages/store-redis/src/index.ts'
import { sqliteStore } from '../../packages/store-sqlite/src/index.ts'
import { testRandom } from '../../packages/testing/src/index.ts'
import { realServices } from '../support/real-services.ts'
import { isLong } from '../support/runs.ts'
import type { Ask, End, Fault } from './recorded-once.test-helper.ts'
import { copy, faultOf, Wires, World } from './recorded-once.test-helper.ts'

// Random conversations, in which runs fail, are cut, blocked, killed and asked the same twice. Invariants: no effect
// happens twice, each finished effect is read by the next model call, each request is answered at most once and none
// stays that cannot be answered, and no request breaks the rules of providers.
const given = process.env['RECORDED_SEEDS']
const seedsOf = (name: string): number =>
  given === undefined ? (isLong ? (name === 'memory' ? 2000 : 500) : 25) : Number(given)
const first = Number(process.env['RECORDED_FIRST_SEED'] ?? 1)
const none: Fault = { kind: 'none', at: 0 }

const wires = new Wires()
afterAll(() => wires.close())

const { own, redis, pool } = realServices('recorded')

const stores: [string, () => KeyValueStore][] = [
  ['memory', () => memoryStore()],
  ['SQLite', () => sqliteStore(':memory:')],
]
if (redis !== undefined)
  stores.push(['Redis', () => redisStore(redis, { namespace: `${own}-${crypto.randomUUID()}` })])
if (pool !== undefined)
  stores.push([
    'PostgreSQL',
    () => postgresStore(pool, { schema: own, namespace: crypto.randomUUID() }),
  ])

interface Pause {
  readonly checkpoint: Checkpoint
  readonly pending: readonly PendingRequest[]
}

/** One conversation, and the person who answers what it asks. */
class Story {
  readonly world: World
  /** Pauses that are answered by their checkpoint. */
  pauses: Pause[] = []
  /** Ids of client-side calls that are answered in the session. */
  picks: string[] = []
  answered = 0
  readonly #random: () => number

  constructor(seed: number, store: KeyValueStore) {
    this.#random = testRandom(seed)
    this.world = new World(this.#random, store)
  }

  async play(steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) {
      const dice = this.#random()
      // oxlint-disable-next-line no-await-in-loop
      if (dice < 0.45) await this.#run({ input: `Say ${step}.` }, faultOf(this.#random))
      // oxlint-disable-next-line no-await-in-loop
      else await this.#answer(faultOf(this.#random))
    }
    // Everything that is open can be answered.
    for (let step = 0; step < 60 && this.#isOpen; step++) {
      // oxlint-disable-next-line no-await-in-loop
      await this.#answer(none)
    }
    await this.world.run({ input: 'Bye.' }, none)
  }

  get #isOpen(): boolean {
    return this.pauses.length + this.picks.length + this.#inSession.length > 0
  }

  /** Approvals that are answered in the session. */
  get #inSession(): readonly string[] {
    const reserved = new Set(this.pauses.flatMap(({ pending }) => pending.map(({ id }) => id)))
    return (this.world.session.pending ?? []).map(({ id }) => id).filter((id) => !reserved.has(id))
  }

  async #run(ask: Ask, fault: Fault): Promise<End> {
    const end = await this.world.run(ask, fault)
    this.#take(end)
    return end
  }

  #take({ response, session }: End): void {
    this.world.session = copy(session)
    if (response?.status !== 'paused') return
    const { checkpoint, pending } = response
    const isApproval = pending.every(({ kind }) => kind === 'approval')
    if (!isApproval || this.#random() < 0.5)
      this.pauses.push({ checkpoint: copy(checkpoint!), pending })
  }

  async #answer(fault: Fault): Promise<void> {
    const pause = this.pauses.at(-1)
    if (pause !== undefined) return this.#answerPause(pause, fault)
    const ids = [...this.#inSession, ...this.picks].filter(() => this.#random() < 0.6)
    if (ids.length === 0) return
    const answers = Object.fromEntries(ids.map((id) => [id, this.#random() < 0.8]))
    const end = await this.#run({ input: this.#random() < 0.3 ? 'And?' : [], answers }, fault)
    const open = new Set(this.#inSession)
    const isOpen = (id: string): boolean =>
      id.startsWith('pick') ? !this.#hasResult(end, id) : open.has(id)
    this.picks = this.picks.filter((id) => !ids.includes(id) || isOpen(id))
    const used = ids.filter((id) => !isOpen(id))
    if (end.error !== undefined && used.length > 0 && used.length < ids.length)
      this.world.problems.push(`only ${used.join()} of ${ids.join()} are used`)
    this.answered += used.length
    await this.#answerAgain({ input: [], answers }, used)
  }

  #hasResult({ session }: End, callId: string): boolean {
    return session.messages.some(({ contents }) =>
      contents.some((part) => part.type === 'function-result' && part.callId === callId),
    )
  }

  async #answerPause(pause: Pause, fault: Fault): Promise<void> {
    const { checkpoint, pending } = pause
    const some = pending.filter(() => this.#random() < 0.7)
    if (some.length === 0) return
    const answers = Object.fromEntries(
      some.map(({ id, kind }) => [id, kind === 'approval' ? this.#random() < 0.8 : 'yes']),
    )
    const ask: Ask = { input: [], answers, checkpoint }
    const snapshot = copy(this.world.session)
    this.pauses = this.pauses.filter((other) => other !== pause)
    // Two processes may get the answer at once.
    const isRace = fault.kind === 'none' && this.#random() < 0.3
    const ends = await Promise.all(
      isRace
        ? [this.world.run(ask, none), this.world.run(ask, none)]
        : [this.world.run(ask, fault)],
    )
    const won = ends.filter(({ error }) => error?.code !== 'approval_used')
    if (won.length !== 1) this.world.problems.push(`${won.length} of ${ends.length} took an answer`)
    const end = won[0] ?? ends[0]
    this.#take(end)
    if (end.error !== undefined) {
      if ((end.error.outcome?.pending.length ?? 0) > 0) this.pauses.push(pause)
      else
        for (const request of pending)
          if (
            request.kind === 'function-call' &&
            request.path === undefined &&
            !this.#hasResult(end, request.call.callId)
          )
            this.picks.push(request.call.callId)
    }
    if (!this.pauses.includes(pause)) {
      this.answered += some.length
      await this.#answerAgain({ ...ask }, ['x'], snapshot)
    }
  }

  /** The same answers once more: nothing runs. */
  async #answerAgain(
    ask: Ask,
    used: readonly string[],
    snapshot = this.world.session,
  ): Promise<void> {
    if (used.length === 0 || this.#random() < 0.7) return
    const { done, unread } = this.world
    const before = [...done]
    const forgotten = new Set(unread)
    const { error } = await this.world.run(ask, none, copy(snapshot))
    unread.clear()
    for (const key of forgotten) unread.add(key)
    if (error?.code !== 'approval_used' && error?.code !== 'approval_invalid')
      this.world.problems.push(
        `the same answer again: ${error?.code ?? (error && 'an error') ?? 'taken'}`,
      )
    if (JSON.stringify([...done]) !== JSON.stringify(before))
      this.world.problems.push('the same answer again has run a tool')
  }
}

describe.each(stores)('conversations on %s', (name, open) => {
  const seeds = seedsOf(name)
  const from = first + seedsOf('memory') * stores.findIndex((store) => store[0] === name)

  it(
    'do nothing twice, forget nothing, and take each answer once',
    async () => {
      let effects = 0
      let answers = 0
      for (let seed = from; seed < from + seeds; seed++) {
        const story = new Story(seed, open())
        const { world } = story
        // oxlint-disable-next-line no-await-in-loop
        await story.play(8)
        // oxlint-disable-next-line no-await-in-loop
        for (const request of world.requests)
          world.problems.push(...(await wires.problemsOf(request)))

        const twice = [...world.done].filter(([, times]) => times > 1)
        const { messages, pending } = world.session
        const unanswered = [...unpaired(messages)].flatMap((part) =>
          part.type === 'function-call' ? part.arguments : part.type,
        )
        expect({ seed, problems: world.problems, twice, pending, open: unanswered }).toEqual({
          seed,
          problems: [],
          twice: [],
          pending: [],
          open: [],
        })
        world.hang.end()
        effects += world.done.size
        answers += story.answered
      }
      if (seeds > 100) console.log(name, { effects, answers })
      expect(Math.min(effects, answers)).toBeGreaterThan(seeds)
    },
    60_000 + seeds * 1000,
  )
})
