import type { ChatResponseUpdate, Content, UpdateTransformer } from '@lamella/core'
import type { TransformController } from '@lamella/core/authoring'
import type { CountTokens } from '@lamella/text'
import { pieceChars, pieceEnd } from './text-pieces.ts'

export interface OutputCutOptions {
  /** Name of the guardrail, for the response. */
  readonly name: string
  readonly weigh: CountTokens
  readonly maxTokens: number
  /** Allows ending a call whose provider ignores the limit. */
  readonly mayEnd: boolean
  /** Called once, when the answer exceeds the limit. Its error ends the call. */
  readonly onCut: () => void
}

type Written = Extract<Content, { readonly type: 'text' | 'reasoning' | 'refusal' }>

/** Maximum tokens of a piece: a character has at most three bytes, and a calibration at most triples. */
const maxPieceTokens = pieceChars * 9

/**
 * Passes at most `maxTokens` tokens of an answer, in whole words, however the answer is split into updates.
 * Holds nothing back while enough tokens are left for any word.
 */
export class OutputCut implements UpdateTransformer<ChatResponseUpdate> {
  readonly #options: OutputCutOptions
  #tokens = 0
  #isCut = false
  /** Text since the last complete piece; `#part` is its content, `#left` the length that was passed on. */
  #open = ''
  #part: Written | undefined
  #left = 0
  #messageId: string | undefined
  /** Tool calls that began before the cut: each message counts its own. */
  #begun = new Set<string>()

  constructor(options: OutputCutOptions) {
    this.#options = options
  }

  start(): void {
    this.#tokens = this.#left = 0
    this.#isCut = false
    this.#open = ''
    this.#part = this.#messageId = undefined
    this.#begun = new Set()
  }

  transform(update: ChatResponseUpdate, controller: TransformController<ChatResponseUpdate>): void {
    const { messageId, contents, finishReason } = update
    if (messageId !== undefined && messageId !== this.#messageId) {
      this.#closeMessage(controller)
      this.#messageId = messageId
    }
    const passed = contents.flatMap((content) => this.#pass(content))
    const isSame =
      passed.length === contents.length && passed.every((part, index) => part === contents[index])
    const { raw: _, ...rest } = update
    if (isSame && !this.#isCut) controller.enqueue(update)
    else {
      const isEnd = this.#isCut && finishReason !== undefined
      controller.enqueue({ ...rest, contents: passed, ...(isEnd && { finishReason: 'length' }) })
    }
    const { maxTokens, mayEnd } = this.#options
    // The provider ignores the limit that the request has set.
    if (mayEnd && this.#tokens > 2 * maxTokens + maxPieceTokens) {
      this.#tellCut(controller)
      controller.terminate()
    }
  }

  flush(controller: TransformController<ChatResponseUpdate>): void {
    this.#closeMessage(controller)
    this.#tellCut(controller)
  }

  #pass(content: Content): Content[] {
    switch (content.type) {
      case 'text':
      case 'reasoning':
      case 'refusal': {
        const before = content.type === this.#part?.type ? [] : this.#close()
        return [...before, ...this.#take(content)]
      }
      case 'function-call': {
        const key = `${this.#messageId} ${content.index ?? content.callId}`
        const before = this.#close()
        if (!this.#isCut) this.#begun.add(key)
        return this.#begun.has(key) ? [...before, content] : before
      }
      case 'usage':
        return [content]
      default:
        return [...this.#close(), content]
    }
  }

  #take(part: Written): Written[] {
    this.#part = part
    if (this.#isCut) {
      this.#tokens += this.#options.weigh(part.text)
      return []
    }
    this.#open += part.text
    return this.#leave(this.#count(false))
  }

  /** Returns the rest of a content that ends here. */
  #close(): Written[] {
    if (this.#part === undefined) return []
    const left = this.#isCut ? [] : this.#leave(this.#count(true))
    this.#part = undefined
    this.#open = ''
    this.#left = 0
    return left
  }

  #closeMessage(controller: TransformController<ChatResponseUpdate>): void {
    const contents = this.#close()
    if (contents.length > 0) controller.enqueue({ contents, messageId: this.#messageId })
  }

  /** Counts the complete pieces and returns the text that may pass. */
  #count(final: boolean): string {
    const { weigh, maxTokens } = this.#options
    const text = this.#open
    let start = 0
    while (start < text.length && !this.#isCut) {
      const end = pieceEnd(text, start, final)
      if (end === undefined) break
      this.#tokens += weigh(text.slice(start, end))
      if (this.#tokens > maxTokens) this.#isCut = true
      else start = end
    }
    const isFree = !this.#isCut && maxTokens - this.#tokens >= maxPieceTokens
    const until = isFree ? text.length : Math.max(start, this.#left)
    const leaving = text.slice(this.#left, until)
    this.#open = this.#isCut ? '' : text.slice(start)
    this.#left = this.#isCut ? 0 : until - start
    if (this.#isCut) this.#options.onCut()
    return leaving
  }

  #leave(text: string): Written[] {
    const part = this.#part!
    if (text === '') return []
    return [text === part.text ? part : { ...part, text }]
  }

  #tellCut(controller: TransformController<ChatResponseUpdate>): void {
    if (!this.#isCut) return
    const metadata = { cutBy: this.#options.name }
    controller.enqueue({ contents: [], finishReason: 'length', metadata })
  }
}
