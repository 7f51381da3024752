import type { ChatPart } from '../reader/answer-fold.ts'
import { fileOf } from './ui-file.ts'

/** A chunk of a UI message stream. */
export interface UiChunk {
  readonly type: string
  readonly [field: string]: unknown
}

interface Call {
  text: string
  isReady: boolean
  hasResult: boolean
}

/** Writes parts of an answer, whole or in pieces, as chunks. */
export class PartChunks {
  readonly #calls = new Map<string, Call>()
  readonly #sources = new Set<string>()
  #open:
    | { readonly kind: 'text' | 'reasoning'; readonly of: string; readonly id: string }
    | undefined
  #count = 0
  /** Calls by the provider's index, for pieces without an id. */
  #byIndex = new Map<unknown, string>()

  /** Calls that the reader has from before are known. */
  constructor(known: readonly string[]) {
    for (const callId of known)
      this.#calls.set(callId, { text: '', isReady: true, hasResult: false })
  }

  has(callId: string): boolean {
    return this.#calls.has(callId)
  }

  hasResult(callId: string): boolean {
    return this.#calls.get(callId)?.hasResult === true
  }

  add(part: ChatPart): UiChunk[] {
    const { type, text = '' } = part
    if (type === 'text' || type === 'refusal')
      return [...this.#piece('text', type, text), ...this.#cite(part)]
    if (type === 'reasoning') return this.#piece('reasoning', type, text)
    if (type === 'function-call') return [...this.#close(), ...this.#call(part)]
    if (type === 'function-result') return [...this.#close(), ...this.#result(part)]
    const file = fileOf(part)
    return file === undefined ? [] : [...this.#close(), file]
  }

  /** Ends what is open: blocks, and calls whose arguments are complete by now. */
  finish(): UiChunk[] {
    const ready = [...this.#calls].flatMap(([callId, call]) => this.#ready(callId, call))
    return [...this.#close(), ...ready]
  }

  #piece(kind: 'text' | 'reasoning', of: string, delta: string): UiChunk[] {
    const chunks: UiChunk[] = []
    if (this.#open?.of !== of) {
      chunks.push(...this.#close())
      this.#open = { kind, of, id: String(this.#count++) }
      chunks.push({ type: `${kind}-start`, id: this.#open.id })
    }
    chunks.push({ type: `${kind}-delta`, id: this.#open.id, delta })
    return chunks
  }

  #close(): UiChunk[] {
    if (this.#open === undefined) return []
    const { kind, id } = this.#open
    this.#open = undefined
    return [{ type: `${kind}-end`, id }]
  }

  #cite({ annotations }: ChatPart): UiChunk[] {
    const list = Array.isArray(annotations) ? (annotations as Record<string, unknown>[]) : []
    return list.flatMap(({ uri, title }) => {
      if (typeof uri !== 'string' || this.#sources.has(uri)) return []
      this.#sources.add(uri)
      const name = typeof title === 'string' ? { title } : {}
      return [{ type: 'source-url', sourceId: String(this.#count++), url: uri, ...name }]
    })
  }

  #call({ callId: given, name = '', arguments: delta = '', index }: ChatPart): UiChunk[] {
    const callId = given || this.#byIndex.get(index)
    if (callId === undefined) return []
    if (index !== undefined) this.#byIndex.set(index, callId)
    const known = this.#calls.get(callId)
    if (known?.isReady === true) return []
    const chunks: UiChunk[] = []
    const call = known ?? { text: '', isReady: false, hasResult: false, name }
    if (known === undefined) {
      this.#calls.set(callId, Object.assign(call, { name }))
      chunks.push({ type: 'tool-input-start', toolCallId: callId, toolName: name, dynamic: true })
    }
    call.text += delta
    if (delta !== '')
      chunks.push({ type: 'tool-input-delta', toolCallId: callId, inputTextDelta: delta })
    return chunks
  }

  #ready(callId: string, call: Call): UiChunk[] {
    if (call.isReady) return []
    call.isReady = true
    const { name: toolName = '' } = call as Call & { readonly name?: string }
    const shared = { toolCallId: callId, toolName, dynamic: true }
    try {
      const input: unknown = call.text === '' ? {} : JSON.parse(call.text)
      return [{ type: 'tool-input-available', ...shared, input }]
    } catch {
      const errorText = 'The arguments are not JSON.'
      return [{ type: 'tool-input-error', ...shared, input: call.text, errorText }]
    }
  }

  #result({ callId = '', name = '', contents = [], error }: ChatPart): UiChunk[] {
    const opening = this.has(callId) ? [] : this.#call(openingOf(callId, name, ''))
    const call = this.#calls.get(callId)
    if (call === undefined) return []
    const chunks = [...opening, ...this.#ready(callId, call)]
    call.hasResult = true
    if (error?.code === 'rejected' || error?.code === 'denied') {
      return [...chunks, { type: 'tool-output-denied', toolCallId: callId }]
    }
    if (error !== undefined) {
      return [...chunks, { type: 'tool-output-error', toolCallId: callId, errorText: error.code }]
    }
    const output = contents.map(({ text = '' }) => text).join('')
    return [...chunks, { type: 'tool-output-available', toolCallId: callId, output }]
  }
}

/** A whole call as a part. */
export function openingOf(callId: string, name: string, args: string): ChatPart {
  return { type: 'function-call', callId, name, arguments: args }
}
