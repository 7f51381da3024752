import type { ChunkSource } from '../http/event-body.ts'

/** Chunks that a run has sent so far, for readers that connect, disconnect and reconnect. */
export class LiveRun {
  readonly key: string
  /** Resolves to true if nobody may read the run any more. */
  readonly isDeleted: () => Promise<boolean>
  readonly #chunks: string[] = []
  #chars = 0
  #isOver = false
  #waiting: (() => void)[] = []

  constructor(key: string, isDeleted: () => Promise<boolean>) {
    this.key = key
    this.isDeleted = isDeleted
  }

  /** Characters of all chunks. */
  get chars(): number {
    return this.#chars
  }

  get isOver(): boolean {
    return this.#isOver
  }

  add(chunk: string): void {
    this.#chars += chunk.length
    this.#chunks.push(chunk)
    this.#notify()
  }

  end(): void {
    this.#isOver = true
    this.#notify()
  }

  /** Reads from the first chunk on. A reader that leaves changes nothing. */
  read(): ChunkSource {
    let at = 0
    const left = new AbortController()
    return {
      next: async () => {
        while (at >= this.#chunks.length && !this.#isOver && !left.signal.aborted) {
          // oxlint-disable-next-line no-await-in-loop
          await new Promise<void>((resolve) => this.#waiting.push(resolve))
        }
        return left.signal.aborted ? undefined : this.#chunks[at++]
      },
      cancel: () => {
        left.abort()
        this.#notify()
      },
    }
  }

  #notify(): void {
    for (const resume of this.#waiting.splice(0)) resume()
  }
}
