import { appendFile, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Yardstick } from '../evaluation/conclude.ts'
import type { RunRecord } from '../runs/run-record.ts'
import { linesOf } from './read-lines.ts'

/** First line of a file of runs. */
export interface RecordFileHeader {
  readonly v: 1
  /** Hash of the evaluation, to tell if the file continues it. */
  readonly fingerprint: string
  readonly yardstick: Yardstick
}

/**
 * Reads the runs of a file. A line that was cut off by a crash is left out.
 * @throws the error of the file system, for example if there is no such file
 */
export async function* readRecords(path: string): AsyncGenerator<RunRecord> {
  for await (const value of readLines(path)) {
    if (typeof (value as Partial<RunRecord>).case === 'string') yield value as RunRecord
  }
}

/** Reads the header of a file of runs. Undefined if there is no such file, or it has none. */
export async function readHeader(path: string): Promise<RecordFileHeader | undefined> {
  try {
    for await (const value of readLines(path)) {
      const header = value as Partial<RecordFileHeader>
      return header.v === 1 && header.yardstick ? (header as RecordFileHeader) : undefined
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  return undefined
}

/** Appends lines to a file that only its owner may read, and makes its folder. */
export async function appendLine(path: string, value: RecordFileHeader | RunRecord): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await appendFile(path, `${JSON.stringify(value)}\n`, { mode: 0o600 })
}

async function* readLines(path: string): AsyncGenerator<object> {
  for await (const line of linesOf(path)) {
    const value = parsed(line)
    if (typeof value === 'object' && value !== null) yield value
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
