import { LamellaError } from '../base/lamella-error.ts'
import { DerivedSource, overIterable, overSource } from './derived-source.ts'
import type { StreamMaker } from './inner-stream.ts'
import { awaited, refinalized, transformed } from './inner-stream.ts'
import { Queue } from './queue.ts'
import type { StreamFailure, StreamOutcome } from './stream-outcome.ts'
import { endedBy } from './stream-outcome.ts'
import type { Finalizer, StreamFold, StreamSource } from './stream-source.ts'
import { foldsOf, unfoldable } from './stream-source.ts'
import type { TextOptions } from './text-pieces.ts'
import { textPieces } from './text-pieces.ts'
import type { Failure } from './update-sink.ts'

type Awaitable<Value> = Value | Promise<Value>

/**
 * A stream of updates with a final value. It starts with the first pull, is read once, and settles
 * once. At its end: flush of the transforms → cleanup hooks → finalizer → result hooks → done; the
 * inner stream of a derived one first.
 */
export class ResponseStream<Update, Final> implements AsyncIterable<Update>, AsyncDisposable {
  #source: StreamSource<Update, Final>
  readonly #cleanupHooks: (() => unknown)[] = []
  /** Typed so that a stream with a narrower final value is assignable to one with a wider. */
  readonly #resultHooks: ((final: never) => unknown)[] = []
  #outcome: StreamOutcome<Final> | undefined
  #markEnded: (() => void) | undefined
  #isEnding = false
  #iterator: AsyncIterator<Update> | undefined
  #drain: Promise<void> | undefined
  /** The drain's pull in progress. Resolves to true at the end. */
  #draining: Promise<boolean> | undefined
  /** Updates that a drain read while the reader paused. */
  readonly #unread = new Queue<{ readonly value: Update }>()
  #hasBegun = false

  /** For makers of streams; `ResponseStream.from` is the usual way. */
  constructor(source: StreamSource<Update, Final>) {
    this.#source = source
    source.onEnd = this.#end
  }

  /**
   * A stream over any iterable. Without a finalizer the final value is the list of updates.
   *
   * @example
   * ```ts
   * import { ResponseStream } from '@lamella/core'
   *
   * const stream = ResponseStream.from(['Hel', 'lo'], { finalizer: (pieces) => pieces.join('') })
   * for await (const piece of stream) console.log(piece) // Hel, lo
   * console.log(await stream.finalResponse()) // Hello
   * ```
   */
  static from<Update>(
    source: AsyncIterable<Update> | Iterable<Update>,
  ): ResponseStream<Update, readonly Update[]>
  static from<Update, Final>(
    source: AsyncIterable<Update> | Iterable<Update>,
    options: { readonly finalizer: Finalizer<Update, Final> },
  ): ResponseStream<Update, Final>
  static from<Update, Final>(
    source: AsyncIterable<Update> | Iterable<Update>,
    options?: { readonly finalizer: Finalizer<Update, Final> },
  ): ResponseStream<Update, Final | readonly Update[]> {
    const finalizer: Finalizer<Update, Final | readonly Update[]> =
      options?.finalizer ?? ((updates) => updates)
    return new ResponseStream(new DerivedSource(overIterable(source, foldsOf(finalizer))))
  }

  /**
   * Creates a stream from a promise of one, or from a function that is called on the first pull.
   */
  static fromAwaitable<Update, Final>(
    source: StreamMaker<Update, Final>,
  ): ResponseStream<Update, Final> {
    return new ResponseStream(new DerivedSource(awaited(source)))
  }

