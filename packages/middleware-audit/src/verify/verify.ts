import { createReadStream } from 'node:fs'
import { checkOptions } from '@lamella/core/authoring'
import { firstPrev } from '../record/audit-chain.ts'
import type { AuditHead, AuditRecord } from '../record/audit-record.ts'
import type { AuditKey } from '../record/audit-signature.ts'
import { isSignatureOf } from '../record/audit-signature.ts'
import { splitLines } from './split-lines.ts'
import type { ReadRecord } from '../record/read-record.ts'
import { readRecord, readValue, signedText } from '../record/read-record.ts'

/** A path, several that follow one another, or the bytes themselves. */
export type AuditSource = string | readonly string[] | AsyncIterable<Uint8Array>

export interface VerifyOptions {
  /** Keys by their id. With them, each line must be signed with one of them. */
  readonly keys?: Readonly<Record<string, AuditKey>> | undefined
  /** What the first line follows, where the log is the continuation of another. */
  readonly start?: AuditHead | undefined
  /** The hash that the last line must have, kept elsewhere: else lines at the end can be cut off. */
  readonly last?: string | undefined
  /**
   * Hashes that lines must have, kept elsewhere while the log went on, such as `audit.head.hash` of each day: else
   * what was written before them can be replaced together with all that follows.
   */
  readonly includes?: readonly string[] | undefined
  /** The field of other JSON lines that holds the records, as for `toLogger`. Other lines are skipped. */
  readonly field?: string | undefined
}

/** What is wrong with the first line that is not as it was written. */
export interface AuditProblem {
  /** From 1 up. */
  readonly line: number
  readonly kind: 'altered' | 'removed' | 'inserted' | 'incomplete'
  readonly message: string
}

export interface Verification {
  readonly ok: boolean
  /** How many lines are as they were written, and follow one another. */
  readonly lines: number
  /** The last of them. */
  readonly head: AuditHead | undefined
  readonly problem?: AuditProblem | undefined
}

/**
 * Finds the first line of an audit log that was altered, removed or inserted. A last line that is not
 * whole, as a crash leaves it, is `incomplete`; all before it has been verified.
 */
export async function verify(
  source: AuditSource,
  options: VerifyOptions = {},
): Promise<Verification> {
  checkOptions('verify', options, {
    keys: 'any',
    start: 'any',
    last: 'any',
    includes: 'any',
    field: 'any',
  })
  const verifier = new Verifier(options)
  let line = 0
  let ahead: Line | undefined
  for await (const { bytes, isWhole } of splitLines(bytesOf(source))) {
    line++
    const read = readLine(bytes, isWhole, options)
    if (read === undefined) continue
    const next = { line, isWhole, read, bytes: options.field === undefined ? bytes : undefined }
    if (ahead !== undefined && !verifier.take(ahead, next)) return verifier.result
    ahead = next
  }
  if (ahead === undefined || verifier.take(ahead, undefined)) verifier.end()
  return verifier.result
}

interface Line {
  /** Missing where the record stands in other JSON. */
  readonly bytes: Uint8Array | undefined
  readonly line: number
  readonly isWhole: boolean
  readonly read: ReadRecord
}

/** Goes through lines, each with the one after it. */
class Verifier {
  readonly #options: VerifyOptions
  #head: AuditHead | undefined
  #lines = 0
  #lastLine = 0
  #problem: AuditProblem | undefined
  /** Hashes of the last lines. */
  readonly #seen = new Map<string, number>()
  readonly #missing: Set<string>

  constructor(options: VerifyOptions) {
    this.#options = options
    this.#head = options.start
    this.#missing = new Set(options.includes)
    if (options.start) this.#missing.delete(options.start.hash)
  }

