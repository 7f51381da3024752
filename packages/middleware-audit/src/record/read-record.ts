import { createHash } from 'node:crypto'
import { canonicalJson } from '@lamella/core/authoring'
import { sha256 } from './audit-chain.ts'
import type { AuditRecord } from './audit-record.ts'

/** A record with its line, or the reason that the line holds none. */
export type ReadRecord =
  | { readonly record: AuditRecord; readonly fault?: undefined }
  | { readonly record?: undefined; readonly fault: string }

/** Reads a line. The hash covers its bytes, so that none of them may differ. */
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

/** Reads a record that is part of other JSON, as loggers write it. */
export function readValue(value: unknown): ReadRecord {
  try {
    const { hash, ...signed } = value as AuditRecord
    return hash === sha256(canonicalJson(signed)) ? checkForm(value) : differs
  } catch {
    return { fault: 'it cannot be read' }
  }
}

/** Returns the text that a record's signature covers, or `undefined` if the line has another form. */
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
