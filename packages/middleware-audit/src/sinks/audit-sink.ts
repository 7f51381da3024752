import type { AuditEntry, AuditHead, AuditRecord } from '../record/audit-record.ts'

/** Where records go. Calls of `write` never overlap; one that fails is made again with the same entries. */
export interface AuditSink {
  /** For events about it. */
  readonly name: string
  write(entries: readonly AuditEntry[]): void | Promise<void>
  /** What the log holds already: the chain goes on from there. */
  open?(): Promise<AuditOpening>
  close?(): void | Promise<void>
}

export interface AuditOpening {
  readonly head?: AuditHead | undefined
  /** What a crash had left of a line that was not whole. */
  readonly torn?: { readonly bytes: number; readonly sha256: string } | undefined
}

/** A sink, or a function that is given the records of a batch. */
export type AuditSinkInput = AuditSink | ((records: readonly AuditRecord[]) => void | Promise<void>)

/** What loggers such as pino have. */
export interface AuditLogger {
  info(fields: object, message: string): void
}

/**
 * Writes each record with a logger, as field `audit`. A logger does not tell when it has written, and
 * each process begins a chain of its own.
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
