import type { StreamUpdate, TransformPipeline } from './transform-pipeline.ts'

/** Destination of a call's updates: a consumer that pulls them, or only the fold. */
export interface UpdateSink<Update extends StreamUpdate> {
  readonly streaming: boolean
  /** True while the consumer waits for an update. */
  readonly busy: boolean
  /** Updates with content that have reached the consumer. */
  readonly delivered: number
  /** Runs a source through a pass to its end. Rejects with errors of the source or a transform. */
  drive(
    source: AsyncIterable<Update> | Iterable<Update>,
    transforms: TransformPipeline<Update>,
  ): Promise<void>
  /** Transforms for updates that are pushed. */
  outer: TransformPipeline<Update> | undefined
  /** Adds an update that no source produced. */
  push(update: Update): void
  /** True once content has reached the consumer or is queued for it. */
  readonly released: boolean
  /** Resolves when the consumer asks for more than what was pushed. Undefined if it waits already. */
  caughtUp(): Promise<void> | undefined
  /** Closes the running source, if there is one: its drive rejects. */
  breakOff(error: unknown): void
}

/** Holds what was thrown, since anything can be, also `undefined`. */
export interface Failure {
  readonly error: unknown
}

/** Without a consumer, a source is driven at once. It keeps nothing, so one serves all runs. */
export class NullSink<Update extends StreamUpdate> implements UpdateSink<Update> {
  readonly streaming = false
  readonly busy = true
  readonly delivered = 0
  readonly released = false
  readonly outer = undefined

  async drive(
    source: AsyncIterable<Update> | Iterable<Update>,
    transforms: TransformPipeline<Update>,
  ): Promise<void> {
    const out: Update[] = []
    const starting = transforms.start(out)
    if (starting !== undefined) await starting
    // Most sources are lists, a plain response as updates: no update of them is waited for.
    if (Symbol.iterator in source) {
      for (const update of source) {
        const waiting = transforms.pass(update, out)
        if (waiting !== undefined) await waiting
        out.length = 0
        if (transforms.terminated) break
      }
    } else {
      for await (const update of source) {
        await transforms.pass(update, out)
        out.length = 0
        if (transforms.terminated) break
      }
    }
    const flushing = transforms.flush(out)
    if (flushing !== undefined) await flushing
  }

  push(): void {}
  caughtUp(): undefined {}
  breakOff(): void {}
}
