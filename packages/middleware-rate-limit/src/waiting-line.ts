import type { Clock } from '@lamella/core/authoring'
import type { Answer } from './guarded-store.ts'
import type { Claim, Grant } from './rate-limit-store.ts'

export type Denied = Extract<Grant, { granted: false }>

/** A call that wants to go on. */
export interface Caller {
  readonly id: string
  readonly claims: readonly Claim[]
  readonly signal: AbortSignal
  /** Higher ones go first. */
  readonly priority: number
  readonly maxWaitMs: number
  /** Asked once, when the call cannot go on at once: returns to let it wait, or throws. */
  readonly onDenied: (denied: Denied, place: number) => void
  /** What a call is rejected with that has waited for too long, or would. */
  readonly tooLong: (denied: Denied) => Error
}

export interface LineOptions {
  readonly clock: Clock
  readonly take: (id: string, claims: readonly Claim[]) => Promise<Answer>
  /** Takes back what was granted to a call that has left in the meantime. */
  readonly giveBack: (answer: Answer, id: string, claims: readonly Claim[]) => void
  /** How often to look again without being told, in milliseconds. */
  readonly pollMs: number
  /** Told when nobody waits any more. */
  readonly onEmpty: () => void
}

interface Waiter extends Caller {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
  /** Ends the timer of its patience. */
  readonly done: AbortController
  /** Of the clock; set when it was told that it has to wait. */
  giveUpAt: number | undefined
}

/** Calls of one key, one behind the other: each goes on when it has what it needs. */
export class WaitingLine {
  readonly #options: LineOptions
  readonly #waiters: Waiter[] = []
  #isMoving = false
  /** Why the first one has to wait. */
  #denied: Denied | undefined
  #wake: AbortController | undefined

  constructor(options: LineOptions) {
    this.#options = options
  }

  /** Something was given back: the first one looks again. */
  wake(): void {
    this.#wake?.abort()
  }

  enter(caller: Caller): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { signal, priority } = caller
      if (signal.aborted) return reject(signal.reason as Error)
      const done = new AbortController()
      const waiter: Waiter = { ...caller, resolve, reject, done, giveUpAt: undefined }
      const onAbort = (): void => this.#leave(waiter, signal.reason)
      signal.addEventListener('abort', onAbort, { once: true, signal: done.signal })
      const behind = this.#waiters.findIndex((other) => other.priority < priority)
      this.#waiters.splice(behind === -1 ? this.#waiters.length : behind, 0, waiter)
      // Behind one that waits, there is nothing to try.
      if (this.#denied !== undefined && behind !== 0) this.#refuse(waiter, this.#denied)
      else if (behind === 0) this.wake()
      void this.#move()
    })
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

  /** Tries for one of them; waits for the next time that it is worth a try. */
  async #serve(waiter: Waiter): Promise<void> {
    const { id, claims, resolve, done } = waiter
    const { take, giveBack, clock, pollMs } = this.#options
    let answer: Answer
    const wake = new AbortController()
    this.#wake = wake
    try {
      answer = await take(id, claims)
    } catch (error) {
      this.#leave(waiter, error)
      return
    }
    const { grant } = answer
    if (done.signal.aborted) {
      if (grant.granted) giveBack(answer, id, claims)
      return
    }
    if (grant.granted) {
      this.#denied = undefined
      this.#remove(waiter)
      resolve(answer)
      return
    }
    this.#denied = grant
    // Others may have come while it was tried.
    const news = this.#waiters.filter((other) => other === waiter || other.giveUpAt === undefined)
    for (const other of news) this.#refuse(other, grant)
    if (done.signal.aborted || wake.signal.aborted) return
    const waitMs = Math.max(1, Math.min(grant.retryAfterMs, pollMs, longestTimerMs))
    await clock.sleep(waitMs, wake.signal).catch(() => {})
  }

  /** Lets a call wait that cannot go on, or rejects it. */
  #refuse(waiter: Waiter, denied: Denied): void {
    const { clock } = this.#options
    const { maxWaitMs, onDenied, tooLong, done } = waiter
    try {
      if (waiter.giveUpAt === undefined) {
        onDenied(denied, this.#waiters.indexOf(waiter) + 1)
        waiter.giveUpAt = clock.now() + maxWaitMs
        clock.sleep(Math.min(maxWaitMs, longestTimerMs), done.signal).then(
          () => this.#leave(waiter, tooLong(this.#denied ?? denied)),
          () => {},
        )
      }
      const isHopeless =
        denied.retryAfterMs !== Infinity && clock.now() + denied.retryAfterMs > waiter.giveUpAt
      if (isHopeless) throw tooLong(denied)
    } catch (error) {
      this.#leave(waiter, error)
    }
  }

  #leave(waiter: Waiter, error: unknown): void {
    const isFirst = this.#waiters[0] === waiter
    this.#remove(waiter)
    waiter.reject(error)
    if (isFirst) this.wake()
  }

  #remove(waiter: Waiter): void {
    waiter.done.abort()
    const at = this.#waiters.indexOf(waiter)
    if (at !== -1) this.#waiters.splice(at, 1)
    if (this.#waiters.length === 0) this.#denied = undefined
  }
}

/** What timers can count to. */
const longestTimerMs = 2 ** 31 - 1
