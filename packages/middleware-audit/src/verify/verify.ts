import { createReadStream } from 'node:fs'
import { checkOptions } from '@lamella/core/authoring'
import { firstPrev } from '../record/audit-chain.ts'
import type { AuditHead, AuditRecord } from '../record/audit-record.ts'
import type { AuditKey } from '../record/audit-signature.ts'
import { isSignatureOf } from '../record/audit-signature.ts'
import { splitLines } from './split-lines.ts'
import type { ReadRecord } from '../record/read-record.ts'
import { readRecord, readValue, signedText } from '../record/read-record.ts'

/** A path, several consecutive paths, or the bytes. */
export type AuditSource = string | readonly string[] | AsyncIterable<Uint8Array>

/** Options of {@link verify}. */
export interface VerifyOptions {
  /** Keys by id. With them, each line must be signed with one of them. @default signatures are not checked */
  readonly keys?: Readonly<Record<string, AuditKey>> | undefined
  /** Record before the first line, if the log continues another one. @default the beginning of a chain */
  readonly start?: AuditHead | undefined
  /** Expected hash of the last line, kept elsewhere. Without it, lines at the end can be cut off unseen. */
  readonly last?: string | undefined
  /**
   * Hashes that the log must contain, kept elsewhere while the log grew, such as `audit.head.hash` of each day.
   * Without them, a line can be replaced together with all lines behind it.
   * @default none
   */
  readonly includes?: readonly string[] | undefined
  /** Field that holds the record in lines of a logger, as with `toLogger`. Other lines are skipped. @default none */
  readonly field?: string | undefined
}

/** Problem of the first line that is not as it was written. */
export interface AuditProblem {
  /** Number of the line, from 1. */
  readonly line: number
  /** Kind of the problem. */
  readonly kind: 'altered' | 'removed' | 'inserted' | 'incomplete'
  /** Description, without content of the log. */
  readonly message: string
}

/** Result of a verification. */
export interface Verification {
  /** True if every line is as it was written. */
  readonly ok: boolean
  /** Number of lines before the first problem. */
  readonly lines: number
  /** Last verified record. */
  readonly head: AuditHead | undefined
  /** First problem. Undefined for a good log. */
  readonly problem?: AuditProblem | undefined
}

/**
 * Finds the first line of an audit log that was altered, removed or inserted. An incomplete last line, as a
 * crash leaves it, is reported as `incomplete`; the lines before it are verified.
 * @example
 * ```ts
 * import { verify } from '@lamella/middleware-audit'
 *
 * async function* log() {
 *   yield new TextEncoder().encode('not a record\n')
 * }
 *
 * console.log((await verify(log())).ok) // false
 * ```
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
  /** Undefined if the record is part of other JSON. */
  readonly bytes: Uint8Array | undefined
  readonly line: number
  readonly isWhole: boolean
  readonly read: ReadRecord
}

/** Checks lines, each together with the next one. */
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

  /** Returns false at the first problem. */
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

  /** Records the reason that a line does not follow the one before. */
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
      // Nested too deep, or a key that cannot verify.
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
