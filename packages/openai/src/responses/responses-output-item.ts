import type { Content } from '@lamella/core'
import type { Origin } from '@lamella/core/authoring'
import { createId } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import { defined, listOf, recordOf, stringOf } from '@lamella/transport'
import { itemContent } from './responses-items.ts'
import { toAnnotation } from '../answers/to-annotation.ts'

export interface OutputItemInit {
  readonly type: string
  readonly id: string | undefined
  readonly messageId: string
  readonly origin: Origin
  /** The reasoning item that led to this one. */
  readonly reasoningId: string | undefined
  readonly isStored: boolean
  /** Phase of a message: on the way to the answer, or the answer. Goes back as it came. */
  readonly phase: string | undefined
  /** Which of the response's calls it is. */
  readonly callIndex: number | undefined
}

export type Piece = 'text' | 'refusal' | 'summary' | 'raw' | 'arguments'

/** How much of a part has been sent. */
interface Part {
  readonly kind: Piece
  readonly index: number
  length: number
}

/** One item of a response on its way: makes contents of its pieces, each with only what is new. */
export class OutputItem {
  isFinished = false
  annotationCount = 0
  readonly messageId: string
  readonly #init: OutputItemInit
  readonly #parts: Part[] = []
  #last: Part | undefined
  #thoughtId: string | undefined
  #call: { readonly callId: string; readonly name: string } | undefined

  constructor(init: OutputItemInit) {
    this.#init = init
    this.messageId = init.messageId
  }

