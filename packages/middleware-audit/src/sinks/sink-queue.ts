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

  /** Writes the records that wait now. Resolves to false at a failure; the next call tries again. */
  async drain(): Promise<boolean> {
    const until = this.#written + this.#waiting.length
    while (this.#written < until) {
      // Deferred: a sink that throws synchronously must not finish before `#work` is set.
      this.#work ??= Promise.resolve().then(() => this.#writeBatch())
      await this.#work
      if (this.#failed) return false
    }
    return true
  }

  async #writeBatch(): Promise<void> {
    const batch = this.#waiting.slice(0, this.#batchSize)
    try {
      await this.sink.write(batch)
      this.#waiting.splice(0, batch.length)
      this.#written += batch.length
      this.#failed = false
    } catch (error) {
      this.#failed = true
      this.#onFailure(error)
    } finally {
      this.#work = undefined
    }
  }
}