  get result(): Verification {
    const problem = this.#problem
    const base = { lines: this.#lines, head: this.#lines > 0 ? this.#head : undefined }
    return problem === undefined ? { ok: true, ...base } : { ok: false, ...base, problem }
  }

  /** False once something is wrong. */
  take(given: Line, next: Line | undefined): boolean {
    const { line, isWhole, read, bytes } = given
    const { record } = read
    if (!isWhole) return this.#fail('incomplete', line, 'it has no end, as after a crash')
    if (record !== undefined && this.#follows(record)) {
      const fault = this.#signatureFault(record, bytes)
      if (fault !== undefined) return this.#fail('altered', line, fault)
      const { chain, seq, hash } = record
      this.#head = { chain, seq, hash }
      this.#lines++
      this.#lastLine = line
      this.#remember(hash, line)
      this.#missing.delete(hash)
      return true
    }
    return this.#explain(given, next)
  }

  end(): void {
    const { last } = this.#options
    if (last !== undefined && this.#head?.hash !== last) {
      this.#fail('removed', this.#lastLine + 1, 'the log does not end with the line that it should')
    } else if (this.#missing.size > 0) {
      this.#fail('removed', this.#lastLine + 1, 'the log does not hold all lines that it should')
    }
  }

  /** Says why a line does not follow. */
  #explain({ line, read }: Line, next: Line | undefined): false {
    const { record } = read
    const isPassedOver = next?.read.record !== undefined && this.#follows(next.read.record)
    if (isPassedOver)
      return this.#fail('inserted', line, 'the line after it follows the one before it')
    if (record === undefined) return this.#fail('altered', line, read.fault)
    const { seq, prev, hash } = record
    const expected = (this.#head?.seq ?? 0) + 1
    if (this.#seen.has(hash))
      return this.#fail('inserted', line, `it is line ${this.#seen.get(hash)} again`)
    const after = this.#seen.get(prev)
    if (after !== undefined) {
      return this.#fail('inserted', after + 1, `line ${line} follows line ${after}`)
    }
    if (seq > expected) {
      const isOne = seq === expected + 1
      const missing = isOne ? `record ${expected} is` : `records ${expected} to ${seq - 1} are`
      return this.#fail('removed', line, `${missing} missing before it`)
    }
    if (seq === expected && this.#lines > 0) {
      const message = `line ${line} was written after another line than this one`
      return this.#fail('altered', this.#lastLine, message)
    }
    return this.#fail('inserted', line, 'it is of another place, or of another log')
  }

  #follows({ chain, seq, prev }: AuditRecord): boolean {
    const head = this.#head
    if (head === undefined) return seq === 1 && prev === firstPrev
    return seq === head.seq + 1 && prev === head.hash && chain === head.chain
  }

  #signatureFault(record: AuditRecord, bytes: Uint8Array | undefined): string | undefined {
    const { keys } = this.#options
    const { sig } = record
    if (keys === undefined) return undefined
    if (sig === undefined) return 'it is not signed'
    const { key, value } = (sig ?? {}) as { readonly key?: unknown; readonly value?: unknown }
    if (typeof key !== 'string' || typeof value !== 'string') return 'its signature has no form'
    if (!Object.hasOwn(keys, key)) {
      return `it is signed with the key ${JSON.stringify(key.slice(0, 100))}, which is not known`
    }
    try {
      const text = signedText(record, bytes)
      if (text !== undefined && isSignatureOf(text, value, keys[key]!)) return undefined
    } catch {
      // It is nested too deep to be read, or the key cannot verify.
    }
    return 'its signature is not right'
  }

  #remember(hash: string, line: number): void {
    this.#seen.set(hash, line)
    if (this.#seen.size > remembered) this.#seen.delete(this.#seen.keys().next().value!)
  }

  #fail(kind: AuditProblem['kind'], line: number, message: string): false {
    this.#problem = { line, kind, message }
    return false
  }
}

const remembered = 10_000

function readLine(
  bytes: Uint8Array,
  isWhole: boolean,
  { field }: VerifyOptions,
): ReadRecord | undefined {
  if (field === undefined) return readRecord(bytes)
  try {
    const outer = JSON.parse(Buffer.from(bytes).toString()) as Record<string, unknown> | null
    const inner = outer?.[field]
    return inner === undefined ? undefined : readValue(inner)
  } catch {
    return isWhole ? undefined : { fault: 'it is no JSON' }
  }
}

async function* bytesOf(source: AuditSource): AsyncGenerator<Uint8Array> {
  if (typeof source === 'object' && Symbol.asyncIterator in source) {
    yield* source
    return
  }
  for (const path of typeof source === 'string' ? [source] : source) {
    yield* createReadStream(path) as AsyncIterable<Buffer>
  }
}