  /** Returns the contents at the announcement of the item. */
  begin(wire: WireObject): Content[] {
    const { type, callIndex } = this.#init
    if (callIndex !== undefined) return this.#startCall(wire)
    const isSilent =
      type === 'message' ||
      type === 'reasoning' ||
      type === 'image_generation_call' ||
      type === 'mcp_approval_request'
    // Shown as it works. What it did replaces it, by its id.
    return isSilent || stringOf(wire['id']) === undefined ? [] : [this.#hosted(wire)]
  }

  /** A piece of a part, or nothing where it cannot be told yet of what it is a piece. */
  piece(kind: Piece, text: string, part: unknown): Content | undefined {
    if (kind === 'arguments') {
      if (this.#call === undefined) return undefined
      this.#count(kind, 0, text.length)
      return { type: 'function-call', ...this.#call, arguments: text, index: this.#init.callIndex }
    }
    const isNew = this.#count(kind, part, text.length)
    if (kind === 'text' || kind === 'refusal') {
      return isNew ? { type: kind, text, ...this.#own() } : { type: kind, text }
    }
    if (isNew) this.#nextThought()
    const thought = { type: 'reasoning' as const, text, id: this.#thoughtId, kind }
    return isNew ? { ...thought, ...this.#own() } : thought
  }

  /** Counts a piece, and tells if it belongs to another part than the last one. */
  #count(kind: Piece, index: unknown, length: number): boolean {
    const at = typeof index === 'number' ? index : 0
    if (this.#last?.kind === kind && this.#last.index === at) {
      this.#last.length += length
      return false
    }
    let part = this.#part(kind, at)
    if (part === undefined) this.#parts.push((part = { kind, index: at, length: 0 }))
    part.length += length
    this.#last = part
    return true
  }

  #part(kind: Piece, index: number): Part | undefined {
    return this.#parts.find((part) => part.kind === kind && part.index === index)
  }

  /** Returns the contents that the finished item has beyond its pieces. */
  finish(wire: WireObject): Content[] {
    this.isFinished = true
    const { type, callIndex } = this.#init
    if (callIndex !== undefined) return this.#finishCall(wire)
    if (type === 'reasoning') return this.#finishReasoning(wire)
    if (type === 'message') return this.#finishMessage(wire)
    return [this.#hosted(wire)]
  }

  /** Returns the offset of a part in the text of the message. */
  offsetOf(part: unknown): number {
    let offset = 0
    for (const { kind, index, length } of this.#parts) {
      if (kind === 'text' && index < Number(part ?? 0)) offset += length
    }
    return offset
  }

  #startCall(wire: WireObject): Content[] {
    const callId = stringOf(wire['call_id']) ?? this.#init.id ?? createId('call')
    const name = stringOf(wire['name'])
    if (name === undefined || this.#call !== undefined) return []
    this.#call = { callId, name }
    const text = stringOf(wire['input'] ?? wire['arguments']) ?? ''
    this.#count('arguments', 0, text.length)
    const { namespace, caller, async: isAsync } = wire
    const isFreeText = this.#init.type === 'custom_tool_call'
    const extra = defined({
      type: isFreeText ? 'custom' : undefined,
      namespace: namespace ?? undefined,
      caller: caller ?? undefined,
      async: isAsync === true || undefined,
    })
    return [
      {
        type: 'function-call',
        callId,
        name,
        arguments: text,
        index: this.#init.callIndex,
        ...this.#own(extra),
      },
    ]
  }

  #finishCall(wire: WireObject): Content[] {
    const started = this.#startCall(wire)
    const rest = this.#unsent('arguments', 0, wire['input'] ?? wire['arguments'])
    const more = rest === '' ? undefined : this.piece('arguments', rest, 0)
    return more === undefined ? started : [...started, more]
  }

  #finishMessage(wire: WireObject): Content[] {
    const contents: Content[] = []
    let annotationCount = 0
    for (const [index, value] of listOf(wire['content']).entries()) {
      const part = recordOf(value)
      const kind = part['type'] === 'refusal' ? 'refusal' : 'text'
      const rest = this.#unsent(kind, index, part['text'] ?? part['refusal'])
      const more = rest === '' ? undefined : this.piece(kind, rest, index)
      if (more !== undefined) contents.push(more)
      const offset = this.offsetOf(index)
      const annotations = listOf(part['annotations'])
        .filter(() => annotationCount++ >= this.annotationCount)
        .map((annotation) => toAnnotation(annotation, offset))
      if (annotations.length > 0) contents.push({ type: 'text', text: '', annotations })
    }
    this.annotationCount = Math.max(this.annotationCount, annotationCount)
    return contents
  }

  #finishReasoning(wire: WireObject): Content[] {
    const contents: Content[] = []
    for (const [kind, parts] of [
      ['summary', wire['summary']],
      ['raw', wire['content']],
    ] as const) {
      for (const [index, part] of listOf(parts).entries()) {
        const rest = this.#unsent(kind, index, recordOf(part)['text'])
        const more = rest === '' ? undefined : this.piece(kind, rest, index)
        if (more !== undefined) contents.push(more)
      }
    }
    const sealed = stringOf(wire['encrypted_content'])
    if (sealed !== undefined || this.#thoughtId === undefined) {
      const id = this.#thoughtId ?? this.#init.id
      contents.push({
        type: 'reasoning',
        text: '',
        ...defined({ id, protected: sealed }),
        ...this.#own(),
      })
    }
    return contents
  }

  #unsent(kind: Piece, index: number, whole: unknown): string {
    return typeof whole === 'string' ? whole.slice(this.#part(kind, index)?.length ?? 0) : ''
  }

  /** Parts of one item have ids of their own, so that they do not run into one another. */
  #nextThought(): void {
    const { id = '' } = this.#init
    const count = this.#parts.length
    this.#thoughtId = count === 1 ? id : `${id}#${count}`
  }

  #hosted(wire: WireObject): Content {
    const { origin, reasoningId } = this.#init
    return itemContent(wire, { origin, reasoningId })
  }

  #own(extra?: WireObject): Pick<Content, 'origin' | 'providerData'> {
    const { origin, id, reasoningId, type, isStored, phase } = this.#init
    const stored = (type === 'reasoning' && isStored) || undefined
    const providerData = { ...defined({ itemId: id, reasoningId, stored, phase }), ...extra }
    return { origin, ...(Object.keys(providerData).length > 0 && { providerData }) }
  }
}
