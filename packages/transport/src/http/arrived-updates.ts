import type { ChatResponse, ChatResponseUpdate } from '@lamella/core'
import { toUpdates, foldUpdates } from '@lamella/core'

const mostKept = 1024

/** The arrived part of a response: its text, and the last thousand updates as they came. */
export class ArrivedUpdates {
  #updates: ChatResponseUpdate[] = []

  get isEmpty(): boolean {
    return this.#updates.length === 0
  }

  add(update: ChatResponseUpdate): void {
    if (this.#updates.push(update) > mostKept) this.#updates = [...toUpdates(this.response())]
  }

  response(): ChatResponse {
    return foldUpdates(this.#updates)
  }
}
