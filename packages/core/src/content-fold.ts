import type { Content } from './content.ts'
import { createId } from './create-id.ts'

type Fields = Content & Readonly<Record<string, unknown>>

// A string grown piece by piece is a tree of a node each; made flat this often, it is its text only.
const flattenEvery = 1024

/** One part of a message while its pieces arrive. */
export class ContentFold {
  /** All but the text, which is stale here once pieces were added. */
  content: Content
  #text: string
  #recent = ''
  #count = 0
  #generatedId: string | undefined

  constructor(content: Content) {
    this.content = content
    this.#text = pieceOf(content)
  }

  /** Whether there is nothing in it that a reader or a provider could miss. */
  get isEmpty(): boolean {
    if (!isText(this.content) || this.#text !== '' || this.#recent !== '') return false
    const { annotations, metadata, providerData, id, protected: sealed } = this.content as Fields
    return !(annotations || metadata || providerData || id || sealed)
  }

  append(piece: string): void {
    this.#recent += piece
    if (++this.#count === flattenEvery) this.#join()
  }

  merge(next: Content): void {
    this.content = mergeFields(this.content, next)
    this.append(pieceOf(next))
  }

  finish(): Content {
    this.#join()
    const { content } = this
    if (content.type === 'function-call') {
      const { index, ...call } = content
      if (index === undefined && call.callId && call.arguments === this.#text) return content
      const callId = call.callId || (this.#generatedId ??= createId('call'))
      return { ...call, callId, arguments: this.#text }
    }
    return isText(content) && content.text !== this.#text
      ? { ...content, text: this.#text }
      : content
  }

  #join(): void {
    // Engines flatten a string to read from it.
    this.#recent.charCodeAt(0)
    this.#text += this.#recent
    this.#recent = ''
    this.#count = 0
  }
}

/** Whether `next`, right after `content`, is more of the same text. */
export function continues(content: Content, next: Content): boolean {
  return (
    content.type === next.type &&
    isText(next) &&
    agree((content as Fields)['id'], (next as Fields)['id']) &&
    agree((content as Fields)['kind'], (next as Fields)['kind'])
  )
}

/** Whether two fields can be told of the same thing: equal, or one of them not known. */
export function agree(left: unknown, right: unknown): boolean {
  return left === right || isMissing(left) || isMissing(right)
}

function isText(content: Content): content is Extract<Content, { text: string }> {
  const { type } = content
  return type === 'text' || type === 'reasoning' || type === 'refusal'
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === '' || value === false
}

function pieceOf(content: Content): string {
  if (content.type === 'function-call') return content.arguments
  return isText(content) ? content.text : ''
}

function mergeFields(content: Content, next: Content): Content {
  let merged = content as Fields
  for (const key of Object.keys(next)) {
    const had = merged[key]
    let value = (next as Fields)[key]
    if (value === undefined || key === 'text' || key === 'arguments') continue
    if (key === 'annotations') value = [...(merged.annotations ?? []), ...next.annotations!]
    else if (key === 'metadata') value = { ...merged.metadata, ...next.metadata }
    else if (value === had || !(isMissing(had) || isReplaced(key, next))) continue
    merged = { ...merged, [key]: value }
  }
  return merged
}

// A signature comes when the thinking or the call is complete, and then it is of the whole.
function isReplaced(key: string, { type }: Content): boolean {
  return (
    key === 'protected' ||
    (key === 'providerData' && (type === 'reasoning' || type === 'function-call'))
  )
}
