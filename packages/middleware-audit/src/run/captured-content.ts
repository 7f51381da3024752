import { createHmac, randomFillSync } from 'node:crypto'
import type { Content, Message } from '@lamella/core'
import { sha256 } from '../record/audit-chain.ts'
import type { AuditCapture, AuditLogOptions, CaptureMode } from './audit-options.ts'
import { plainJson, plainText } from '../record/plain-json.ts'

/** Hash that identifies a content without revealing it. */
export type ContentDigest =
  | {
      /** SHA-256 of salt and content, in hex. */
      readonly sha256: string
      /** Random salt of the record, in hex. */
      readonly salt: string
    }
  | {
      /** HMAC-SHA-256 of the content with `hashKey`, in hex. */
      readonly hmac: string
    }

/**
 * Hashes the canonical JSON of a content. With the salt of a record or the key of the log, an auditor can
 * show that a text is the recorded one.
 */
export function contentDigest(
  content: unknown,
  by: { readonly salt: string } | { readonly key: string | Uint8Array },
): ContentDigest {
  const json = plainText(plainJson(content))
  if ('key' in by) return { hmac: createHmac('sha256', by.key).update(json).digest('hex') }
  const { salt } = by
  return { sha256: sha256(salt + json), salt }
}

/** Prepares content for records, in the capture mode of its kind. */
export class CapturedContent {
  readonly #options: AuditLogOptions

  constructor(options: AuditLogOptions) {
    this.#options = options
  }

  /** Returns the recorded form, or `undefined` with mode `none`. Calls `content` only if it is needed. */
  of(kind: keyof AuditCapture, content: () => unknown, subject: string | undefined): unknown {
    const mode: CaptureMode = this.#options.capture?.[kind] ?? (kind === 'errors' ? 'none' : 'hash')
    if (mode === 'none') return undefined
    const value = content()
    if (value === undefined) return undefined
    if (mode === 'full') return plainJson(value)
    return mode === 'hash' ? this.digest(value, subject) : this.#redacted(plainJson(value))
  }

  digest(value: unknown, subject: string | undefined): ContentDigest {
    const { hashKey } = this.#options
    const key = typeof hashKey === 'function' ? hashKey(subject) : hashKey
    return contentDigest(value, key === undefined ? { salt: newSalt() } : { key })
  }

  #redacted(value: unknown): unknown {
    if (typeof value === 'string') return this.#clean(value)
    if (Array.isArray(value)) return value.map((item) => this.#redacted(item))
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value)
    return Object.fromEntries(
      entries.map(([key, item]) => [this.#clean(key), this.#redacted(item)] as const),
    )
  }

  #clean(text: string): string {
    try {
      return this.#options.redact!(text)
    } catch {
      return '[not redacted]'
    }
  }
}

const saltBytes = 16
/** Random bytes for the next salts. */
const salts = Buffer.alloc(256 * saltBytes)
let nextSalt = salts.length

/** Returns 128 random bits, which are drawn for many salts at a time. */
function newSalt(): string {
  if (nextSalt === salts.length) {
    randomFillSync(salts)
    nextSalt = 0
  }
  return salts.toString('hex', nextSalt, (nextSalt += saltBytes))
}

/** Returns messages without ids and without data of the provider. */
export function said(messages: readonly Message[]): unknown {
  return messages.map(({ role, contents }) => ({
    role,
    contents: contents.map(withoutProvider),
  }))
}

function withoutProvider(content: Content): Partial<Content> {
  if (!('providerData' in content || 'origin' in content)) return content
  const { providerData: _data, origin: _origin, ...rest } = content
  return rest
}
