import type { AuditRecord } from './record/audit-record.ts'
import type { AuditSink } from './sinks/audit-sink.ts'

/** A sink in memory. */
export function memorySink(): AuditSink & {
  readonly records: AuditRecord[]
  readonly batches: number[]
  text(): string
} {
  const records: AuditRecord[] = []
  const lines: string[] = []
  const batches: number[] = []
  return {
    name: 'memory',
    records,
    batches,
    write(entries) {
      batches.push(entries.length)
      for (const { record, line } of entries) {
        records.push(record)
        lines.push(`${line}\n`)
      }
    },
    text: () => lines.join(''),
  }
}

/** Bytes to be verified. */
export async function* bytes(
  ...chunks: readonly (string | Uint8Array)[]
): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk
}
