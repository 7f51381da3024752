import type { AgentResponseUpdate } from '@lamella/core'
import { callLater, systemClock } from '@lamella/core/authoring'
import type { RunEntry, RunStore } from './run-store.ts'

/** Writes the updates of a run for its subscribers, several at once, in order. */
export class UpdateWriter {
  readonly #store: RunStore
  readonly #runId: string
  readonly #owner: string
  readonly #flushMs: number
  #waiting: RunEntry[] = []
  #stopTimer: (() => void) | undefined
  #writing: Promise<void> = Promise.resolve()
  #failure: { readonly error: unknown } | undefined

  constructor(store: RunStore, runId: string, owner: string, flushMs: number) {
    this.#store = store
    this.#runId = runId
    this.#owner = owner
    this.#flushMs = flushMs
  }

  /** @throws what an earlier write failed with */
  write({ raw: _raw, ...update }: AgentResponseUpdate): void {
    if (this.#failure !== undefined) throw this.#failure.error
    this.#waiting.push({ kind: 'update', update })
    if (this.#waiting.length >= mostAtOnce) void this.flush()
    else this.#stopTimer ??= callLater(systemClock, this.#flushMs, () => void this.flush())
  }

  /** Resolves when all that came before is written. Never rejects: `write` throws what went wrong. */
  flush(): Promise<void> {
    this.#stopTimer?.()
    this.#stopTimer = undefined
    const entries = this.#waiting
    this.#waiting = []
    this.#writing = this.#writing
      .then(() => this.#store.append(this.#runId, this.#owner, entries))
      .catch((error: unknown) => {
        this.#failure = { error }
      })
    return this.#writing
  }
}

const mostAtOnce = 100
