import type { ResponseStream } from './response-stream.ts'
import type { Failure } from './update-pump.ts'

/** Builds a final value from updates as they pass. */
export interface StreamFold<Update, Final> {
  add(update: Update): void
  /** `base` is the value without this fold, where there is one. */
  finish(base?: Final): Final | Promise<Final>
}

/** What a `ResponseStream` reads from. */
export interface StreamSource<Update, Final> {
  /** Set by the stream. To be awaited once at the end, before `next` says that it is done. */
  onEnd: (failure: Failure | undefined) => Promise<void>
  /** Whether a pull is on its way. */
  readonly busy: boolean
  next(): Promise<IteratorResult<Update>>
  cancel(reason: unknown): Promise<void>
  final(): Final | Promise<Final>
  /** What had come through when the source failed. */
  partial?(): Final | undefined | Promise<Final | undefined>
  /** How updates that a hook replaced become the final value again. */
  fold?(): StreamFold<Update, Final>
  respond?(id: string, value: unknown): boolean
}

/** A fold that keeps every update and hands the list to a function. */
export function keepUpdates<Update, Final>(
  finalizer: (updates: readonly Update[]) => Final | Promise<Final>,
): StreamFold<Update, Final> {
  const updates: Update[] = []
  return { add: (update) => void updates.push(update), finish: () => finalizer(updates) }
}

abstract class PulledSource<Update, Final> implements StreamSource<Update, Final> {
  onEnd: (failure: Failure | undefined) => Promise<void> = async () => {}
  #pending: Promise<IteratorResult<Update>> | undefined
  #over: Promise<IteratorResult<Update>> | undefined

  get busy(): boolean {
    return this.#pending !== undefined
  }

  next(): Promise<IteratorResult<Update>> {
    const turn = (this.#pending ?? Promise.resolve()).then(
      () => this.#step(),
      () => this.#step(),
    )
    const pending = turn.finally(() => {
      if (this.#pending === pending) this.#pending = undefined
    })
    this.#pending = pending
    return pending
  }

  async cancel(reason: unknown): Promise<void> {
    if (this.#over !== undefined) return
    const closing = this.close(reason)
    await this.#finish({ error: reason }).catch(() => {})
    await closing
  }

  protected abstract pull(): Promise<IteratorResult<Update>>
  protected abstract close(reason: unknown): Promise<void>
  abstract final(): Final | Promise<Final>

  async #step(): Promise<IteratorResult<Update>> {
    if (this.#over !== undefined) return this.#over
    let step: IteratorResult<Update>
    try {
      step = await this.pull()
    } catch (error) {
      return this.#finish({ error })
    }
    return step.done === true ? this.#finish(undefined) : (this.#over ?? step)
  }

  #finish(failure: Failure | undefined): Promise<IteratorResult<Update>> {
    this.#over ??= this.onEnd(failure).then(() => {
      if (failure !== undefined) throw failure.error
      return { done: true, value: undefined }
    })
    return this.#over
  }
}

/** Reads any iterable. */
export class IterableSource<Update, Final> extends PulledSource<Update, Final> {
  readonly #iterable: AsyncIterable<Update> | Iterable<Update>
  readonly #fold: StreamFold<Update, Final>
  #hooked = false
  #iterator: AsyncIterator<Update> | Iterator<Update> | undefined

  constructor(
    iterable: AsyncIterable<Update> | Iterable<Update>,
    fold: StreamFold<Update, Final>,
  ) {
    super()
    this.#iterable = iterable
    this.#fold = fold
  }

  /** A stream with transform hooks folds what they made of the updates. */
  fold(): StreamFold<Update, Final> {
    this.#hooked = true
    return this.#fold
  }

  final(): Final | Promise<Final> {
    return this.#hooked ? (undefined as Final) : this.#fold.finish()
  }

  protected async pull(): Promise<IteratorResult<Update>> {
    this.#iterator ??=
      Symbol.asyncIterator in this.#iterable
        ? this.#iterable[Symbol.asyncIterator]()
        : this.#iterable[Symbol.iterator]()
    const step = await this.#iterator.next()
    if (step.done !== true && !this.#hooked) this.#fold.add(step.value)
    return step
  }

  protected async close(): Promise<void> {
    await this.#iterator?.return?.()
  }
}

/** Reads another stream and makes none, one or many updates of each of its own. */
export class DerivedSource<Inner, InnerFinal, Update, Final> extends IterableSource<Update, Final> {
  readonly #inner: ResponseStream<Inner, InnerFinal>

  constructor(
    inner: ResponseStream<Inner, InnerFinal>,
    transform: (update: Inner) => Iterable<Update> | Promise<Iterable<Update>>,
    fold: StreamFold<Update, Final>,
  ) {
    super(flatten(inner, transform), fold)
    this.#inner = inner
  }

  respond(id: string, value: unknown): boolean {
    return this.#inner.respond(id, value)
  }

  protected override async close(reason?: unknown): Promise<void> {
    await this.#inner.cancel(reason)
  }
}

async function* flatten<Inner, Update>(
  inner: AsyncIterable<Inner>,
  transform: (update: Inner) => Iterable<Update> | Promise<Iterable<Update>>,
): AsyncGenerator<Update> {
  for await (const update of inner) yield* await transform(update)
}

/** Reads a stream that is made on the first pull. */
export class LazySource<Update, Final> extends PulledSource<Update, Final> {
  readonly #make:
    | PromiseLike<ResponseStream<Update, Final>>
    | (() => ResponseStream<Update, Final> | Promise<ResponseStream<Update, Final>>)
  #inner: ResponseStream<Update, Final> | undefined
  #iterator: AsyncIterator<Update> | undefined

  constructor(
    make:
      | PromiseLike<ResponseStream<Update, Final>>
      | (() => ResponseStream<Update, Final> | Promise<ResponseStream<Update, Final>>),
  ) {
    super()
    this.#make = make
    // Its rejection belongs to whoever reads first, not to the process.
    if (typeof make !== 'function') make.then(undefined, () => {})
  }

  async final(): Promise<Final> {
    return this.#inner!.finalResponse()
  }

  respond(id: string, value: unknown): boolean {
    return this.#inner?.respond(id, value) ?? false
  }

  protected async pull(): Promise<IteratorResult<Update>> {
    if (this.#iterator === undefined) {
      this.#inner = await (typeof this.#make === 'function' ? this.#make() : this.#make)
      this.#iterator = this.#inner[Symbol.asyncIterator]()
    }
    return this.#iterator.next()
  }

  protected async close(reason: unknown): Promise<void> {
    await this.#inner?.cancel(reason)
  }
}
