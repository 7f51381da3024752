import type { AgentResponse, AgentResponseUpdate, ResponseStream } from '@lamella/core'
import { LamellaError } from '@lamella/core'
import { callLater, jsonCopy, systemClock } from '@lamella/core/authoring'

/** One thing that happened in a run: an update, its end or pause, or its failure. */
export interface Entry {
  readonly update?: AgentResponseUpdate
  readonly ended?: AgentResponse
  readonly failed?: { readonly message: string; readonly code: string }
}

/** Entries that were written together. */
export interface Batch {
  /** Pass of the workflow that has written it. */
  readonly pass: string
  /** True for the first one of its pass. */
  readonly begins: boolean
  readonly entries: readonly Entry[]
}

/** Numbered places of batches in a store. */
export interface BatchPlaces {
  /** Writes a batch, unless its place is taken. */
  append(at: number, batch: Batch): Promise<boolean>
  readonly isTaken: (at: number) => Promise<boolean>
}

/** Writes the updates of one pass, several at once, in order. */
export class UpdateWriter {
  readonly #places: BatchPlaces
  readonly #flushMs: number
  readonly #onError: (error: unknown) => void
  readonly #pass: string = crypto.randomUUID()
  #waiting: Entry[] = []
  #at = 0
  #begins = true
  #stopTimer: (() => void) | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(places: BatchPlaces, flushMs: number, onError: (error: unknown) => void) {
    this.#places = places
    this.#flushMs = flushMs
    this.#onError = onError
  }

  /** Writes a stream. Resolves to its response, or rejects as it does. */
  async write(stream: ResponseStream<AgentResponseUpdate, AgentResponse>): Promise<AgentResponse> {
    try {
      for await (const { raw: _raw, ...update } of stream) this.#add({ update })
      const response = await stream.finalResponse()
      // A reader gets no checkpoint: whoever has it can continue the run.
      this.#add({ ended: { ...response, raw: undefined, checkpoint: undefined } })
      return response
    } catch (error) {
      const code = LamellaError.is(error) ? error.code : 'run_failed'
      this.#add({ failed: { message: 'The run has failed.', code } })
      throw error
    } finally {
      for (let tries = 0; this.#waiting.length > 0 && tries < 3; tries++) await this.#flush()
    }
  }

  /** Says that this pass is the one to read from now on. */
  begin(): Promise<void> {
    return this.#flush()
  }

  #add(entry: Entry): void {
    this.#waiting.push(jsonCopy(entry))
    this.#stopTimer ??= callLater(systemClock, this.#flushMs, () => void this.#flush())
  }

  /** Finds the first free place after one that is taken, in few steps: there are no gaps. */
  async #endAfter(taken: number): Promise<number> {
    const { isTaken } = this.#places
    let free = taken + 1
    for (let step = 1; await isTaken(free); step *= 2) [taken, free] = [free, free + step]
    while (free - taken > 1) {
      const middle = Math.floor((taken + free) / 2)
      if (await isTaken(middle)) taken = middle
      else free = middle
    }
    return free
  }

  #flush(): Promise<void> {
    this.#stopTimer?.()
    this.#stopTimer = undefined
    this.#writing = this.#writing.then(() => this.#write())
    return this.#writing
  }

  async #write(): Promise<void> {
    const entries = this.#waiting
    if (entries.length === 0 && !this.#begins) return
    this.#waiting = []
    const batch = { pass: this.#pass, begins: this.#begins, entries }
    try {
      while (!(await this.#places.append(this.#at, batch))) {
        // Earlier passes have written before.
        this.#at = this.#begins ? await this.#endAfter(this.#at) : this.#at + 1
      }
      this.#at++
      this.#begins = false
    } catch (error) {
      this.#waiting = [...entries, ...this.#waiting]
      this.#onError(error)
    }
  }
}
