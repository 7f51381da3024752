import type { PassingUpdate, UpdatePassage } from './update-passage.ts'
import type { UpdateSink } from './update-sink.ts'

/** Without a consumer, a source is driven at once. */
export class UpdateDrain<Update extends PassingUpdate> implements UpdateSink<Update> {
  readonly streaming = false
  readonly busy = true
  readonly delivered = 0
  readonly released = false
  outer: UpdatePassage<Update> | undefined
  readonly #discarded: Update[] = []

  async drive(
    source: AsyncIterable<Update> | Iterable<Update>,
    passage: UpdatePassage<Update>,
  ): Promise<void> {
    const out = this.#discarded
    await passage.start(out)
    for await (const update of source) {
      const waiting = passage.pass(update, out)
      if (waiting !== undefined) await waiting
      out.length = 0
      if (passage.terminated) break
    }
    await passage.flush(out)
    out.length = 0
  }

  push(): void {}
  breakOff(): void {}
}
