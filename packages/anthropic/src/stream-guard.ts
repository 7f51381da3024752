import type { ChatResponseUpdate } from '@lamella/core'
import { failed } from './anthropic-error.ts'
import { ArrivedUpdates } from './arrived-updates.ts'
import type { StreamedCall } from './read-updates.ts'
import { readUpdates } from './read-updates.ts'
import type { StreamTimeouts } from './stall-timer.ts'
import { StallTimer } from './stall-timer.ts'

export interface GuardedCall extends StreamedCall {
  readonly signal: AbortSignal
  readonly timeouts: StreamTimeouts
}

/**
 * The updates of a call that starts on the first pull and reads no further than it is asked. An
 * abort rejects at once with the signal's reason, a stall with a timeout, and both close the request.
 */
export function guardStream(call: GuardedCall): AsyncIterable<ChatResponseUpdate> {
  return { [Symbol.asyncIterator]: () => new GuardedStream(call) }
}

type Step = IteratorResult<ChatResponseUpdate, undefined>

interface Failure {
  readonly error: unknown
}

const done: Step = Object.freeze({ done: true, value: undefined })

class GuardedStream implements AsyncIterator<ChatResponseUpdate, undefined> {
  readonly #call: GuardedCall
  readonly #transport = new AbortController()
  readonly #arrived = new ArrivedUpdates()
  readonly #timer: StallTimer
  readonly #updates: AsyncGenerator<ChatResponseUpdate, undefined>
  /** How each pull that waits is given up. */
  readonly #waiting = new Set<(failure: Failure | undefined) => void>()
  #isStarted = false
  #isOver = false
  #failure: Failure | undefined

  constructor(call: GuardedCall) {
    this.#call = call
    this.#timer = new StallTimer(call.timeouts, (words) => {
      const partial = this.#arrived.isEmpty ? undefined : this.#arrived.response()
      this.#stop({ error: failed('timeout', { ...call.failure, partial }, { words }) })
    })
    this.#updates = readUpdates(call, this.#transport.signal, this.#arrived, (isUpdate) => {
      this.#timer.alive(isUpdate)
    })
  }

  next(): Promise<Step> {
    this.#start()
    if (this.#isOver) {
      // A failure is told once; then the stream is over like any other.
      const failure = this.#failure
      this.#failure = undefined
      return failure === undefined ? Promise.resolve(done) : Promise.reject(failure.error)
    }
    this.#timer.wait()
    return new Promise((resolve, reject) => {
      const giveUp = (failure: Failure | undefined): void => {
        if (failure === undefined) resolve(done)
        else reject(failure.error)
      }
      this.#waiting.add(giveUp)
      this.#updates.next().then(
        (step) => {
          this.#settled(giveUp)
          if (step.done) this.#close()
          resolve(step)
        },
        (error: unknown) => {
          this.#settled(giveUp)
          this.#close()
          reject(error)
        },
      )
    })
  }

  async return(): Promise<Step> {
    this.#stop(undefined)
    return done
  }

  #start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    const { signal } = this.#call
    if (signal.aborted) this.#onAbort()
    else signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  readonly #onAbort = (): void => {
    this.#stop({ error: this.#call.signal.reason })
  }

  #settled(giveUp: (failure: Failure | undefined) => void): void {
    this.#waiting.delete(giveUp)
    if (this.#waiting.size === 0) this.#timer.rest()
  }

  #close(): void {
    this.#isOver = true
    this.#timer.stop()
    this.#call.signal.removeEventListener('abort', this.#onAbort)
  }

  /** Ends at once: nothing that was read is handed out any more. */
  #stop(failure: Failure | undefined): void {
    if (this.#isOver) return
    this.#close()
    this.#transport.abort(failure?.error)
    this.#updates.return(undefined).catch(() => {})
    const [first, ...others] = this.#waiting
    this.#waiting.clear()
    if (first === undefined) this.#failure = failure
    else first(failure)
    for (const giveUp of others) giveUp(undefined)
  }
}
