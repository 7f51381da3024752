import { backgroundTimer } from '@lamella/core/authoring'
import type { ChatServiceOptions } from './chat-options.ts'
import { LiveRun } from './live-run.ts'

type Limits = Pick<ChatServiceOptions, 'maxReplayChars' | 'maxReplayTotalChars' | 'replayMs'>

/** Runs that can be read again, by chat. Finished runs are evicted before active ones. */
export class LiveRuns {
  readonly #runs = new Map<string, LiveRun>()
  readonly #maxChars: number
  readonly #maxTotal: number
  readonly #replayMs: number
  #total = 0

  constructor({
    maxReplayChars = 5_000_000,
    maxReplayTotalChars = 100_000_000,
    replayMs = 60_000,
  }: Limits) {
    this.#maxChars = maxReplayChars
    this.#maxTotal = maxReplayTotalChars
    this.#replayMs = replayMs
  }

  /** Keeps a new run in place of the last one of its chat. */
  start(key: string, isDeleted: () => Promise<boolean>): LiveRun {
    this.#forget(this.#runs.get(key))
    const run = new LiveRun(key, isDeleted)
    this.#runs.set(key, run)
    return run
  }

  get(key: string): LiveRun | undefined {
    return this.#runs.get(key)
  }

  /** Returns true if a run may have this number of further characters. */
  hasRoom(run: LiveRun, chars: number): boolean {
    if (run.chars + chars > this.#maxChars) return false
    for (const other of this.#runs.values()) {
      if (this.#total + chars <= this.#maxTotal) return true
      if (other.isOver) this.#forget(other)
    }
    return this.#total + chars <= this.#maxTotal
  }

  add(run: LiveRun, chunk: string): void {
    run.add(chunk)
    if (this.#keeps(run)) this.#total += chunk.length
  }

  /** Ends a run. It can be read for a while. */
  end(run: LiveRun): void {
    run.end()
    backgroundTimer(() => this.#forget(run), this.#replayMs)
  }

  #keeps(run: LiveRun): boolean {
    return this.#runs.get(run.key) === run
  }

  #forget(run: LiveRun | undefined): void {
    if (run === undefined || !this.#keeps(run)) return
    this.#total -= run.chars
    this.#runs.delete(run.key)
  }
}
