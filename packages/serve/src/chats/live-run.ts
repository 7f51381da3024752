import type { ChunkSource } from '../http/event-body.ts'

/** Chunks that a run has sent so far, for readers that come, leave and come again. */
export class LiveRun {
  readonly #chunks: string[] = []
  readonly #maxChars: number
  #chars = 0
  #isOver = false
  #waiting: (() => void)[] = []

  constructor(maxChars: number) {
    this.#maxChars = maxChars
  }

  /** Adds a chunk; false if there is no room for it. The last one always has room. */
  add(chunk: string, isLast = false): boolean {
    this.#chars += chunk.length
    if (this.#chars > this.#maxChars && !isLast) return false
    this.#chunks.push(chunk)
    this.#notify()
    return true
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
