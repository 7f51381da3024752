import type { ChatResponseUpdate, Message, RunContext, UpdateTransformer } from '@lamella/core'
import { text } from '@lamella/core'

type Transform = Required<UpdateTransformer<ChatResponseUpdate>>

/**
 * Watches an answer pass, and lets the next model continue one that was cut off: it keeps the text, and
 * prepends it to the next model's text in one message.
 */
export class StreamedAnswer implements UpdateTransformer<ChatResponseUpdate> {
  /** True if the current call has produced content. */
  hasContent = false
  readonly #ids: RunContext['ids']
  #said = ''
  #prefix = ''
  #messageId = ''
  #firstId: string | undefined

  constructor(ids: RunContext['ids']) {
    this.#ids = ids
  }

  /** Tells whether there is a text to continue. */
  get isContinued(): boolean {
    return this.#prefix !== ''
  }

  /** Ends the current call; the next one continues its text. */
  breakOff(): void {
    this.#prefix += this.#said
    this.#messageId ||= this.#ids.createId('msg')
  }

  /**
   * Returns the messages for the next model: the text as its own, and the instruction to continue.
   */
  messages(before: readonly Message[], prompt: string): readonly Message[] {
    const { createId } = this.#ids
    return [
      ...before,
      { id: createId('msg'), role: 'assistant', contents: [text(this.#prefix)] },
      { id: createId('msg'), role: 'user', contents: [text(prompt)] },
    ]
  }

  readonly start: Transform['start'] = (controller) => {
    this.hasContent = false
    this.#said = ''
    if (!this.isContinued) return
    const contents = [text(this.#prefix)]
    controller.enqueue({ role: 'assistant', messageId: this.#messageId, contents })
  }

  readonly transform: Transform['transform'] = (update, controller) => {
    const { contents, messageId } = update
    for (const content of contents) if (content.type === 'text') this.#said += content.text
    if (!this.hasContent && contents.length > 0) {
      this.hasContent = true
      this.#firstId = messageId
    }
    const isFirst = this.isContinued && contents.length > 0 && messageId === this.#firstId
    controller.enqueue(isFirst ? { ...update, messageId: this.#messageId } : update)
  }
}
