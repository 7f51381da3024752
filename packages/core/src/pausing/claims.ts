import { LamellaError } from '../base/lamella-error.ts'
import { withinStoreTime } from '../store/store-time-limit.ts'
import type { RunStatus } from '../contract/outcome.ts'
import type { Run } from '../run/run.ts'
import { claimPlaceOf } from '../store/session-stores.ts'
import type { KeyValueStore } from '../store/store.ts'
import type { OpenApprovals } from './open-approvals.ts'
import { closeRequests } from './open-approvals.ts'

type ClaimStore = Pick<KeyValueStore, 'get' | 'compareAndSet' | 'delete'>

/** Claims of this process, for agents and sessions without a store. The oldest are forgotten. */
const inProcess = new Map<string, unknown>()

const processStore: ClaimStore = {
  get: async (key) => inProcess.get(key),
  async compareAndSet(key, _, by) {
    if (inProcess.has(key)) return false
    inProcess.set(key, by)
    const [oldest] = inProcess.keys()
    if (inProcess.size > 100_000) inProcess.delete(oldest!)
    return true
  },
  async delete(key) {
    inProcess.delete(key)
  },
}

/**
 * Requests and checkpoints that one run has claimed, so that no other run works on them. What a run with the
 * same key has claimed before counts as claimed by this one.
 */
export class Claims {
  readonly #key: string
  readonly #store: ClaimStore
  readonly #timeoutMs: number
  readonly #own: string[] = []
  readonly #run: Run
  readonly #open: OpenApprovals

  constructor(key: string, run: Run, open: OpenApprovals) {
    const { session, store, storeTimeoutMs } = run
    const ofSession = session && claimPlaceOf(session)
    this.#key = key
    this.#run = run
    this.#open = open
    this.#store = store ?? ofSession?.store ?? processStore
    this.#timeoutMs = storeTimeoutMs ?? ofSession?.storeTimeoutMs ?? 5000
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
   * open, and so does a saved step whose run failed.
   */
  async settle(status?: RunStatus): Promise<void> {
    const { acted, answered, state } = this.#run.journal
    const isDone = acted || (status === 'paused' && answered)
    closeRequests(this.#run, this.#open, isDone)
    if (!isDone) await this.#release(this.#own)
    else if (status === undefined && state?.paused === false) await this.#release([state.id])
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

  #ask<Value>(work: (store: ClaimStore) => Promise<Value>): Promise<Value> {
    return withinStoreTime(work(this.#store), {
      clock: this.#run.clock,
      timeoutMs: this.#timeoutMs,
    })
  }
}

// Without the tenant: an id is secret and unique, and a run that names another tenant must find it.
function keyOf(id: string): string {
  return `claim:${id}`
}

/** Error for a request that was answered before. */
export function used(id: string): LamellaError {
  return new LamellaError(`the request "${id}" was answered before; nothing ran`, {
    code: 'approval_used',
  })
}
