import type { AuditEntry, AuditHead, AuditRecord } from '../record/audit-record.ts'

/** Destination of records. */
export interface AuditSink {
  /** Name in events. */
  readonly name: string
  /** Writes entries. Calls never overlap; a failed call is repeated with the same entries. */
  write(entries: readonly AuditEntry[]): void | Promise<void>
  /** Returns the state of an existing log, which the chain continues. */
  open?(): Promise<AuditOpening>
  /** Releases resources when the log is closed. */
  close?(): void | Promise<void>
}

/** State of an existing log. */
export interface AuditOpening {
  /** Last record. Undefined in an empty log. */
  readonly head?: AuditHead | undefined
  /** Part of a line that a crash left at the end, removed from the log. Undefined without one. */
  readonly torn?:
    | {
        /** Length in bytes. */
        readonly bytes: number
        /** SHA-256 of the bytes, in hex. */
        readonly sha256: string
      }
    | undefined
}

/** A sink, or a function that receives the records of a batch. */
export type AuditSinkInput = AuditSink | ((records: readonly AuditRecord[]) => void | Promise<void>)

/** Logger such as pino. */
export interface AuditLogger {
  /** Writes a line with fields and a message. */
  info(fields: object, message: string): void
}

/**
 * Creates a sink that writes each record with a logger, as field `audit`. A logger does not report when it
 * has written, and each process begins a chain of its own.
 */
export function toLogger(logger: AuditLogger): AuditSink {
  return {
    name: 'logger',
    write(entries) {
      for (const { record } of entries) logger.info({ audit: record }, record.type)
    },
  }
}

export function toSink(input: AuditSinkInput): AuditSink {
  if (typeof input !== 'function') return input
  return { name: 'function', write: (entries) => input(entries.map(({ record }) => record)) }
}
