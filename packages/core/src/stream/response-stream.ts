import { LamellaError } from '../base/lamella-error.ts'
import { ReadAhead } from './read-ahead.ts'
import type { StreamFailure, StreamOutcome } from './stream-outcome.ts'
import { endedBy } from './stream-outcome.ts'
import type { Finalizer, StreamFold, StreamSource } from './stream-source.ts'
import { DerivedSource, IterableSource, toFold } from './stream-source.ts'
import type { TextOptions } from './stream-views.ts'
import type { ServerSentEventsOptions } from './server-sent-events.ts'
import { serverSentEvents } from './server-sent-events.ts'
import { readableStream, textPieces } from './stream-views.ts'
import { tee } from './tee.ts'
import { TransformHooks } from './transform-hooks.ts'
import type { Failure } from './update-sink.ts'
import type { UpdateStream } from './update-stream.ts'
import type { StreamMaker } from './wrapped-source.ts'
import { InnerSource } from './wrapped-source.ts'

type Awaitable<Value> = Value | Promise<Value>

/**
 * A stream of updates with a final value. It starts with the first pull, is read once, and settles
 * once. At its end: flush of the transforms → cleanup hooks → finalizer → result hooks → done; the
 * inner stream of a derived one first.
 */
export class ResponseStream<Update, Final> implements AsyncIterable<Update>, AsyncDisposable {
  readonly #source: StreamSource<Update, Final>
  readonly #cleanupHooks: (() => unknown)[] = []
  /** Typed so that a stream with a narrower final value is assignable to one with a wider. */
  readonly #resultHooks: ((final: never) => unknown)[] = []
  #hooked: TransformHooks<Update, Final> | undefined
  #outcome: StreamOutcome<Final> | undefined
  #markEnded: (() => void) | undefined
  #isEnding = false
  #iterator: AsyncIterator<Update> | undefined
  #drain: Promise<void> | undefined
  #isDraining = false
  #kept: ReadAhead<Update> | undefined
  #hasBegun = false
  /** True if the reader pulls from the source directly, without buffered updates or hooks. */
  #isPlain = false

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
    return new ResponseStream(new IterableSource(source, toFold(finalizer)))
  }

  /**
   * Creates a stream from a promise of one, or from a function that is called on the first pull.
   */
  static fromAwaitable<Update, Final>(
    source: StreamMaker<Update, Final>,
  ): ResponseStream<Update, Final> {
    return new ResponseStream(new InnerSource(source, ResponseStream.#foldOf))
  }

  static #foldOf<Update, Final>(
    this: void,
    of: UpdateStream<Update, Final>,
  ): StreamFold<Update, Final> {
    const stream = of as ResponseStream<Update, Final>
    const source = stream.#source
    if (source.fold === undefined || (stream.#hooked !== undefined && source.foldsAnew !== true)) {
      throw new TypeError(
        'a transform hook has no way into the final value of this stream; use map()',
      )
    }
    return source.fold()
  }

  /**
   * @throws LamellaError `stream_consumed` if another reader has started.
   */
  [Symbol.asyncIterator](): AsyncIterator<Update> {
    if (this.#iterator !== undefined || this.#isDraining) {
      throw consumed('a stream can be read once; use tee() for two readers')
    }
    let hasReturned = false
    const source = this.#source
    this.#iterator = {
      next: () => {
        if (this.#isPlain) return source.next()
        return hasReturned ? Promise.resolve({ done: true, value: undefined }) : this.#next()
      },
      return: async () => {
        hasReturned = true
        this.#isPlain = false
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

  /** Ends the stream early: the request is aborted, the middlewares unwind, the cleanup hooks run. */
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
    return new ResponseStream(new DerivedSource(this, transform, toFold(finalizer)))
  }

  /** Returns a stream with the same updates and another final value, made from this stream's. */
  withFinalizer<Other>(
    finalizer: (final: Final) => Awaitable<Other>,
  ): ResponseStream<Update, Other> {
    return new ResponseStream(new InnerSource(this, ResponseStream.#foldOf, finalizer))
  }

  /**
   * Replaces updates as they pass; `undefined` keeps an update. The final value contains the
   * replacements.
   */
  withTransformHook(hook: (update: Update) => Awaitable<Update | undefined | null | void>): this {
    this.#beforeEnd('a transform hook')
    if (this.#hasBegun) throw consumed('a transform hook was added after reading had begun')
    this.#hooked ??= new TransformHooks(this.#source, ResponseStream.#foldOf(this))
    this.#hooked.add(hook)
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
   * Returns the updates as a Web stream. Reading it pulls from this stream; cancelling it cancels
   * this one.
   */
  toReadableStream(): ReadableStream<Update> {
    return readableStream(this)
  }

  /**
   * Server-sent events for a client, ready to be the body of a `Response`. They hold text, refusals, restarts,
   * public events and the status, and for a paused run the id, tool and arguments of each request; `include`
   * asks for more.
   * @throws RangeError for an unknown name in `include`
   */
  toSSE(options?: ServerSentEventsOptions): ReadableStream<Uint8Array> {
    return serverSentEvents(this, options)
  }

  /** Returns two streams over this one. Updates are buffered for the slower reader. */
  tee(): [ResponseStream<Update, Final>, ResponseStream<Update, Final>] {
    const fold = this.#source.foldsAnew === true ? () => this.#source.fold!() : undefined
    const [first, second] = tee(this, fold)
    return [new ResponseStream(first), new ResponseStream(second)]
  }

  #next(): Promise<IteratorResult<Update>> {
    return this.#kept === undefined ? this.#pull() : this.#kept.next()
  }

  #pull(): Promise<IteratorResult<Update>> {
    this.#hasBegun = true
    this.#isPlain = this.#hooked === undefined && this.#kept === undefined
    return this.#hooked === undefined ? this.#source.next() : this.#hooked.next()
  }

  async #readToEnd(): Promise<void> {
    // Whoever is about to iterate goes first.
    await Promise.resolve()
    if (this.#iterator !== undefined && (this.#source.busy || this.#hooked?.busy)) {
      if (this.#outcome === undefined) {
        await new Promise<void>((resolve) => (this.#markEnded = resolve))
      }
      return
    }
    this.#isDraining = true
    // A reader that paused finds what it has not read yet where it left off.
    const kept = this.#iterator && (this.#kept = new ReadAhead())
    for (;;) {
      const pull = this.#pull()
      try {
        const step = await pull
        if (step.done !== true) {
          kept?.add(step.value)
          continue
        }
      } catch {
        // It is in the outcome.
      }
      kept?.end(pull)
      return
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
      const own = await this.#source.final()
      final = this.#hooked === undefined ? own : await this.#hooked.fold.finish(own)
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
    const failure = (await this.#source.failure?.(error)) ?? endedBy(error)
    return this.#hooked?.fault?.error === error ? { ...failure, status: 'failed' } : failure
  }
}

function consumed(message: string): LamellaError {
  return new LamellaError(message, { code: 'stream_consumed' })
}