  /**
   * @throws LamellaError `stream_consumed` if another reader has started.
   */
  [Symbol.asyncIterator](): AsyncIterator<Update> {
    if (this.#iterator !== undefined || this.#draining !== undefined) {
      throw consumed('a stream can be read once; use tee(stream) for two readers')
    }
    let hasReturned = false
    this.#iterator = {
      next: () => {
        if (hasReturned) return Promise.resolve({ done: true, value: undefined })
        this.#hasBegun = true
        return this.#draining === undefined ? this.#source.next() : this.#nextUnread()
      },
      return: async () => {
        hasReturned = true
        await this.cancel(new LamellaError('the consumer stopped reading', { code: 'aborted' }))
        return { done: true, value: undefined }
      },
    }
    return this.#iterator
  }

  /**
   * Returns the final value. Reads the stream to its end if it is not being iterated. It may be
   * awaited many times; after a failure it always rejects with the same error.
   */
  async finalResponse(): Promise<Final> {
    const outcome = await this.outcome()
    if (outcome.status === 'done') return outcome.response
    throw outcome.error
  }

  /** Resolves to the end of the stream and the content received. Never rejects. */
  async outcome(): Promise<StreamOutcome<Final>> {
    if (this.#outcome === undefined) await (this.#drain ??= this.#readToEnd())
    return this.#outcome!
  }

  /** Ends the stream early: the request is aborted, the middleware unwinds, the cleanup hooks run. */
  async cancel(
    reason: unknown = new LamellaError('the stream was cancelled', { code: 'aborted' }),
  ): Promise<void> {
    if (!this.#isEnding) await this.#source.cancel(reason)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cancel()
  }

  /** Answers a request that arrived as an event. Returns false if no request waits for this id. */
  respond(id: string, value: unknown): boolean {
    return this.#source.respond?.(id, value) ?? false
  }

  /** One update for each update. The type changes, so a finalizer is needed. */
  map<Mapped, MappedFinal>(
    transform: (update: Update) => Awaitable<Mapped>,
    finalizer: Finalizer<Mapped, MappedFinal>,
  ): ResponseStream<Mapped, MappedFinal> {
    return this.flatMap<Mapped, MappedFinal>(async (update) => [await transform(update)], finalizer)
  }

  /** Returns a stream with none, one or many updates for each update. */
  flatMap<Mapped, MappedFinal>(
    transform: (update: Update) => Awaitable<Iterable<Mapped>>,
    finalizer: Finalizer<Mapped, MappedFinal>,
  ): ResponseStream<Mapped, MappedFinal> {
    return new ResponseStream(new DerivedSource(transformed(this, transform, foldsOf(finalizer))))
  }

  /** Returns a stream with the same updates and another final value, made from this stream's. */
  withFinalizer<Other>(
    finalizer: (final: Final) => Awaitable<Other>,
  ): ResponseStream<Update, Other> {
    return new ResponseStream(new DerivedSource(refinalized(this, finalizer)))
  }

  /**
   * Replaces updates as they pass; `undefined` keeps an update. The final value contains the
   * replacements.
   */
  withTransformHook(hook: (update: Update) => Awaitable<Update | undefined | null | void>): this {
    this.#beforeEnd('a transform hook')
    if (this.#hasBegun) throw consumed('a transform hook was added after reading had begun')
    this.#hookable().addHook(hook)
    return this
  }

  /** Receives the final value and may replace it; `undefined` keeps it. */
  withResultHook(hook: (final: Final) => Awaitable<Final | undefined | null | void>): this {
    this.#beforeEnd('a result hook')
    this.#resultHooks.push(hook)
    return this
  }

  /** Runs once at every kind of end of the stream; immediately if the stream has ended. */
  withCleanupHook(hook: () => unknown): this {
    if (this.#isEnding) void Promise.resolve(hook()).catch(() => {})
    else this.#cleanupHooks.push(hook)
    return this
  }

  /** Yields the text as it arrives. */
  text(options?: TextOptions): AsyncIterable<string> {
    return textPieces(this as AsyncIterable<unknown>, options)
  }

  /**
   * For makers of streams: returns a new fold that makes this stream's final value from updates
   * that a stream made from it has replaced.
   * @throws TypeError if the source of the stream has none
   */
  newFold(): StreamFold<Update, Final> {
    const fold = this.#source.fold?.()
    if (fold === undefined) throw unfoldable()
    return {
      add: (update) => fold.add(update),
      finish: async () => fold.finish(await this.finalResponse()),
    }
  }

  #hookable(): DerivedSource<Update, Final> {
    if (this.#source instanceof DerivedSource) return this.#source
    const source = new DerivedSource(overSource(this.#source))
    this.#source.onEnd = async () => {}
    source.onEnd = this.#end
    this.#source = source
    return source
  }

  async #readToEnd(): Promise<void> {
    // Whoever is about to iterate goes first.
    await Promise.resolve()
    if (this.#iterator !== undefined && this.#source.busy) {
      if (this.#outcome === undefined) {
        await new Promise<void>((resolve) => (this.#markEnded = resolve))
      }
      return
    }
    this.#hasBegun = true
    do this.#draining = this.#drainNext()
    while (!(await this.#draining))
  }

  async #drainNext(): Promise<boolean> {
    try {
      const { done, value } = await this.#source.next()
      if (done === true) return true
      // A reader that paused finds what it has not read yet where it left off.
      if (this.#iterator !== undefined) this.#unread.added.push({ value })
      return false
    } catch {
      // It is in the outcome.
      return true
    }
  }

  async #nextUnread(): Promise<IteratorResult<Update>> {
    for (;;) {
      const step = this.#unread.take()
      if (step !== undefined) return { done: false, value: step.value }
      if (await this.#draining) return this.#source.next()
    }
  }

  #beforeEnd(what: string): void {
    if (this.#isEnding) throw consumed(`${what} was added after the stream had ended`)
  }

  readonly #end = async (failure: Failure | undefined): Promise<void> => {
    if (this.#isEnding) return
    this.#isEnding = true
    const broken: unknown[] = []
    for (const hook of this.#cleanupHooks) {
      try {
        await hook()
      } catch (error) {
        broken.push(error)
      }
    }
    this.#outcome = await this.#settle(failure, broken)
    this.#markEnded?.()
    if (failure === undefined && this.#outcome.status !== 'done') throw this.#outcome.error
  }

  async #settle(failure: Failure | undefined, broken: unknown[]): Promise<StreamOutcome<Final>> {
    if (failure !== undefined) return this.#fail(failure.error)
    let final: Final | undefined
    try {
      final = await this.#source.final()
    } catch (error) {
      return endedBy(error, { isAborted: false })
    }
    for (const hook of this.#resultHooks) {
      try {
        final = ((await hook(final as never)) as Final) ?? final
      } catch (error) {
        broken.push(error)
      }
    }
    if (broken.length === 0) return { status: 'done', response: final }
    const error =
      broken.length === 1 ? broken[0] : new AggregateError(broken, 'hooks of a stream failed')
    return endedBy(error, { isAborted: false, partial: final })
  }

  async #fail(error: unknown): Promise<StreamFailure<Final>> {
    return (await this.#source.failure?.(error)) ?? endedBy(error)
  }
}

function consumed(message: string): LamellaError {
  return new LamellaError(message, { code: 'stream_consumed' })
}
