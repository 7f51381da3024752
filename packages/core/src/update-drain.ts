import type { AgentResponseUpdate } from './agent-response.ts'
import type { PassingUpdate, UpdatePassage } from './update-passage.ts'
import type { UpdateSink } from './update-sink.ts'

/** Without a consumer, a source is driven at once. It keeps nothing, so one serves all runs. */
class UpdateDrain<Update extends PassingUpdate> implements UpdateSink<Update> {
  readonly streaming = false
  readonly busy = true
  readonly delivered = 0
  readonly released = false
  readonly outer = undefined

  async drive(
    source: AsyncIterable<Update> | Iterable<Update>,
    passage: UpdatePassage<Update>,
  ): Promise<void> {
    const out: Update[] = []
    await passage.start(out)
    for await (const update of source) {
      const waiting = passage.pass(update, out)
      if (waiting !== undefined) await waiting
      out.length = 0
      if (passage.terminated) break
    }
    await passage.flush(out)
  }

  push(): void {}
  breakOff(): void {}
}

export const drain: UpdateSink<AgentResponseUpdate> = new UpdateDrain<AgentResponseUpdate>()
