import { LamellaError } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import { systemClock } from '@lamella/core/authoring'
import { AuditChain } from '../record/audit-chain.ts'
import type { AuditEvent, AuditLogOptions } from './audit-options.ts'
import type { AuditFacts, AuditHead, AuditType } from '../record/audit-record.ts'
import { toSink } from '../sinks/audit-sink.ts'
import { plainJson } from '../record/plain-json.ts'
import { SinkQueue } from '../sinks/sink-queue.ts'

interface Unchained {
  readonly type: AuditType
  readonly time: string
  readonly facts: AuditFacts
}

/** Takes records in their order, makes a chain of them and brings them to the sinks. */
export class AuditTrail {
  readonly clock: Clock
  /** Whether a run fails that cannot be recorded. */
  readonly isClosed: boolean
  readonly #options: AuditLogOptions
  readonly #queues: readonly SinkQueue[]
  readonly #maxQueued: number
  readonly #batchSize: number
  readonly #awaits: boolean
  /** Until the sinks have told what they hold. */
  #unchained: Unchained[] = []
  #chain: AuditChain | undefined
  #closedAt: AuditHead | undefined
  #opening: Promise<void> | undefined
  #openFailed = false
  #timer: AbortController | undefined
  #lastError: unknown
  #hasWarned = false

  constructor(options: AuditLogOptions) {
    const { sinks, onError = 'open', batchSize = 100, maxQueued = 10_000 } = options
    this.#options = options
    this.clock = options.clock ?? systemClock
    this.isClosed = onError === 'closed'
    this.#awaits = (options.delivery ?? (this.isClosed ? 'await' : 'batch')) === 'await'
    this.#batchSize = batchSize
    this.#maxQueued = maxQueued
    this.#queues = [sinks].flat().map((input) => {
      const sink = toSink(input)
      return new SinkQueue(sink, batchSize, (error) => this.failed(error, sink.name))
    })
  }

  get head(): AuditHead | undefined {
    return this.#chain?.head ?? this.#closedAt
  }

  /**
   * Takes a record. A promise only where somebody has to wait: for the sinks, or for room.
   * @throws LamellaError `audit_failed` if it cannot be written and failures close
   */
  append(type: AuditType, facts: AuditFacts, signal?: AbortSignal): void | Promise<void> {
    if (this.#waiting >= this.#maxQueued && this.#isFailing && !this.isClosed) {
      this.#report({ status: 'dropped', error: this.#lastError })
      return undefined
    }
    const time = new Date(this.clock.now()).toISOString()
    this.#unchained.push({ type, time, facts: plainJson(facts) as AuditFacts })
    this.#chainAll()
    const mustStop = this.isClosed && this.#isFailing
    if (this.#awaits || mustStop || this.#waiting > this.#maxQueued) return this.flush(signal)
    if (this.#waiting >= this.#batchSize && !this.#isFailing) void this.#write()
    else this.#schedule()
    return undefined
  }

  /**
   * Waits until all that was recorded by now is written, but not longer than `waitMs` or the signal.
   * @throws LamellaError `audit_failed` if it is not and failures close
   */
  async flush(signal?: AbortSignal): Promise<void> {
    const work = this.#write()
    if (signal?.aborted === true) return
    const isWritten = await this.#patiently(work, signal)
    if (isWritten === true || hasEnded(signal)) return
    if (isWritten === undefined) this.#report({ status: 'late' })
    if (this.isClosed) throw auditFailed(`${this.#waiting} records`, this.#lastError)
  }

  async close(): Promise<void> {
    await this.#write()
    for (const { sink } of this.#queues) await sink.close?.()
    this.#closedAt = this.head
    this.#opening = this.#chain = undefined
  }

  get #waiting(): number {
    return this.#unchained.length + Math.max(...this.#queues.map(({ size }) => size))
  }

  get #isFailing(): boolean {
    return this.#openFailed || this.#queues.some(({ failed }) => failed)
  }

  /** Whether all that waited is written. */
  async #write(): Promise<boolean> {
    this.#timer?.abort('written')
    this.#timer = undefined
    await (this.#opening ??= this.#open())
    this.#chainAll()
    const written = await Promise.all(this.#queues.map((queue) => queue.drain()))
    return this.#chain !== undefined && written.every(Boolean)
  }

  /** Asks the sinks what they hold. The first one that holds a log says where the chain goes on. */
  async #open(): Promise<void> {
    try {
      const openings = []
      for (const { sink } of this.#queues) openings.push(await sink.open?.())
      this.#openFailed = false
      const { head, torn } = openings.find((opening) => opening?.head ?? opening?.torn) ?? {}
      this.#chain = new AuditChain(this.#options.sign, head)
      if (torn === undefined) return
      const time = new Date(this.clock.now()).toISOString()
      this.#unchained.unshift({ type: 'log.recovered', time, facts: { torn } })
    } catch (error) {
      this.#openFailed = true
      this.#opening = undefined
      this.failed(error)
    }
  }

  #chainAll(): void {
    if (this.#chain === undefined) return
    for (const { type, time, facts } of this.#unchained) {
      const entry = this.#chain.next(type, time, facts)
      for (const queue of this.#queues) queue.push(entry)
    }
    this.#unchained = []
  }

  #schedule(): void {
    if (this.#timer !== undefined) return
    const timer = new AbortController()
    this.#timer = timer
    const { batchDelayMs = 1000 } = this.#options
    this.clock.sleep(batchDelayMs, timer.signal).then(
      () => this.#write(),
      () => {},
    )
  }

  /** What `work` comes to, or nothing where it takes too long. */
  async #patiently(
    work: Promise<boolean>,
    signal: AbortSignal | undefined,
  ): Promise<boolean | undefined> {
    const { waitMs = 5000 } = this.#options
    const over = new AbortController()
    const end = (): void => over.abort('over')
    signal?.addEventListener('abort', end)
    const late = this.clock.sleep(waitMs, over.signal).then(nothing, nothing)
    try {
      return await Promise.race([work, late])
    } finally {
      signal?.removeEventListener('abort', end)
      end()
    }
  }

  /** Notes that something could not be recorded or written. */
  failed(error: unknown, sink?: string): void {
    this.#lastError = error
    this.#report({ status: 'failed', error, sink })
  }

  #report(event: Omit<AuditEvent, 'waiting'>): void {
    const { onEvent } = this.#options
    if (onEvent === undefined && !this.#hasWarned) {
      this.#hasWarned = true
      const why = event.error instanceof LamellaError ? ` (${event.error.code})` : ''
      process.emitWarning(`auditLog: records are not written${why}; \`onEvent\` tells more`)
    }
    try {
      onEvent?.({ ...event, waiting: this.#waiting })
    } catch {
      // An observer cannot break what it observes.
    }
  }
}

function nothing(): undefined {}

/** By now, whatever it was before. */
function hasEnded(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}

/** What a run fails with that cannot be recorded, where failures close. */
export function auditFailed(what: string, cause: unknown): LamellaError {
  return new LamellaError(`${what} of the audit log could not be written`, {
    code: 'audit_failed',
    cause,
  })
}
