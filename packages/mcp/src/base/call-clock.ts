import { ToolError } from '@lamella/core'
import { callLater, systemClock } from '@lamella/core/authoring'

/** Limits of one call, in milliseconds. */
export interface CallLimits {
  /** Without progress. */
  readonly timeoutMs: number
  /** In all. */
  readonly maxCallMs: number
}

/**
 * Aborts a call that takes too long, or whose run ends. The clock stands still while a person is asked.
 */
export class CallClock {
  readonly signal: AbortSignal
  readonly #limits: CallLimits
  readonly #own = new AbortController()
  #stopSilence = (): void => {}
  #stopTotal = (): void => {}
  #leftMs: number
  #startedAt = 0
  #pauses = 0

  constructor(outer: AbortSignal, limits: CallLimits) {
    this.signal = AbortSignal.any([outer, this.#own.signal])
    this.#limits = limits
    this.#leftMs = limits.maxCallMs
    this.#start()
  }

  /** Something was heard of the server. */
  restart(): void {
    if (this.#pauses > 0 || this.signal.aborted) return
    this.#stopSilence()
    this.#stopSilence = this.#timer(this.#limits.timeoutMs, this.#limits.timeoutMs)
  }

  /** Runs `work` with the clock standing still. */
  async pausedFor<Value>(work: () => Promise<Value>): Promise<Value> {
    this.stop()
    try {
      return await work()
    } finally {
      if (--this.#pauses === 0) this.#start()
    }
  }

  /** Stops the clock, for good where nobody starts it again. */
  stop(): void {
    if (this.#pauses++ > 0) return
    this.#stopSilence()
    this.#stopTotal()
    this.#leftMs -= performance.now() - this.#startedAt
  }

  #start(): void {
    this.#startedAt = performance.now()
    this.restart()
    this.#stopTotal = this.#timer(Math.max(1, this.#leftMs), this.#limits.maxCallMs)
  }

  #timer(ms: number, limitMs: number): () => void {
    return callLater(systemClock, ms, () => {
      this.#own.abort(new ToolError(`it took more than ${limitMs} ms`, { reason: 'timeout' }))
    })
  }
}
