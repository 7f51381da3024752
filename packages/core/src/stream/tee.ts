import type { StreamFailure } from './stream-outcome.ts'
import { Queue } from './queue.ts'
import type { StreamFold } from './stream-source.ts'
import { PulledSource } from './stream-source.ts'
import type { UpdateStream } from './update-stream.ts'

/** State that two readers of one stream share. */
interface Shared<Update, Final> {
  readonly stream: UpdateStream<Update, Final>
  readonly iterator: AsyncIterator<Update>
  /** Updates that each reader has not read yet. */
  readonly kept: Set<Queue<IteratorResult<Update>>>
  pull: Promise<void> | undefined
}

/** Two sources over one stream: whoever asks first pulls, and the other finds the update kept. */
export function tee<Update, Final>(
  stream: UpdateStream<Update, Final>,
  fold: (() => StreamFold<Update, Final>) | undefined,
): [TeeSource<Update, Final>, TeeSource<Update, Final>] {
  const shared: Shared<Update, Final> = {
    stream,
    iterator: stream[Symbol.asyncIterator](),
    kept: new Set(),
    pull: undefined,
  }
  return [new TeeSource(shared, fold), new TeeSource(shared, fold)]
}

class TeeSource<Update, Final> extends PulledSource<Update, Final> {
  readonly foldsAnew: boolean
  readonly fold?: () => StreamFold<Update, Final>
  readonly #shared: Shared<Update, Final>
  readonly #kept = new Queue<IteratorResult<Update>>()
  #failure: StreamFailure<Final> | undefined

  constructor(shared: Shared<Update, Final>, fold: (() => StreamFold<Update, Final>) | undefined) {
    super()
    this.#shared = shared
    this.foldsAnew = fold !== undefined
    if (fold !== undefined) this.fold = fold
    shared.kept.add(this.#kept)
  }

  final(): Promise<Final> {
    return this.#shared.stream.finalResponse()
  }

  respond(id: string, value: unknown): boolean {
    return this.#shared.stream.respond(id, value)
  }

  protected override async innerFailure(): Promise<StreamFailure<Final> | undefined> {
    return this.#failure
  }

  protected async pull(): Promise<IteratorResult<Update>> {
    let step = this.#kept.take()
    if (step === undefined) {
      await pullForAll(this.#shared)
      step = this.#kept.take()
    }
    if (step !== undefined) return step
    const outcome = await this.#shared.stream.outcome()
    if (outcome.status === 'done') return { done: true, value: undefined }
    this.#failure = outcome
    throw outcome.error
  }

  protected async close(reason: unknown): Promise<void> {
    const { kept, stream } = this.#shared
    kept.delete(this.#kept)
    if (kept.size === 0) await stream.cancel(reason)
  }
}

/** One pull at a time; its end or failure is in the stream's outcome. */
function pullForAll<Update, Final>(shared: Shared<Update, Final>): Promise<void> {
  shared.pull ??= shared.iterator
    .next()
    .then(
      ({ done, value }) => {
        // An iterator may use one object for all of its steps.
        if (done !== true) for (const kept of shared.kept) kept.added.push({ done: false, value })
      },
      () => {},
    )
    .finally(() => (shared.pull = undefined))
  return shared.pull
}
