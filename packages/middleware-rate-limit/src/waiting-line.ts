import type { Clock, LimitGrant } from '@lamella/core/authoring'
import { callLater } from '@lamella/core/authoring'
import type { Answer } from './guarded-store.ts'
import type { Claim } from './rate-limit-store.ts'

export type Denied = Extract<LimitGrant, { granted: false }>

/** A call that needs its claims. */
export interface Caller {
  readonly id: string
  readonly claims: readonly Claim[]
  readonly signal: AbortSignal
  /** Higher priorities go first. */
  readonly priority: number
  readonly maxWaitMs: number
  /** Called once when the call cannot start at once: returns to let it wait, or throws. */
  readonly onDenied: (denied: Denied, place: number) => void
  /** Makes the error of a call that waited too long, or would. */
  readonly tooLong: (denied: Denied) => Error
}

/** Settings of a `WaitingLine`. */
export interface LineOptions {
  readonly clock: Clock
  readonly take: (id: string, claims: readonly Claim[]) => Promise<Answer>
  /** Returns a grant whose call has left in the meantime. */
  readonly giveBack: (answer: Answer, id: string, claims: readonly Claim[]) => void
  /** Milliseconds between two checks without a notice. */
  readonly pollMs: number
  /** Called when nobody waits any more. */
  readonly onEmpty: () => void
}

interface Waiter extends Caller {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
  /** True once it has left the queue. */
  hasLeft: boolean
  /** Deadline of the wait, from the first denial on, and its timer. */
  patience: { readonly until: number; readonly stopTimer: () => void } | undefined
}

/** Queue of the calls of one key: each starts when it has its claims. */
export class WaitingLine {
  readonly #options: LineOptions
  readonly #waiters: Waiter[] = []
  #isMoving = false
  /** Denial of the first call in the queue. */
  #denied: Denied | undefined
  /** Notices since the first call looked last, or while it sleeps. */
  #isWoken = false
  #sleep: AbortController | undefined

  constructor(options: LineOptions) {
    this.#options = options
  }

  /** Makes the first call check again after capacity was released. */
  wake(): void {
    this.#isWoken = true
    this.#sleep?.abort('woken')
  }

  enter(caller: Caller): Promise<Answer> {
    const { signal, priority } = caller
    if (signal.aborted) return Promise.reject(signal.reason)
    let waiter: Waiter
    const onAbort = (): void => this.#leave(waiter, signal.reason)
    signal.addEventListener('abort', onAbort)
    return new Promise<Answer>((resolve, reject) => {
      waiter = { ...caller, resolve, reject, hasLeft: false, patience: undefined }
      const behind = this.#waiters.findIndex((other) => other.priority < priority)
      this.#waiters.splice(behind === -1 ? this.#waiters.length : behind, 0, waiter)
      // Behind a waiting call, there is nothing to try.
      if (this.#denied !== undefined && behind !== 0) this.#refuse(waiter, this.#denied)
      else if (behind === 0) this.wake()
      void this.#move()
    }).finally(() => signal.removeEventListener('abort', onAbort))
  }

  async #move(): Promise<void> {
    if (this.#isMoving) return
    this.#isMoving = true
    for (let first = this.#waiters[0]; first !== undefined; first = this.#waiters[0]) {
      await this.#serve(first)
    }
    this.#isMoving = false
    this.#options.onEmpty()
  }

  /** Tries to serve one call, and sleeps until the next try makes sense. */
  async #serve(waiter: Waiter): Promise<void> {
    const { id, claims } = waiter
    const { take, giveBack, clock, pollMs } = this.#options
    let answer: Answer
    this.#isWoken = false
    try {
      answer = await take(id, claims)
    } catch (error) {
      this.#leave(waiter, error)
      return
    }
    const { grant } = answer
    if (waiter.hasLeft) {
      if (grant.granted) giveBack(answer, id, claims)
      return
    }
    if (grant.granted) {
      this.#denied = undefined
      this.#remove(waiter)
      waiter.resolve(answer)
      return
    }
    this.#denied = grant
    // Others may have arrived during the try.
    const news = this.#waiters.filter((other) => other === waiter || other.patience === undefined)
    for (const other of news) this.#refuse(other, grant)
    if (waiter.hasLeft || this.#isWoken) return
    const waitMs = Math.max(1, Math.min(grant.retryAfterMs, pollMs))
    this.#sleep = new AbortController()
    await clock.sleep(waitMs, this.#sleep.signal).catch(() => {})
    this.#sleep = undefined
  }

  /** Lets a denied call wait, or rejects it. */
  #refuse(waiter: Waiter, denied: Denied): void {
    const { clock } = this.#options
    const { onDenied, tooLong } = waiter
    try {
      if (waiter.patience === undefined) onDenied(denied, this.#waiters.indexOf(waiter) + 1)
      const { until } = (waiter.patience ??= this.#patienceOf(waiter, denied))
      const { retryAfterMs } = denied
      if (retryAfterMs !== Infinity && clock.now() + retryAfterMs > until) throw tooLong(denied)
    } catch (error) {
      this.#leave(waiter, error)
    }
  }

  #patienceOf(waiter: Waiter, denied: Denied): NonNullable<Waiter['patience']> {
    const { clock } = this.#options
    const { maxWaitMs, tooLong } = waiter
    const stopTimer = callLater(clock, maxWaitMs, () =>
      this.#leave(waiter, tooLong(this.#denied ?? denied)),
    )
    return { until: clock.now() + maxWaitMs, stopTimer }
  }

  #leave(waiter: Waiter, error: unknown): void {
    const isFirst = this.#waiters[0] === waiter
    this.#remove(waiter)
    waiter.reject(error)
    if (isFirst) this.wake()
  }

  #remove(waiter: Waiter): void {
    waiter.hasLeft = true
    waiter.patience?.stopTimer()
    const at = this.#waiters.indexOf(waiter)
    if (at !== -1) this.#waiters.splice(at, 1)
    if (this.#waiters.length === 0) this.#denied = undefined
  }
}
