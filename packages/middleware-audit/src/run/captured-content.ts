import { createHmac, randomUUID } from 'node:crypto'
import type { Message } from '@lamella/core'
import { canonicalJson } from '@lamella/core/authoring'
import { sha256 } from '../record/audit-chain.ts'
import type { AuditCapture, AuditLogOptions, CaptureMode } from './audit-options.ts'
import { plainJson } from '../record/plain-json.ts'

/** A hash that says whether a content was this one, and nothing else of it. */
export type ContentDigest =
  | { readonly sha256: string; readonly salt: string }
  | { readonly hmac: string }

/**
 * The hash of a content: of its canonical JSON, in hex. With the salt of a record, or the key that the
 * log was made with, an auditor can show that a text was the one that was recorded.
 */
export function contentDigest(
  content: unknown,
  by: { readonly salt: string } | { readonly key: string | Uint8Array },
): ContentDigest {
  const json = canonicalJson(plainJson(content))
  if ('key' in by) return { hmac: createHmac('sha256', by.key).update(json).digest('hex') }
  const { salt } = by
  return { sha256: sha256(salt + json), salt }
}

/** Puts content into records, in the way that was chosen for its kind. */
export class CapturedContent {
  readonly #options: AuditLogOptions

  constructor(options: AuditLogOptions) {
    this.#options = options
  }

  /** `content` is asked for only if it is needed. Nothing where nothing is captured. */
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

/** 122 random bits. Node keeps some ready for UUIDs, and asks the system anew for bytes. */
function newSalt(): string {
  return randomUUID().replaceAll('-', '')
}

/** What somebody said, without ids and what only a provider understands. */
export function said(messages: readonly Message[]): unknown {
  return messages.map(({ role, contents }) => ({
    role,
    contents: contents.map(({ providerData: _data, origin: _origin, ...content }) => content),
  }))
}
