import type { PassingUpdate, UpdatePassage } from './update-passage.ts'

/** Where the updates of a call go: to a consumer who pulls them, or nowhere but into the fold. */
export interface UpdateSink<Update extends PassingUpdate> {
  readonly streaming: boolean
  /** Whether the consumer waits for an update. */
  readonly busy: boolean
  /** Updates with content that have reached the consumer. */
  readonly delivered: number
  /** Lets a source run through a passage to its end. Rejects with what the source or a transform throws. */
  drive(
    source: AsyncIterable<Update> | Iterable<Update>,
    passage: UpdatePassage<Update>,
  ): Promise<void>
  /** What updates that were made elsewhere pass on their way out. */
  outer: UpdatePassage<Update> | undefined
  /** Adds an update that was made elsewhere. */
  push(update: Update): void
  /** Whether content has reached the consumer or is on its way. */
  readonly released: boolean
  /** Closes the running source, if there is one: its drive rejects. */
  breakOff(error: unknown): void
}

/** Holds what was thrown, since anything can be, also `undefined`. */
export interface Failure {
  readonly error: unknown
}
