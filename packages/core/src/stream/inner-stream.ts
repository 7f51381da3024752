import type { Derivation } from './derived-source.ts'
import { overIterable } from './derived-source.ts'
import type { StreamFailure, StreamOutcome } from './stream-outcome.ts'
import type { StreamFold } from './stream-source.ts'

/** The part of a `ResponseStream` that streams made from it read. */
export interface InnerStream<Update, Final> extends AsyncIterable<Update> {
  finalResponse(): Promise<Final>
  outcome(): Promise<StreamOutcome<Final>>
  cancel(reason?: unknown): Promise<void>
  newFold(): StreamFold<Update, Final>
  respond(id: string, value: unknown): boolean
}

/** A stream that is still being made. */
export type StreamMaker<Update, Final> =
  | PromiseLike<InnerStream<Update, Final>>
  | (() => InnerStream<Update, Final> | Promise<InnerStream<Update, Final>>)

/** Derives from a stream and makes none, one or many updates of each of its own. */
export function transformed<Inner, InnerFinal, Update, Final>(
  inner: InnerStream<Inner, InnerFinal>,
  transform: (update: Inner) => Iterable<Update> | Promise<Iterable<Update>>,
  fold: () => StreamFold<Update, Final>,
): Derivation<Update, Final> {
  const own = overIterable(flatten(inner, transform), fold)
  return {
    ...own,
    async close(reason, isPulling) {
      await inner.cancel(reason)
      await own.close(reason, isPulling)
    },
    failure: async () => withoutPartial(await inner.outcome()),
    respond: (id, value) => inner.respond(id, value),
  }
}

/** Derives from a stream with the same updates and another final value. */
export function refinalized<Update, InnerFinal, Final>(
  inner: InnerStream<Update, InnerFinal>,
  finalizer: (final: InnerFinal) => Final | Promise<Final>,
): Derivation<Update, Final> {
  return {
    ...sameUpdates(inner),
    fold() {
      const fold = inner.newFold()
      return {
        add: (update) => fold.add(update),
        finish: async () => finalizer(await fold.finish()),
      }
    },
    final: async () => finalizer(await inner.finalResponse()),
    failure: async () => withoutPartial(await inner.outcome()),
  }
}

/** Derives from a stream that is made on the first pull. */
export function awaited<Update, Final>(
  maker: StreamMaker<Update, Final>,
): Derivation<Update, Final> {
  let made: InnerStream<Update, Final> | undefined
  let inner: Derivation<Update, Final> | undefined
  let closed: { readonly reason: unknown } | undefined
  // Its rejection belongs to whoever reads first, not to the process.
  if ('then' in maker) maker.then(undefined, () => {})
  return {
    async pull() {
      if (inner === undefined) {
        made = await (typeof maker === 'function' ? maker() : maker)
        inner = sameUpdates(made)
        if (closed !== undefined) {
          await made.cancel(closed.reason)
          throw closed.reason
        }
      }
      return inner.pull()
    },
    async close(reason) {
      closed = { reason }
      await made?.cancel(reason)
    },
    fold() {
      let fold: StreamFold<Update, Final> | undefined
      const own = (): StreamFold<Update, Final> => (fold ??= made!.newFold())
      return { add: (update) => own().add(update), finish: () => own().finish() }
    },
    final: () => made!.finalResponse(),
    failure: async () => failureOf(await made?.outcome()),
    respond: (id, value) => made?.respond(id, value) ?? false,
  }
}

/** Derives from a stream as it is. */
export function sameUpdates<Update, Final>(
  inner: InnerStream<Update, Final>,
): Derivation<Update, Final> & { final(): Promise<Final> } {
  let iterator: AsyncIterator<Update> | undefined
  return {
    pull: async () => (iterator ??= inner[Symbol.asyncIterator]()).next(),
    close: (reason) => inner.cancel(reason),
    fold: () => inner.newFold(),
    final: () => inner.finalResponse(),
    failure: async () => failureOf(await inner.outcome()),
    respond: (id, value) => inner.respond(id, value),
  }
}

function failureOf<Final>(
  outcome: StreamOutcome<Final> | undefined,
): StreamFailure<Final> | undefined {
  return outcome === undefined || outcome.status === 'done' ? undefined : outcome
}

/** The content received so far is no part of another final value. */
function withoutPartial(outcome: StreamOutcome<unknown>): StreamFailure<never> | undefined {
  const failure = failureOf(outcome)
  return failure && { ...failure, partial: undefined }
}

async function* flatten<Inner, Update>(
  inner: AsyncIterable<Inner>,
  transform: (update: Inner) => Iterable<Update> | Promise<Iterable<Update>>,
): AsyncGenerator<Update> {
  for await (const update of inner) yield* await transform(update)
}
