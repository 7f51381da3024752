import { LamellaError } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import { callLater, systemClock } from '@lamella/core/authoring'
import type { UnchainedRecord } from '../record/audit-chain.ts'
import { AuditChain, unchainedRecord } from '../record/audit-chain.ts'
import type { AuditEvent, AuditLogOptions } from './audit-options.ts'
import type { AuditFacts, AuditHead, AuditType } from '../record/audit-record.ts'
import { toSink } from '../sinks/audit-sink.ts'
import { SinkQueue } from '../sinks/sink-queue.ts'

/** Chains records in their order and writes them to the sinks. */
export class AuditTrail {
  readonly clock: Clock
  /** True if a run that cannot be recorded fails. */
  readonly isClosed: boolean
  readonly #options: AuditLogOptions
  readonly #queues: readonly SinkQueue[]
  readonly #maxQueued: number
  readonly #batchSize: number
  readonly #awaits: boolean
  /** Records that wait until the sinks have reported their logs. */
  #unchained: UnchainedRecord[] = []
  #chain: AuditChain | undefined
  #closedAt: AuditHead | undefined
  #opening: Promise<void> | undefined
  #openFailed = false
  #timer: (() => void) | undefined
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
   * Adds a record. Returns a promise only if the caller has to wait, for the sinks or for room.
   * @throws LamellaError `audit_failed` if it cannot be written and `onError` is `closed`
   */
  append(type: AuditType, facts: AuditFacts, signal?: AbortSignal): void | Promise<void> {
    if (this.#waiting >= this.#maxQueued && this.#isFailing && !this.isClosed) {
      this.#report({ status: 'dropped', error: this.#lastError })
      return undefined
    }
    const time = new Date(this.clock.now()).toISOString()
    this.#unchained.push(unchainedRecord(type, time, facts))
    this.#chainAll()
    const mustStop = this.isClosed && this.#isFailing
    if (this.#awaits || mustStop || this.#waiting > this.#maxQueued) return this.flush(signal)
    if (this.#waiting >= this.#batchSize && !this.#isFailing) void this.#write()
    else this.#schedule()
    return undefined
  }

  /**
   * Waits until every record so far is written, at most `waitMs` and until the signal aborts.
   * @throws LamellaError `audit_failed` if they are not written and `onError` is `closed`
   */
  async flush(signal?: AbortSignal): Promise<void> {
    const work = this.#write()
    if (signal?.aborted === true) return
    const isWritten = typeof work === 'boolean' ? work : await this.#patiently(work, signal)
    if (isWritten === true || hasEnded(signal)) return
    if (isWritten === undefined) this.#report({ status: 'late' })
    if (this.isClosed) throw auditFailed(`${this.#waiting} records`, this.#lastError)
  }

  /**
   * Writes what waits and closes the sinks.
   * @throws LamellaError `audit_failed` if it cannot be written; the sinks stay open for the next attempt
   */
  async close(): Promise<void> {
    if (!(await this.#write())) throw auditFailed(`${this.#waiting} records`, this.#lastError)
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

  /** Writes the waiting records. The result is true if all are written. */
  #write(): boolean | Promise<boolean> {
    this.#timer?.()
    this.#timer = undefined
    if (this.#chain !== undefined) return this.#drain()
    this.#opening ??= this.#open()
    return this.#opening.then(() => this.#drain())
  }

  #drain(): boolean | Promise<boolean> {
    this.#chainAll()
    const written = this.#queues.map((queue) => queue.drain())
    const isAll = (all: readonly boolean[]): boolean =>
      this.#chain !== undefined && all.every(Boolean)
    return written.every((each) => typeof each === 'boolean')
      ? isAll(written)
      : Promise.all(written.map((each) => Promise.resolve(each))).then(isAll)
  }

  /** Opens the sinks. The chain continues the log of the first sink that holds one. */
  async #open(): Promise<void> {
    try {
      const openings = []
      for (const { sink } of this.#queues) openings.push(await sink.open?.())
      this.#openFailed = false
      const { head, torn } = openings.find((opening) => opening?.head ?? opening?.torn) ?? {}
      this.#chain = new AuditChain(this.#options.sign, head)
      if (torn === undefined) return
      const time = new Date(this.clock.now()).toISOString()
      this.#unchained.unshift(unchainedRecord('log.recovered', time, { torn }))
    } catch (error) {
      this.#openFailed = true
      this.#opening = undefined
      this.failed(error)
    }
  }

  #chainAll(): void {
    if (this.#chain === undefined) return
    for (const unchained of this.#unchained) {
      const entry = this.#chain.next(unchained)
      for (const queue of this.#queues) queue.push(entry)
    }
    this.#unchained = []
  }

  #schedule(): void {
    if (this.#timer !== undefined) return
    const { batchDelayMs = 1000 } = this.#options
    this.#timer = callLater(this.clock, batchDelayMs, () => void this.#write())
  }

  /** Resolves to the result of `work`, or to `undefined` if it takes too long. */
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

  /** Reports that something could not be recorded or written. */
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
      // Errors of an observer do not fail the run.
    }
  }
}

function nothing(): undefined {}

/** Reads the signal again: it may have aborted meanwhile. */
function hasEnded(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}

/** Creates the error of a run that cannot be recorded, with `onError: 'closed'`. */
export function auditFailed(what: string, cause: unknown): LamellaError {
  return new LamellaError(`${what} of the audit log could not be written`, {
    code: 'audit_failed',
    cause,
  })
}
