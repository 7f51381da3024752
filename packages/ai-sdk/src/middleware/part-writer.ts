import type { Annotation } from '@lamella/core/authoring'
import type { ChatResponse, ChatResponseUpdate, Content, FunctionCallContent } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import { parseObject } from '@lamella/transport'
import type { AiSdkVersion } from '../model/language-model.ts'
import {
  answerParts,
  citationsOf,
  finishFields,
  metadataOf,
  sourcesOf,
  warningsOf,
} from './answer-parts.ts'

/** The block of text or reasoning that is being written. */
interface OpenBlock {
  readonly kind: 'text' | 'reasoning'
  readonly id: string
  /** Tells it apart from the block before it. */
  readonly key: string
  metadata: { readonly providerMetadata?: WireObject }
  readonly annotations: Annotation[]
}

/** A call whose fragments are still coming. */
interface OpenCall {
  readonly call: FunctionCallContent
  arguments: string
}

/** Writes updates as the parts of a stream. */
export class PartWriter {
  readonly #version: AiSdkVersion
  readonly #calls = new Map<unknown, OpenCall>()
  readonly #told: { id?: string; modelId?: string } = {}
  #block: OpenBlock | undefined
  #blocks = 0
  #hasBegun = false
  /** Content has gone out. */
  hasWritten = false

  constructor(version: AiSdkVersion) {
    this.#version = version
  }

  /** The parts that an update brings. */
  write(update: ChatResponseUpdate): WireObject[] {
    const parts: WireObject[] = []
    this.#begin(parts, update)
    for (const content of update.contents) this.#content(content, update.messageId, parts)
    return parts
  }

  /** The last parts of an answer. */
  end(response: ChatResponse): WireObject[] {
    const parts: WireObject[] = []
    this.#begin(parts, { contents: [] })
    this.#close(parts)
    this.#flushCalls(parts)
    parts.push({ type: 'finish', ...finishFields(response, this.#version) })
    return parts
  }

  /** The parts that tell of a failure, without a word about how the answer would have ended. */
  fail(error: unknown): WireObject[] {
    const parts: WireObject[] = []
    this.#begin(parts, { contents: [] })
    this.#close(parts)
    parts.push({ type: 'error', error })
    return parts
  }

  #begin(parts: WireObject[], update: ChatResponseUpdate): void {
    if (!this.#hasBegun) {
      parts.push({ type: 'stream-start', warnings: warningsOf(update.metadata) })
      this.#hasBegun = true
    }
    const { responseId: id, model: modelId, createdAt } = update
    const isNews =
      (id !== undefined && id !== this.#told.id) ||
      (modelId !== undefined && modelId !== this.#told.modelId)
    if (!isNews) return
    const fields = { ...(id !== undefined && { id }), ...(modelId !== undefined && { modelId }) }
    Object.assign(this.#told, fields)
    const timestamp = createdAt === undefined ? {} : { timestamp: new Date(createdAt) }
    parts.push({ type: 'response-metadata', ...fields, ...timestamp })
  }

  #content(content: Content, messageId: string | undefined, parts: WireObject[]): void {
    switch (content.type) {
      case 'text':
      case 'refusal':
      case 'reasoning':
        return this.#piece(content, messageId, parts)
      case 'function-call':
        return this.#call(content, parts)
      case 'usage':
      case 'error':
        return
      default:
        this.#close(parts)
        this.#flushCalls(parts)
        this.hasWritten = true
        parts.push(...answerParts(content, this.#version))
    }
  }

  #piece(
    content: Extract<Content, { type: 'text' | 'refusal' | 'reasoning' }>,
    messageId: string | undefined,
    parts: WireObject[],
  ): void {
    const kind = content.type === 'reasoning' ? 'reasoning' : 'text'
    const key = `${kind} ${messageId ?? ''} ${content.type === 'reasoning' ? (content.id ?? '') : ''}`
    if (this.#block?.key !== key) {
      this.#close(parts)
      this.#flushCalls(parts)
      const id = String(this.#blocks++)
      this.#block = { kind, id, key, metadata: {}, annotations: [] }
      parts.push({ type: `${kind}-start`, id })
    }
    const block = this.#block
    const metadata = metadataOf(content.providerData)
    if (metadata.providerMetadata !== undefined) block.metadata = metadata
    block.annotations.push(...(content.annotations ?? []))
    this.hasWritten = true
    if (content.text !== '') {
      parts.push({ type: `${kind}-delta`, id: block.id, delta: content.text })
    }
  }

  /** Metadata of a block goes with its end: earlier pieces may not have all of it. */
  #close(parts: WireObject[]): void {
    const block = this.#block
    if (block === undefined) return
    this.#block = undefined
    const { kind, id, metadata, annotations } = block
    const citations = this.#version === 'v4' ? citationsOf(annotations) : []
    const cited = citations.length > 0 ? { citations } : {}
    parts.push({ type: `${kind}-end`, id, ...cited, ...metadata })
    parts.push(...sourcesOf(annotations))
  }

  /** A call goes out whole: as soon as its arguments are an object, or when something else follows. */
  #call(content: FunctionCallContent, parts: WireObject[]): void {
    this.#close(parts)
    this.hasWritten = true
    const key = content.index ?? content.callId
    const known = this.#calls.get(key)
    const open: OpenCall = {
      call: known === undefined ? content : merged(known.call, content),
      arguments: (known?.arguments ?? '') + content.arguments,
    }
    this.#calls.set(key, open)
    const isWhole = open.arguments.trimEnd().endsWith('}') && parseObject(open.arguments)
    if (isWhole) this.#flushCall(key, open, parts)
  }

  #flushCalls(parts: WireObject[]): void {
    for (const [key, open] of this.#calls) this.#flushCall(key, open, parts)
  }

  #flushCall(key: unknown, open: OpenCall, parts: WireObject[]): void {
    this.#calls.delete(key)
    parts.push(...answerParts({ ...open.call, arguments: open.arguments }, this.#version))
  }
}

/** A fragment may leave out what an earlier one told. */
function merged(known: FunctionCallContent, news: FunctionCallContent): FunctionCallContent {
  return { ...known, ...news, callId: news.callId || known.callId, name: news.name || known.name }
}
