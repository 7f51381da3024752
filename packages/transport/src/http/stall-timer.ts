import { backgroundTimer } from '@lamella/core/authoring'

/** Time limits of a stream in milliseconds. `Infinity` sets no limit. */
export interface StreamTimeouts {
  /** From the first pull to the first update, the SDK's own repeats included. */
  readonly firstUpdateTimeoutMs: number
  /** Without a byte, while an update is waited for. */
  readonly idleTimeoutMs: number
}

/**
 * Says when a stream has stalled. One timer serves the whole stream: it looks again when it was too
 * early, so that an update costs no timer. A slow consumer is no stall.
 */
export class StallTimer {
  readonly #timeouts: StreamTimeouts
  readonly #onStall: (words: string) => void
  #stopTimer: (() => void) | undefined
  #isWaiting = false
  #hasUpdates = false
  #since: number | undefined

  constructor(timeouts: StreamTimeouts, onStall: (words: string) => void) {
    this.#timeouts = timeouts
    this.#onStall = onStall
  }

  /** An update is waited for from now on. */
  wait(): void {
    if (this.#hasUpdates || this.#since === undefined) this.#since = performance.now()
    this.#isWaiting = true
    this.#start(this.#limitMs)
  }

  /** Nobody waits: whatever time passes is not the stream's. */
  rest(): void {
    this.#isWaiting = false
  }

  /** Something has arrived, which may have been an update. */
  alive(isUpdate: boolean): void {
    if (isUpdate && !this.#hasUpdates) {
      this.#hasUpdates = true
      this.stop() // it counts to the other limit
    }
    if (this.#hasUpdates) this.#since = performance.now()
  }

  /** Ends the timer for good. */
  stop(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
  }

  get #limitMs(): number {
    const { firstUpdateTimeoutMs, idleTimeoutMs } = this.#timeouts
    return this.#hasUpdates ? idleTimeoutMs : firstUpdateTimeoutMs
  }

  #start(ms: number): void {
    this.#stopTimer ??= backgroundTimer(this.#look, Math.max(1, ms))
  }

  readonly #look = (): void => {
    this.#stopTimer = undefined
    if (!this.#isWaiting) return
    const limitMs = this.#limitMs
    const leftMs = this.#since! + limitMs - performance.now()
    if (leftMs > 0) this.#start(leftMs)
    else this.#onStall(`no ${this.#hasUpdates ? 'data for' : 'answer within'} ${limitMs} ms`)
  }
}
