import { LamellaError } from '../base/lamella-error.ts'
import { processWide } from '../base/process-wide.ts'
import { withinStoreTime } from '../store/store-time-limit.ts'
import type { RunStatus } from '../contract/outcome.ts'
import type { Run } from '../run/run.ts'
import { claimPlaceOf } from '../store/session-stores.ts'
import type { Session, SessionReference } from '../messages/session.ts'
import type { KeyValueStore } from '../store/store.ts'
import type { OpenApprovals } from './open-approvals.ts'
import { closeRequests } from './open-approvals.ts'

type ClaimStore = Pick<KeyValueStore, 'get' | 'set' | 'compareAndSet' | 'delete'>

/** Claims and records of this process, for agents and sessions without a store. The oldest are forgotten. */
const inProcess = /* @__PURE__ */ processWide('claims', () => new Map<string, unknown>())
const records = /* @__PURE__ */ processWide('records', () => new Map<string, unknown>())

const processStore: ClaimStore = {
  get: async (key) => inProcess.get(key) ?? records.get(key),
  set: async (key, value) => keep(records, 1000, key, value),
  async compareAndSet(key, expected, by) {
    if (inProcess.get(key) !== expected) return false
    keep(inProcess, 100_000, key, by)
    return true
  },
  async delete(key) {
    inProcess.delete(key)
  },
}

function keep(entries: Map<string, unknown>, most: number, key: string, value: unknown): void {
  entries.set(key, value)
  if (entries.size > most) entries.delete(entries.keys().next().value!)
}

/** Returns what asks the store that a run keeps its claims in: the agent's, else that of its session, else the process. */
export function claimStoreOf(
  { clock, store, storeTimeoutMs }: Run,
  session?: Session | SessionReference,
) {
  const ofSession = session && claimPlaceOf(session)
  const place: ClaimStore = store ?? ofSession?.store ?? processStore
  const timeoutMs = storeTimeoutMs ?? ofSession?.storeTimeoutMs ?? 5000
  return <Value>(work: (store: ClaimStore) => Promise<Value>): Promise<Value> =>
    withinStoreTime(work(place), { clock, timeoutMs })
}

/**
 * Requests and checkpoints that one run has claimed, so that no other run works on them. What a run with the
 * same key has claimed before counts as claimed by this one.
 */
export class Claims {
  readonly #key: string
  readonly #ask: ReturnType<typeof claimStoreOf>
  readonly #own: string[] = []
  readonly #run: Run
  readonly #open: OpenApprovals

  constructor(key: string, run: Run, open: OpenApprovals) {
    this.#key = key
    this.#run = run
    this.#open = open
    this.#ask = claimStoreOf(run, run.session)
  }

  /**
   * Claims all of `ids`, or none; with `ttlMs`, for this long.
   * @throws LamellaError `approval_used` if another run has claimed one, or `store_timeout`
   */
  async claim(ids: readonly string[], ttlMs?: number): Promise<void> {
    try {
      for (const id of ids) {
        // oxlint-disable-next-line no-await-in-loop
        if (await this.#isFirst(id, ttlMs)) this.#own.push(id)
        // oxlint-disable-next-line no-await-in-loop
        else if (!(await this.#has(id))) throw used(id)
      }
    } catch (error) {
      await this.#release(this.#own)
      throw error
    }
  }

  /** @throws LamellaError `approval_used` if a run has claimed the request */
  async refuseUsed(id: string): Promise<void> {
    if ((await this.#ask((store) => store.get(keyOf(id)))) !== undefined) throw used(id)
  }

  /**
   * Closes the requests that the run has answered. Those of a run that ended before it had any effect stay
   * open. So do the saved steps of a run that failed; those of one that ended are used up.
   */
  async settle(status?: RunStatus): Promise<void> {
    const run = this.#run
    const { acted, answered, state } = run.journal
    const isDone = acted || (status === 'paused' && answered)
    closeRequests(run, this.#open, isDone)
    if (!isDone) return this.#release(this.#own)
    const steps = stepsOf(run)
    const isSaved = state?.paused === false
    if (status === undefined) return isSaved ? this.#release([steps]) : undefined
    // The steps of a sub-agent are part of those of its caller.
    const isPart = (run.parent as Run | undefined)?.claimKey === this.#key
    if (isPart || !(run.keepsSteps || isSaved)) return undefined
    const before = isSaved ? this.#key : undefined
    await this.#ask((store) => store.compareAndSet(keyOf(steps), before, this.#key)).catch(() => {})
  }

  /** Gives back claims. Where the store fails, they stay. */
  async #release(ids: readonly string[]): Promise<void> {
    const deleted = ids.map((id) => this.#ask((store) => store.delete(keyOf(id))))
    await Promise.allSettled(deleted)
  }

  #isFirst(id: string, ttlMs: number | undefined): Promise<boolean> {
    const claim = (store: ClaimStore) =>
      store.compareAndSet(keyOf(id), undefined, this.#key, { ttlMs })
    return this.#ask(claim).catch(async (error: unknown) => {
      // The reply may have been lost, and not the claim.
      if (await this.#has(id)) return true
      throw error
    })
  }

  async #has(id: string): Promise<boolean> {
    return (await this.#ask((store) => store.get(keyOf(id)))) === this.#key
  }
}

// Without the tenant: an id is secret and unique, and a run that names another tenant must find it.
function keyOf(id: string): string {
  return `claim:${id}`
}

/** Names the steps that a run has saved since its start, or since its last pause: one of them is continued, and once. */
export function stepsOf({ id, journal: { before, state } }: Run): string {
  const pause = before.findLast((step) => step.kind === 'state' && step.paused)
  return `steps ${pause?.kind === 'state' ? pause.id : (state?.runId ?? id)}`
}

/** Error for a request that was answered before. */
export function used(id: string): LamellaError {
  return new LamellaError(`the request "${id}" was answered before; nothing ran`, {
    code: 'approval_used',
  })
}
