import type { RecordedRun, RecordingSink } from './recorder-options.ts'

/** Hands the lines of one recording to its sink: one write at a time, and what comes meanwhile at once. */
export class LineWriter {
  readonly #sink: RecordingSink
  readonly #run: RecordedRun
  readonly #onFailure: (error: unknown, lines: number) => void
  #waiting = ''
  #work: Promise<void> | undefined

  constructor(
    sink: RecordingSink,
    run: RecordedRun,
    onFailure: (error: unknown, lines: number) => void,
  ) {
    this.#sink = sink
    this.#run = run
    this.#onFailure = onFailure
  }

  write(lines: string): void {
    this.#waiting += lines
    this.#work ??= this.#writeAll()
  }

  /** Resolves once everything that was given by now was written, or could not be. */
  async done(): Promise<void> {
    await this.#work
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting !== '') {
      const lines = this.#waiting
      this.#waiting = ''
      try {
        await this.#sink.write(lines, this.#run)
      } catch (error) {
        this.#onFailure(error, lines.split('\n').length - 1)
      }
    }
    this.#work = undefined
  }
}
