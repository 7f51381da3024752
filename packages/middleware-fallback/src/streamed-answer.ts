import type { ChatResponseUpdate, Message, UpdateTransformer } from '@lamella/core'
import { createId, message, text } from '@lamella/core'

type Transform = Required<UpdateTransformer<ChatResponseUpdate>>

/**
 * Sees an answer pass, and lets one that broke off go on: it keeps the text, and puts it in front of what
 * the next model says, in one message.
 */
export class StreamedAnswer implements UpdateTransformer<ChatResponseUpdate> {
  /** Whether anything of the call that is on has content. */
  hasContent = false
  #said = ''
  #prefix = ''
  #messageId = ''
  #firstId: string | undefined

  /** Whether there is a text to go on from. */
  get isContinued(): boolean {
    return this.#prefix !== ''
  }

  /** The call that is on broke off: the next one goes on from what it said. */
  breakOff(): void {
    this.#prefix += this.#said
    this.#messageId ||= createId('msg')
  }

  /** What the next model is shown: the text as its own, and what to do with it. */
  messages(before: readonly Message[], prompt: string): readonly Message[] {
    return [...before, message('assistant', this.#prefix), message('user', prompt)]
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
