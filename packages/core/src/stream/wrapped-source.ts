import type { StreamFailure } from './stream-outcome.ts'
import type { StreamFold } from './stream-source.ts'
import { PulledSource } from './stream-source.ts'
import type { Failure } from './update-sink.ts'
import type { UpdateStream } from './update-stream.ts'

/** A stream that is still being made. */
export type StreamMaker<Update, Final> =
  | PromiseLike<UpdateStream<Update, Final>>
  | (() => UpdateStream<Update, Final> | Promise<UpdateStream<Update, Final>>)

/** Reads another stream as it is. A function or a promise of one is asked on the first pull. */
export class InnerSource<Update, InnerFinal, Final> extends PulledSource<Update, Final> {
  readonly #make: StreamMaker<Update, InnerFinal> | undefined
  readonly #foldOf: (inner: UpdateStream<Update, InnerFinal>) => StreamFold<Update, InnerFinal>
  readonly #finalizer: ((final: InnerFinal) => Final | Promise<Final>) | undefined
  #isHooked = false
  #fold: StreamFold<Update, InnerFinal> | undefined
  #inner: UpdateStream<Update, InnerFinal> | undefined
  #iterator: AsyncIterator<Update> | undefined
  #closed: Failure | undefined

  /** Without a finalizer, the final value is that of the inner stream. */
  constructor(
    source: UpdateStream<Update, InnerFinal> | StreamMaker<Update, InnerFinal>,
    foldOf: (inner: UpdateStream<Update, InnerFinal>) => StreamFold<Update, InnerFinal>,
    finalizer?: (final: InnerFinal) => Final | Promise<Final>,
  ) {
    super()
    this.#foldOf = foldOf
    this.#finalizer = finalizer
    if ('finalResponse' in source) this.#inner = source
    else this.#make = source
    // Its rejection belongs to whoever reads first, not to the process.
    if ('then' in source) source.then(undefined, () => {})
  }

  async final(): Promise<Final> {
    const final = await this.#inner!.finalResponse()
    return this.#isHooked ? (final as never) : this.#finish(final)
  }

  protected override async innerFailure(): Promise<StreamFailure<Final> | undefined> {
    const outcome = await this.#inner?.outcome()
    if (outcome === undefined || outcome.status === 'done') return undefined
    return this.#finalizer ? { ...outcome, partial: undefined } : (outcome as StreamFailure<never>)
  }

  fold(): StreamFold<Update, Final> {
    this.#isHooked = true
    if (this.#inner !== undefined) this.#fold = this.#foldOf(this.#inner)
    return {
      add: (update) => this.#fold!.add(update),
      finish: async (base) => this.#finish(await this.#fold!.finish(base as never)),
    }
  }

  respond(id: string, value: unknown): boolean {
    return this.#inner?.respond(id, value) ?? false
  }

  protected async pull(): Promise<IteratorResult<Update>> {
    if (this.#iterator === undefined) {
      this.#inner ??= await (typeof this.#make === 'function' ? this.#make() : this.#make!)
      if (this.#closed !== undefined) {
        await this.#inner.cancel(this.#closed.error)
        throw this.#closed.error
      }
      if (this.#isHooked) this.#fold ??= this.#foldOf(this.#inner)
      this.#iterator = this.#inner[Symbol.asyncIterator]()
    }
    return this.#iterator.next()
  }

  protected async close(error: unknown): Promise<void> {
    this.#closed = { error }
    await this.#inner?.cancel(error)
  }

  #finish(final: InnerFinal): Final | Promise<Final> {
    return this.#finalizer === undefined ? (final as never) : this.#finalizer(final)
  }
}
