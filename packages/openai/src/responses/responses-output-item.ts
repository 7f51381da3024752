import type { Content } from '@lamella/core'
import type { Origin } from '@lamella/core/authoring'
import type { ArrivingCalls, WireObject } from '@lamella/transport'
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
  readonly index: unknown
  /** Id of a call, which the item has besides its own. */
  readonly callId: string | undefined
  /** The response's calls so far. */
  readonly calls: ArrivingCalls
}

export type Piece = 'text' | 'refusal' | 'summary' | 'raw'

/** How much of a part has been sent. */
interface Part {
  readonly kind: Piece
  readonly index: number
  length: number
}

/** One item of a response on its way: makes contents of its pieces, each with only what is new. */
export class OutputItem {
  isAnnounced = false
  isFinished = false
  annotationCount = 0
  readonly type: string
  readonly id: string | undefined
  readonly index: unknown
  readonly callId: string | undefined
  readonly messageId: string
  readonly #init: OutputItemInit
  readonly #parts: Part[] = []
  #last: Part | undefined
  #thoughtId: string | undefined

  constructor(init: OutputItemInit) {
    this.#init = init
    this.type = init.type
    this.id = init.id
    this.index = init.index
    this.callId = init.callId
    this.messageId = init.messageId
  }

  /** Returns the contents at the announcement of the item. */
  begin(wire: WireObject): Content[] {
    this.isAnnounced = true
    const { type } = this
    if (isCall(type)) return this.#call(wire, { isStart: stringOf(wire['name']) !== undefined })
    const isSilent =
      type === 'message' ||
      type === 'reasoning' ||
      type === 'image_generation_call' ||
      type === 'mcp_approval_request'
    // Shown as it works. What it did replaces it, by its id.
    return isSilent || stringOf(wire['id']) === undefined ? [] : [this.#hosted(wire)]
  }

  /** A piece of a part. */
  piece(kind: Piece, text: string, part: unknown): Content {
    const isNew = this.#count(kind, part, text.length)
    if (kind === 'text' || kind === 'refusal') {
      return isNew ? { type: kind, text, ...this.#own() } : { type: kind, text }
    }
    if (isNew) this.#nextThought()
    const thought = { type: 'reasoning' as const, text, id: this.#thoughtId, kind }
    return isNew ? { ...thought, ...this.#own() } : thought
  }

  /** Returns what a whole part has beyond its pieces. */
  whole(kind: Piece, text: unknown, part: unknown): Content[] {
    const rest = this.#unsent(kind, part, text)
    return rest === '' ? [] : [this.piece(kind, rest, part)]
  }

  /** A piece of the arguments of a call, or all of them. */
  arguments(value: unknown, isWhole: boolean): Content[] {
    return this.#call({ arguments: value }, { isWhole })
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
    const { type, calls, origin } = this.#init
    if (isCall(type)) return [...this.#call(wire, { isWhole: true }), ...calls.endAt(this, origin)]
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

  #call(
    wire: WireObject,
    how: { readonly isStart?: boolean; readonly isWhole?: boolean },
  ): Content[] {
    const { calls, origin, type, id } = this.#init
    const { call_id: callId, name, input, arguments: args, namespace, caller } = wire
    const isFreeText = type === 'custom_tool_call'
    const { providerData } = this.#own({
      type: isFreeText ? 'custom' : undefined,
      namespace: namespace ?? undefined,
      caller: caller ?? undefined,
      async: wire['async'] === true || undefined,
    })
    const known = stringOf(callId) ?? this.callId ?? id
    const piece = { place: this, id: known, name, arguments: input ?? args, isFreeText, ...how }
    return calls.add([{ ...piece, providerData: recordOf(providerData) }], origin)
  }

  #finishMessage(wire: WireObject): Content[] {
    const contents: Content[] = []
    let annotationCount = 0
    const { content } = wire
    const parts = typeof content === 'string' ? [{ text: content }] : listOf(content)
    for (const [index, value] of parts.entries()) {
      const part = recordOf(value)
      const kind = part['type'] === 'refusal' ? 'refusal' : 'text'
      contents.push(...this.whole(kind, part['text'] ?? part['refusal'], index))
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
        contents.push(...this.whole(kind, recordOf(part)['text'], index))
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

  #unsent(kind: Piece, index: unknown, whole: unknown): string {
    if (typeof whole !== 'string') return ''
    return whole.slice(this.#part(kind, typeof index === 'number' ? index : 0)?.length ?? 0)
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
    const providerData = defined({ itemId: id, reasoningId, stored, phase, ...extra })
    return { origin, ...(Object.keys(providerData).length > 0 && { providerData }) }
  }
}

/** Tells if items of a type are calls of the application's tools. */
function isCall(type: string): boolean {
  return type === 'function_call' || type === 'custom_tool_call'
}
