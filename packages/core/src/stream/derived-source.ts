import { iteratorOf } from '../base/iterators.ts'
import { LamellaError } from '../base/lamella-error.ts'
import type { StreamFailure } from './stream-outcome.ts'
import { endedBy } from './stream-outcome.ts'
import type { StreamFold, StreamSource } from './stream-source.ts'
import { unfoldable } from './stream-source.ts'
import type { Failure } from './update-sink.ts'

/** Describes a stream that is made from something else: an iterable, or other streams. */
export interface Derivation<Update, Final> {
  /** Reads the next update. The next call waits until this one has settled. */
  pull(): Promise<IteratorResult<Update>>
  /** Ends what is read. While a pull is in progress, an iterable may not be able to close. */
  close(reason: unknown, isPulling: boolean): Promise<void>
  /** Returns a new fold of this stream's updates. */
  fold(): StreamFold<Update, Final>
  /** Returns the final value of updates that no hook replaced. Without it the fold makes it. */
  final?(): Final | Promise<Final>
  /** Tells how what is read has ended with this error, if it has. */
  failure?(error: unknown): Promise<StreamFailure<Final> | undefined>
  /** Answers a request of the run. */
  respond?(id: string, value: unknown): boolean
}

/**
 * The source of every stream that is made from something else. Pulls one update at a time, lets
 * the hooks replace it and folds what they return. A cancel ends a pull that never settles.
 */
export class DerivedSource<Update, Final> implements StreamSource<Update, Final> {
  onEnd: (failure: Failure | undefined) => Promise<void> = async () => {}
  readonly #of: Derivation<Update, Final>
  readonly #hooks: ((update: Update) => unknown)[] = []
  #fold: StreamFold<Update, Final> | undefined
  #turn: Promise<IteratorResult<Update>> | undefined
  #over: Promise<IteratorResult<Update>> | undefined
  /** Ends the pull in progress. */
  #letGo: ((over: Promise<IteratorResult<Update>>) => void) | undefined
  #isCancelled = false
  /** Error of a hook or of the fold. */
  #fault: Failure | undefined

  constructor(of: Derivation<Update, Final>) {
    this.#of = of
    if (of.final === undefined) this.#fold = of.fold()
  }

  get busy(): boolean {
    return this.#turn !== undefined
  }

  addHook(hook: (update: Update) => unknown): void {
    this.#fold ??= this.#of.fold()
    this.#hooks.push(hook)
  }

  next(): Promise<IteratorResult<Update>> {
    const step = (): Promise<IteratorResult<Update>> => this.#over ?? this.#step()
    const turn = this.#turn === undefined ? step() : this.#turn.then(step, step)
    this.#turn = turn
    const settled = (): void => {
      if (this.#turn === turn) this.#turn = undefined
    }
    turn.then(settled, settled)
    return turn
  }

  async cancel(reason: unknown): Promise<void> {
    if (this.#over === undefined) {
      this.#isCancelled = true
      const end = (): Promise<IteratorResult<Update>> => this.#end({ error: reason })
      this.#over = this.#of.close(reason, this.#letGo !== undefined).then(end, end)
      this.#letGo?.(this.#over)
    }
    await this.#over.catch(() => {})
  }

  final(): Final | Promise<Final> {
    return this.#fold === undefined ? this.#of.final!() : this.#fold.finish()
  }

  async failure(error: unknown): Promise<StreamFailure<Final>> {
    // A stream that somebody else reads has not ended.
    const isConsumed = LamellaError.is(error, 'stream_consumed')
    const inner = isConsumed ? undefined : await this.#of.failure?.(error)
    const own = endedBy<Final>(error, this.#isCancelled ? { isAborted: true } : {})
    const failure = inner !== undefined && inner.error === error ? inner : own
    return this.#fault?.error === error ? { ...failure, status: 'failed' } : failure
  }

  fold(): StreamFold<Update, Final> {
    return this.#of.fold()
  }

  respond(id: string, value: unknown): boolean {
    return this.#of.respond?.(id, value) ?? false
  }

  #step(): Promise<IteratorResult<Update>> {
    return new Promise((resolve) => {
      this.#letGo = resolve
      const settle = (step: IteratorResult<Update> | Promise<IteratorResult<Update>>): void => {
        this.#letGo = undefined
        resolve(step)
      }
      this.#pull().then(
        (step) => settle(step.done === true ? (this.#over ??= this.#end(undefined)) : step),
        (error: unknown) => settle((this.#over ??= this.#end({ error }))),
      )
    })
  }

  async #pull(): Promise<IteratorResult<Update>> {
    const step = await this.#of.pull()
    if (step.done === true || this.#fold === undefined) return step
    let update = step.value
    try {
      for (const hook of this.#hooks) update = ((await hook(update)) as Update) ?? update
      this.#fold.add(update)
    } catch (error) {
      this.#fault = { error }
      await this.#of.close(error, false)
      throw error
    }
    return { done: false, value: update }
  }

  async #end(failure: Failure | undefined): Promise<IteratorResult<Update>> {
    await this.onEnd(failure)
    if (failure !== undefined) throw failure.error
    return { done: true, value: undefined }
  }
}

/** Derives a stream from any iterable. */
export function overIterable<Update, Final>(
  iterable: AsyncIterable<Update> | Iterable<Update>,
  fold: () => StreamFold<Update, Final>,
): Derivation<Update, Final> {
  let iterator: AsyncIterator<Update> | Iterator<Update> | undefined
  return {
    fold,
    pull: async () => (iterator ??= iteratorOf(iterable)).next(),
    async close(_reason, isPulling) {
      // Errors of an iterator that closes are discarded.
      const closing = (async () => iterator?.return?.())().catch(() => {})
      if (!isPulling) await closing
    },
  }
}

/** Derives from a source that cannot have hooks itself. */
export function overSource<Update, Final>(
  source: StreamSource<Update, Final>,
): Derivation<Update, Final> {
  return {
    pull: () => source.next(),
    close: (reason) => source.cancel(reason),
    fold() {
      const fold = source.fold?.()
      if (fold === undefined) throw unfoldable()
      return {
        add: (update) => fold.add(update),
        finish: async (base) => fold.finish(base ?? (await source.final())),
      }
    },
    failure: async (error) => source.failure?.(error),
    respond: (id, value) => source.respond?.(id, value) ?? false,
  }
}
