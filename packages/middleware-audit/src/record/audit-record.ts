/** What a line of the log is about. */
export type AuditType =
  | 'run.start'
  | 'run.end'
  | 'run.blocked'
  | 'run.error'
  | 'model.call'
  | 'tool.call'
  | 'tool.result'
  | 'approval.requested'
  | 'approval.decided'
  | 'decision'
  | 'log.recovered'

/** What a record says besides its place in the chain. JSON. */
export type AuditFacts = Readonly<Record<string, unknown>>

/** One line of the log. */
export interface AuditRecord extends AuditFacts {
  /** Of this format. */
  readonly v: 1
  readonly type: AuditType
  /** ISO 8601. */
  readonly time: string
  /** Which log it is of. */
  readonly chain: string
  /** From 1 up, without gaps. */
  readonly seq: number
  /** The `hash` of the record before it. */
  readonly prev: string
  readonly sig?: AuditSignature | undefined
  /** Of the canonical JSON of all else in it (SHA-256, hex). */
  readonly hash: string
}

export interface AuditSignature {
  /** The id of the key. */
  readonly key: string
  /** Base64url, of the canonical JSON of all but `sig` and `hash`. */
  readonly value: string
}

/** A record, and the line that it is. */
export interface AuditEntry {
  readonly record: AuditRecord
  /** Canonical JSON (RFC 8785), but with `hash` at its end. There is no line break in it. */
  readonly line: string
}

/** Where a chain ends: what its next record follows. */
export interface AuditHead {
  readonly chain: string
  readonly seq: number
  readonly hash: string
}
