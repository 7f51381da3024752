import type { FileHandle } from 'node:fs/promises'
import { open } from 'node:fs/promises'
import { LamellaError } from '@lamella/core'
import { checkOptions } from '@lamella/core/authoring'
import { sha256 } from '../record/audit-chain.ts'
import type { AuditHead } from '../record/audit-record.ts'
import type { AuditOpening, AuditSink } from './audit-sink.ts'
import type { FileLock } from './file-lock.ts'
import { lockFile } from './file-lock.ts'
import { readRecord } from '../record/read-record.ts'

/** Options of `jsonLines()`. */
export interface JsonLinesOptions {
  /**
   * Waits until each batch is on the disk: it then survives a power failure, not only the end of the process.
   * @default false
   */
  readonly fsync?: boolean | undefined
  /**
   * Locks the file against other writers. The lock of an ended process is taken over on the same machine;
   * remove the lock of another machine by hand.
   * @default true
   */
  readonly lock?: boolean | undefined
}

/**
 * Creates a sink that appends each record as a line to a file and continues the chain in the file. A file has one
 * writer, which holds the lock `<path>.lock`; another writer fails with `audit_conflict`.
 *
 * @example
 * ```ts
 * import { auditLog, jsonLines } from '@lamella/middleware-audit'
 *
 * const log = auditLog({ sinks: jsonLines('audit.jsonl') })
 * ```
 */
export function jsonLines(path: string, options: JsonLinesOptions = {}): AuditSink {
  checkOptions('jsonLines', options, { fsync: [true, false], lock: [true, false] })
  const { fsync = false, lock = true } = options
  if (typeof path !== 'string' || path === '') {
    throw new TypeError('jsonLines: `path` must be a string that is not empty')
  }
  let file: FileHandle | undefined
  let held: FileLock | undefined
  let size = 0

  return {
    name: path,

    async open(): Promise<AuditOpening> {
      await file?.close()
      if (lock) held ??= await lockFile(path)
      file = await open(path, 'a+', 0o600)
      const all = await file.stat()
      const tail = await readTail(file, all.size)
      size = all.size - tail.torn.length
      const { torn } = tail
      if (torn.length > 0) await file.truncate(size)
      return {
        head: tail.line && headOf(tail.line, path),
        torn: torn.length > 0 ? { bytes: torn.length, sha256: sha256(torn) } : undefined,
      }
    },

    async write(entries) {
      const handle = file!
      const { size: found } = await handle.stat()
      if (found !== size) {
        throw new LamellaError(
          `${path} has ${found} bytes, not ${size}: another process writes it`,
          {
            code: 'audit_conflict',
          },
        )
      }
      const data = Buffer.from(entries.map(({ line }) => `${line}\n`).join(''))
      try {
        await handle.appendFile(data)
        if (fsync) await handle.datasync()
      } catch (error) {
        // Removes the part that was written, before the retry.
        await handle.truncate(size).catch(() => {})
        throw error
      }
      size += data.length
    },

    async close() {
      const handle = file
      file = undefined
      await handle?.close()
      await held?.release()
      held = undefined
    },
  }
}

/** Reads the last complete line of a file and the bytes behind it. */
async function readTail(
  file: FileHandle,
  size: number,
): Promise<{ readonly line: Buffer | undefined; readonly torn: Buffer }> {
  let tail = Buffer.alloc(0)
  for (let at = size; at > 0; ) {
    const length = Math.min(at, 65_536)
    at -= length
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, at)
    tail = Buffer.concat([buffer, tail])
    const end = tail.lastIndexOf(10)
    const start = end < 0 ? -1 : tail.lastIndexOf(10, end - 1)
    if (end < 0 || (start < 0 && at > 0)) continue
    return { line: tail.subarray(start + 1, end), torn: tail.subarray(end + 1) }
  }
  return { line: undefined, torn: tail }
}

function headOf(line: Buffer, path: string): AuditHead {
  const { record } = readRecord(line)
  if (record === undefined) {
    throw new LamellaError(
      `the last line of ${path} is no record of an audit log, or was altered`,
      {
        code: 'audit_invalid',
      },
    )
  }
  const { chain, seq, hash } = record
  return { chain, seq, hash }
}
