import type { ResponseStream } from './response-stream.ts'
import type { StreamFailure } from './stream-outcome.ts'
import type { StreamFold } from './stream-source.ts'
import { PulledSource } from './stream-source.ts'

/** A stream that is still being made. */
export type StreamMaker<Update, Final> =
  | PromiseLike<ResponseStream<Update, Final>>
  | (() => ResponseStream<Update, Final> | Promise<ResponseStream<Update, Final>>)

/** Reads a stream that is made on the first pull. */
export class LazySource<Update, Final> extends PulledSource<Update, Final> {
  readonly #make: StreamMaker<Update, Final>
  readonly #foldOf: (inner: ResponseStream<Update, Final>) => StreamFold<Update, Final>
  #isHooked = false
  #fold: StreamFold<Update, Final> | undefined
  #inner: ResponseStream<Update, Final> | undefined
  #iterator: AsyncIterator<Update> | undefined
  #closed: { readonly reason: unknown } | undefined

  constructor(
    make: StreamMaker<Update, Final>,
    foldOf: (inner: ResponseStream<Update, Final>) => StreamFold<Update, Final>,
  ) {
    super()
    this.#make = make
    this.#foldOf = foldOf
    // Its rejection belongs to whoever reads first, not to the process.
    if (typeof make !== 'function') make.then(undefined, () => {})
  }

  final(): Promise<Final> {
    return this.#inner!.finalResponse()
  }

  protected override async innerFailure(): Promise<StreamFailure<Final> | undefined> {
    const outcome = await this.#inner?.outcome()
    return outcome === undefined || outcome.status === 'done' ? undefined : outcome
  }

  fold(): StreamFold<Update, Final> {
    this.#isHooked = true
    return {
      add: (update) => this.#fold!.add(update),
      finish: (base) => this.#fold!.finish(base),
    }
  }

  respond(id: string, value: unknown): boolean {
    return this.#inner?.respond(id, value) ?? false
  }

  protected async pull(): Promise<IteratorResult<Update>> {
    if (this.#iterator === undefined) {
      this.#inner = await (typeof this.#make === 'function' ? this.#make() : this.#make)
      if (this.#closed !== undefined) {
        await this.#inner.cancel(this.#closed.reason)
        throw this.#closed.reason
      }
      if (this.#isHooked) this.#fold = this.#foldOf(this.#inner)
      this.#iterator = this.#inner[Symbol.asyncIterator]()
    }
    return this.#iterator.next()
  }

  protected async close(reason: unknown): Promise<void> {
    this.#closed = { reason }
    await this.#inner?.cancel(reason)
  }
}
