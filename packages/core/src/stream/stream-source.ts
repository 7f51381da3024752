import { iteratorOf } from '../base/iterators.ts'
import { LamellaError } from '../base/lamella-error.ts'
import { SerialQueue } from '../base/serial-queue.ts'
import type { StreamFailure } from './stream-outcome.ts'
import { endedBy } from './stream-outcome.ts'
import type { Failure } from './update-sink.ts'
import type { UpdateStream } from './update-stream.ts'

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
  /** How updates that a hook replaced become the final value; the source leaves that to this fold. */
  fold?(): StreamFold<Update, Final>
  /** True if each call of `fold` returns a new fold. */
  readonly foldsAnew?: boolean
  /** Answers a request of the run. Returns false if nothing waits for this id. */
  respond?(id: string, value: unknown): boolean
}

/** Makes the final value of a stream from its updates (which are then kept), or from a fold. */
export type Finalizer<Update, Final> =
  | ((updates: readonly Update[]) => Final | Promise<Final>)
  | StreamFold<Update, Final>

export function toFold<Update, Final>(
  finalizer: Finalizer<Update, Final>,
): StreamFold<Update, Final> {
  if (typeof finalizer !== 'function') return finalizer
  const updates: Update[] = []
  return { add: (update) => void updates.push(update), finish: () => finalizer(updates) }
}

/** Pulls one update at a time; a cancel ends a pull that never settles. */
export abstract class PulledSource<Update, Final> implements StreamSource<Update, Final> {
  onEnd: (failure: Failure | undefined) => Promise<void> = async () => {}
  readonly #turns = new SerialQueue()
  #over: Promise<IteratorResult<Update>> | undefined
  /** Ends the pull in progress. */
  #letGo: ((over: Promise<IteratorResult<Update>>) => void) | undefined
  #isCancelled = false

  get busy(): boolean {
    return this.#turns.busy
  }

  next(): Promise<IteratorResult<Update>> {
    return this.#turns.take(() => this.#over ?? this.#step())
  }

  async cancel(reason: unknown): Promise<void> {
    if (this.#over === undefined) {
      this.#isCancelled = true
      const closing = this.close(reason, this.#letGo !== undefined)
      const over = closing.then(
        () => this.#end({ error: reason }),
        () => this.#end({ error: reason }),
      )
      this.#over = over
      this.#letGo?.(over)
    }
    await this.#over.catch(() => {})
  }

  async failure(error: unknown): Promise<StreamFailure<Final>> {
    // An inner stream that somebody else reads has not ended.
    const inner = LamellaError.is(error, 'stream_consumed') ? undefined : await this.innerFailure()
    if (inner !== undefined && inner.error === error) return inner
    return endedBy(error, this.#isCancelled ? { isAborted: true } : {})
  }

  /** How the stream ended that this one is made from. */
  protected innerFailure(): Promise<StreamFailure<Final> | undefined> {
    return Promise.resolve(undefined)
  }

  protected abstract pull(): Promise<IteratorResult<Update>>
  /** While it is being pulled, a source may not be able to close: then this does not wait for it. */
  protected abstract close(reason: unknown, isPulling: boolean): Promise<void>
  abstract final(): Final | Promise<Final>

  #step(): Promise<IteratorResult<Update>> {
    return new Promise((resolve) => {
      this.#letGo = resolve
      const settle = (step: IteratorResult<Update> | Promise<IteratorResult<Update>>): void => {
        this.#letGo = undefined
        resolve(step)
      }
      this.pull().then(
        (step) => settle(step.done === true ? (this.#over ??= this.#end(undefined)) : step),
        (error: unknown) => settle((this.#over ??= this.#end({ error }))),
      )
    })
  }

  async #end(failure: Failure | undefined): Promise<IteratorResult<Update>> {
    await this.onEnd(failure)
    if (failure !== undefined) throw failure.error
    return { done: true, value: undefined }
  }
}

/** Reads any iterable. */
export class IterableSource<Update, Final> extends PulledSource<Update, Final> {
  readonly #iterable: AsyncIterable<Update> | Iterable<Update>
  readonly #fold: StreamFold<Update, Final>
  #isHooked = false
  #iterator: AsyncIterator<Update> | Iterator<Update> | undefined

  constructor(iterable: AsyncIterable<Update> | Iterable<Update>, fold: StreamFold<Update, Final>) {
    super()
    this.#iterable = iterable
    this.#fold = fold
  }

  fold(): StreamFold<Update, Final> {
    this.#isHooked = true
    return this.#fold
  }

  final(): Final | Promise<Final> {
    return this.#isHooked ? (undefined as Final) : this.#fold.finish()
  }

  protected async pull(): Promise<IteratorResult<Update>> {
    this.#iterator ??= iteratorOf(this.#iterable)
    const step = await this.#iterator.next()
    if (step.done === true || this.#isHooked) return step
    try {
      this.#fold.add(step.value)
    } catch (error) {
      await this.#return()
      throw error
    }
    return step
  }

  protected async close(_reason: unknown, isPulling: boolean): Promise<void> {
    const returning = this.#return()
    if (!isPulling) await returning
  }

  /** Closes the iterator. Errors that it throws while closing are discarded. */
  async #return(): Promise<void> {
    try {
      await this.#iterator?.return?.()
    } catch {
      // See above.
    }
  }
}

/** Reads another stream and makes none, one or many updates of each of its own. */
export class DerivedSource<Inner, InnerFinal, Update, Final> extends IterableSource<Update, Final> {
  readonly #inner: UpdateStream<Inner, InnerFinal>

  constructor(
    inner: UpdateStream<Inner, InnerFinal>,
    transform: (update: Inner) => Iterable<Update> | Promise<Iterable<Update>>,
    fold: StreamFold<Update, Final>,
  ) {
    super(flatten(inner, transform), fold)
    this.#inner = inner
  }

  respond(id: string, value: unknown): boolean {
    return this.#inner.respond(id, value)
  }

  protected override async innerFailure(): Promise<StreamFailure<Final> | undefined> {
    const outcome = await this.#inner.outcome()
    return outcome.status === 'done' ? undefined : { ...outcome, partial: undefined }
  }

  protected override async close(reason: unknown, isPulling: boolean): Promise<void> {
    await this.#inner.cancel(reason)
    await super.close(reason, isPulling)
  }
}

async function* flatten<Inner, Update>(
  inner: AsyncIterable<Inner>,
  transform: (update: Inner) => Iterable<Update> | Promise<Iterable<Update>>,
): AsyncGenerator<Update> {
  for await (const update of inner) yield* await transform(update)
}
