import type { StreamFailure } from './stream-outcome.ts'
import type { Failure } from './update-sink.ts'

/** Builds a final value from updates as they pass. */
export interface StreamFold<Update, Final> {
  /** Adds an update. */
  add(update: Update): void
  /** `base` is the value without this fold, where there is one. */
  finish(base?: Final): Final | Promise<Final>
}

/** Source of a `ResponseStream`. */
export interface StreamSource<Update, Final> {
  /** Set by the stream. To be awaited once at the end, before `next` says that it is done. */
  onEnd: (failure: Failure | undefined) => Promise<void>
  /** True while a pull is in progress. */
  readonly busy: boolean
  /** Pulls the next update. */
  next(): Promise<IteratorResult<Update>>
  /** Resolves when all is over. */
  cancel(reason: unknown): Promise<void>
  /** Returns the final value. Called after the last update. */
  final(): Final | Promise<Final>
  /** How it ended with an error; without it the error alone tells. */
  failure?(error: unknown): StreamFailure<Final> | Promise<StreamFailure<Final>>
  /** Returns a new fold that makes the final value of updates that hooks replaced. */
  fold?(): StreamFold<Update, Final>
  /** Answers a request of the run. Returns false if nothing waits for this id. */
  respond?(id: string, value: unknown): boolean
}

/** Makes the final value of a stream from its updates (which are then kept), or from a fold. */
export type Finalizer<Update, Final> =
  | ((updates: readonly Update[]) => Final | Promise<Final>)
  | StreamFold<Update, Final>

/** Returns what makes a new fold each time. A fold that the caller made can be had once. */
export function foldsOf<Update, Final>(
  finalizer: Finalizer<Update, Final>,
): () => StreamFold<Update, Final> {
  if (typeof finalizer === 'function') {
    return () => {
      const updates: Update[] = []
      return { add: (update) => void updates.push(update), finish: () => finalizer(updates) }
    }
  }
  let isTaken = false
  return () => {
    if (isTaken) throw unfoldable()
    isTaken = true
    return finalizer
  }
}

/** Makes the error for a hook on a stream whose final value cannot be made anew. */
export function unfoldable(): TypeError {
  return new TypeError('a transform hook has no way into the final value of this stream; use map()')
}
