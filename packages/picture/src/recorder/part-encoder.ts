import type { Content } from '@lamella/core'
import type { PartFacts, TextFacts } from '../lines/line.ts'
import type { RecorderOptions } from './recorder-options.ts'

const knownTypes = new Set([
  'text',
  'reasoning',
  'data',
  'uri',
  'function-call',
  'function-result',
  'approval-request',
  'approval-response',
  'refusal',
  'error',
  'usage',
  'hosted',
])

const finishReasons = new Set([
  'stop',
  'length',
  'tool-calls',
  'content-filter',
  'refusal',
  'error',
])

/** Turns what was said into what a recording holds of it, by its `capture`. */
export class PartEncoder {
  readonly #capture: 'facts' | 'redacted' | 'full'
  readonly #redact: (text: string) => string
  readonly #maxTextChars: number
  readonly #knownNames = new Set<string>()
  readonly #functionCalls = new Map<string, number>()

  constructor({ capture = 'facts', redact, maxTextChars = 20_000 }: RecorderOptions) {
    this.#capture = capture
    this.#redact = redact ?? ((text) => text)
    this.#maxTextChars = maxTextChars
  }

  get isFull(): boolean {
    return this.#capture === 'full'
  }

  get hasTexts(): boolean {
    return this.#capture !== 'facts'
  }

  /** Names that are facts of the application: a model may call a tool by any name. */
  learn(names: readonly string[]): void {
    for (const name of names) this.#knownNames.add(name)
  }

  /** Number of a function call in its run. */
  functionCall(callId: string): number {
    const known = this.#functionCalls.get(callId)
    if (known !== undefined) return known
    this.#functionCalls.set(callId, this.#functionCalls.size + 1)
    return this.#functionCalls.size
  }

  text(text: string): TextFacts {
    const { length: len } = text
    if (!this.hasTexts) return { len }
    const shown = this.clean(text)
    if (shown === undefined) return { len }
    if (shown.length <= this.#maxTextChars) return { len, text: shown }
    return { len, text: wholeCharacters(shown, this.#maxTextChars), cut: true }
  }

  /** A text after `redact`, or nothing where that fails. */
  clean(text: string): string | undefined {
    if (this.#capture === 'full') return text
    try {
      return this.#redact(text)
    } catch {
      return undefined
    }
  }

  /** JSON with each of its texts redacted, whatever escapes they were written with. */
  json(value: unknown): TextFacts {
    const written = jsonOf(value)
    if (!this.hasTexts) return { len: written.length }
    return { ...this.text(jsonOf(this.plain(value))), len: written.length }
  }

  /** Plain JSON of a value, its texts and keys redacted; bytes are named, not copied. */
  plain(value: unknown): unknown {
    return JSON.parse(jsonOf(value), (_, item: unknown) => {
      if (typeof item === 'string') return this.clean(item) ?? '[not redacted]'
      if (typeof item !== 'object' || item === null || Array.isArray(item)) return item
      if (this.#capture === 'full') return item
      const entries = Object.entries(item)
      return Object.fromEntries(entries.map(([key, of]) => [this.clean(key) ?? '[key]', of]))
    }) as unknown
  }

  parts(contents: readonly Content[]): PartFacts[] {
    return contents.map((content) => this.part(content))
  }

  part(content: Content): PartFacts {
    const type = this.isFull || knownTypes.has(content.type) ? content.type : 'other'
    switch (content.type) {
      case 'text':
      case 'reasoning':
      case 'refusal':
        return { type, ...this.text(content.text) }
      case 'uri':
        return {
          type,
          // A file that is written out in its address.
          ...(content.uri.startsWith('data:')
            ? { bytes: bytesOf(content.uri.slice(content.uri.indexOf(',') + 1)) }
            : this.text(content.uri)),
          mediaType: mediaTypeOf(content.mediaType),
        }
      case 'data':
        return {
          type,
          bytes: bytesOf(content.data),
          mediaType: mediaTypeOf(content.mediaType),
          name: content.name === undefined ? undefined : this.text(content.name).text,
        }
      case 'function-call':
        return {
          type,
          ...this.#arguments(content.arguments),
          name: this.name(content.name),
          fn: content.callId === '' ? undefined : this.functionCall(content.callId),
          index: this.isFull ? content.index : undefined,
        }
      case 'function-result':
        return {
          type,
          fn: this.functionCall(content.callId),
          name: this.name(content.name),
          error: content.error?.code,
          parts: this.parts(content.contents),
        }
      case 'approval-request':
        return { type, parts: [this.part(content.call)] }
      case 'approval-response':
        return { type, name: content.approved ? 'approved' : 'rejected' }
      case 'error':
        return { type, ...this.text(content.message) }
      case 'hosted':
        return { type, name: this.name(content.name), ...this.json(content.data ?? null) }
      default:
        return { type, ...this.json(content) }
    }
  }

  /** Why a model stopped: a provider may say anything there. */
  finish(reason: string | undefined): string | undefined {
    if (reason === undefined || finishReasons.has(reason)) return reason
    return this.hasTexts ? this.text(reason).text : 'other'
  }

  name(name: string | undefined): string | undefined {
    if (name === undefined || this.#knownNames.has(name)) return name
    return this.hasTexts ? this.text(name).text : undefined
  }

  #arguments(json: string): TextFacts {
    if (this.#capture !== 'redacted') return this.text(json)
    try {
      return { ...this.json(JSON.parse(json)), len: json.length }
    } catch {
      return this.text(json)
    }
  }
}

function jsonOf(value: unknown): string {
  const json = JSON.stringify(value, function (this: Record<string, unknown>, key, item: unknown) {
    const original = this[key]
    if (original instanceof Uint8Array) return `[${original.byteLength} bytes]`
    return typeof item === 'bigint' ? String(item) : item
  }) as string | undefined
  return json ?? 'null'
}

/** Without half of a surrogate pair at its end. */
function wholeCharacters(text: string, length: number): string {
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}

function bytesOf(data: string | Uint8Array): number {
  if (typeof data !== 'string') return data.byteLength
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0
  return Math.floor((data.length * 3) / 4) - padding
}

function mediaTypeOf(mediaType: string | undefined): string | undefined {
  return mediaType !== undefined && /^[\w.+-]{1,40}\/[\w.+-]{1,60}$/.test(mediaType)
    ? mediaType
    : undefined
}
