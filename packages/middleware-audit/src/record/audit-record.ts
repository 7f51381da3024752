/** Subject of a record. */
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

/** Content of a record besides its place in the chain, as JSON. */
export type AuditFacts = Readonly<Record<string, unknown>>

/** One line of the log. */
export interface AuditRecord extends AuditFacts {
  /** Version of the format. */
  readonly v: 1
  /** Subject of the record. */
  readonly type: AuditType
  /** Time of the record, in ISO 8601. */
  readonly time: string
  /** Id of the log. */
  readonly chain: string
  /** Number of the record: from 1, without gaps. */
  readonly seq: number
  /** `hash` of the record before it. */
  readonly prev: string
  /** Signature. Undefined in a log without signatures. */
  readonly sig?: AuditSignature | undefined
  /** SHA-256 of the canonical JSON of all other fields, in hex. */
  readonly hash: string
}

/** Signature of a record. */
export interface AuditSignature {
  /** Id of the key. */
  readonly key: string
  /** Signature in base64url, over the canonical JSON of all fields but `sig` and `hash`. */
  readonly value: string
}

/** A record with its line. */
export interface AuditEntry {
  /** The record. */
  readonly record: AuditRecord
  /** The record as canonical JSON (RFC 8785), with `hash` at its end and without a line break. */
  readonly line: string
}

/** Last record of a chain. */
export interface AuditHead {
  /** Id of the log. */
  readonly chain: string
  /** Number of the record. */
  readonly seq: number
  /** Hash of the record. */
  readonly hash: string
}
