import { createHash } from 'node:crypto'
import { canonicalJson } from '@lamella/core/authoring'
import { sha256 } from './audit-chain.ts'
import type { AuditRecord } from './audit-record.ts'

/** A record as it was written, or why there is none. */
export type ReadRecord =
  | { readonly record: AuditRecord; readonly fault?: undefined }
  | { readonly record?: undefined; readonly fault: string }

/** Reads a line. Its hash is that of its bytes, so that not one of them may differ. */
export function readRecord(line: Uint8Array): ReadRecord {
  const end = Buffer.from(line.subarray(-endLength)).toString()
  const [, hash] = /^,"hash":"([0-9a-f]{64})"\}$/.exec(end) ?? []
  if (hash === undefined) return { fault: 'it does not end with a hash' }
  const own = createHash('sha256').update(line.subarray(0, -endLength)).update('}').digest('hex')
  if (hash !== own) return differs
  try {
    return checkForm(JSON.parse(Buffer.from(line).toString()))
  } catch {
    return { fault: 'it is no JSON' }
  }
}

/** Reads a record that stands in other JSON, as loggers write it. */
export function readValue(value: unknown): ReadRecord {
  try {
    const { hash, ...signed } = value as AuditRecord
    return hash === sha256(canonicalJson(signed)) ? checkForm(value) : differs
  } catch {
    return { fault: 'it cannot be read' }
  }
}

/** What a record's signature is of, if the line says it in no other way. */
export function signedText(record: AuditRecord, line: Uint8Array | undefined): string | undefined {
  const { hash: _hash, ...signed } = record
  const { sig: _sig, ...body } = signed
  const text = canonicalJson(signed).slice(0, -1)
  const isExact = line === undefined || Buffer.from(text).equals(line.subarray(0, -endLength))
  return isExact ? canonicalJson(body) : undefined
}

function checkForm(value: unknown): ReadRecord {
  const { v, seq, prev, chain, hash } = (value ?? {}) as Partial<AuditRecord>
  const isRecord =
    v === 1 &&
    Number.isSafeInteger(seq) &&
    typeof prev === 'string' &&
    typeof chain === 'string' &&
    typeof hash === 'string'
  return isRecord
    ? { record: value as AuditRecord }
    : { fault: 'it is no record of a version that is known' }
}

const endLength = ',"hash":""}'.length + 64
const differs = { fault: 'its hash is not that of its content' }
