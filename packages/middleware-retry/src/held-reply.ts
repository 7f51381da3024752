import type { ChatResponse, ChatResponseUpdate, UpdateTransformer } from '@lamella/core'
import type { TransformController } from '@lamella/core/authoring'
import { foldUpdates } from '@lamella/core'

type Judge<Verdict> = (response: ChatResponse) => Promise<Verdict | undefined>

/** Holds back a streamed reply, and releases it once `judge` accepts it by returning `undefined`. */
export class HeldReply<Verdict> implements UpdateTransformer<ChatResponseUpdate> {
  /** The rejected reply and its verdict. No update of it was released. */
  rejected: { readonly response: ChatResponse; readonly verdict: Verdict } | undefined
  readonly #judge: Judge<Verdict>
  #held: ChatResponseUpdate[] = []

  constructor(judge: Judge<Verdict>) {
    this.#judge = judge
  }

  start(): void {
    this.#held = []
    this.rejected = undefined
  }

  transform(update: ChatResponseUpdate): void {
    this.#held.push(update)
  }

  async flush(controller: TransformController<ChatResponseUpdate>): Promise<void> {
    const response = foldUpdates(this.#held)
    const verdict = await this.#judge(response)
    if (verdict === undefined) {
      for (const update of this.#held) controller.enqueue(update)
    } else {
      this.rejected = { response, verdict }
      // The run and middleware further in still count its usage.
      controller.enqueue({ contents: [], usage: response.usage })
    }
    this.#held = []
  }
}
