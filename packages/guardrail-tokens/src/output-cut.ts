import type {
  ChatResponseUpdate,
  Content,
  TransformController,
  UpdateTransformer,
} from '@lamella/core'
import type { CountTokens } from '@lamella/core/authoring'
import { pieceChars, pieceEnd } from './text-pieces.ts'

export interface OutputCutOptions {
  /** Who cuts: the response says so. */
  readonly name: string
  readonly weigh: CountTokens
  readonly maxTokens: number
  /** Whether a call may be ended whose provider goes on all the same. */
  readonly mayEnd: boolean
  /** Told once, when there is more than may leave. What it throws ends the call. */
  readonly onCut: () => void
}

type Written = Extract<Content, { readonly type: 'text' | 'reasoning' | 'refusal' }>

/** No piece has more tokens: a character has at most three bytes, and a calibration at most triples. */
const maxPieceTokens = pieceChars * 9

/**
 * Lets no more than so many tokens of an answer leave, in whole words, wherever its chunks were cut.
 * Nothing waits while there are enough left for any word.
 */
export class OutputCut implements UpdateTransformer<ChatResponseUpdate> {
  readonly #options: OutputCutOptions
  #tokens = 0
  #isCut = false
  /** What was written since the last complete piece, as part of what, and how much of it has left. */
  #open = ''
  #part: Written | undefined
  #left = 0
  #messageId: string | undefined
  /** Calls that began before the cut. */
  #begun = new Set<string | number>()

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
    // It was told the same limit on the wire, so this one takes no notice of it.
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
        const key = content.index ?? content.callId
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

  /** What is left of a part that ends here. */
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

  /** Counts what is complete. Returns what may leave. */
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
