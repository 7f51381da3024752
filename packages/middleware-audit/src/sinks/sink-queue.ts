import type { AuditEntry } from '../record/audit-record.ts'
import type { AuditSink } from './audit-sink.ts'

/** Queue of records for one sink. */
export class SinkQueue {
  readonly sink: AuditSink
  readonly #batchSize: number
  readonly #onFailure: (error: unknown) => void
  readonly #waiting: AuditEntry[] = []
  #written = 0
  #work: Promise<void> | undefined
  #failed = false

  constructor(sink: AuditSink, batchSize: number, onFailure: (error: unknown) => void) {
    this.sink = sink
    this.#batchSize = batchSize
    this.#onFailure = onFailure
  }

  get size(): number {
    return this.#waiting.length
  }

  /** True if the last write failed. */
  get failed(): boolean {
    return this.#failed
  }

  push(entry: AuditEntry): void {
    this.#waiting.push(entry)
  }

  /** Writes the records that wait now. The result is false after a failure; the next call tries again. */
  drain(): boolean | Promise<boolean> {
    const until = this.#written + this.#waiting.length
    // A sink that writes at once is not waited for.
    while (this.#work === undefined && this.#written < until) {
      this.#writeBatch()
      if (this.#work === undefined && this.#failed) return false
    }
    return this.#work === undefined || this.#drainLater(until)
  }

  async #drainLater(until: number): Promise<boolean> {
    while (this.#written < until) {
      if (this.#work === undefined) this.#writeBatch()
      await this.#work
      if (this.#failed) return false
    }
    return true
  }

  #writeBatch(): void {
    const batch = this.#waiting.slice(0, this.#batchSize)
    const written = (): void => {
      this.#waiting.splice(0, batch.length)
      this.#written += batch.length
      this.#failed = false
      this.#work = undefined
    }
    const failed = (error: unknown): void => {
      this.#failed = true
      this.#onFailure(error)
      this.#work = undefined
    }
    // Calls do not overlap, also if the sink itself has the log written.
    this.#work = writing
    try {
      const work = this.sink.write(batch)
      if (work === undefined) written()
      else this.#work = Promise.resolve(work).then(written, failed)
    } catch (error) {
      failed(error)
    }
  }
}

const writing: Promise<void> = Promise.resolve()
