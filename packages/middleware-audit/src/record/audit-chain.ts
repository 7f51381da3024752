import { hash as digest, randomUUID } from 'node:crypto'
import type { AuditEntry, AuditFacts, AuditHead, AuditRecord, AuditType } from './audit-record.ts'
import type { AuditSigning } from './audit-signature.ts'
import { signText } from './audit-signature.ts'
import { inOrder, plainJson, plainText } from './plain-json.ts'

/** `prev` of the first record of a chain. */
export const firstPrev: string = '0'.repeat(64)

/** A record before it has a place in a chain. */
export type UnchainedRecord = AuditFacts & Pick<AuditRecord, 'v' | 'type' | 'time'>

/** Copies facts into a record, which changes no more than its place. */
export function unchainedRecord(type: AuditType, time: string, facts: AuditFacts): UnchainedRecord {
  const place = { chain: '', seq: 0, prev: '' }
  return plainJson({ ...facts, v: 1, type, time, ...place }) as UnchainedRecord
}

/** Creates records, each with the hash of the record before it. */
export class AuditChain {
  #head: AuditHead
  readonly #signing: AuditSigning | undefined

  constructor(signing: AuditSigning | undefined, head?: AuditHead) {
    this.#signing = signing
    this.#head = head ?? { chain: randomUUID(), seq: 0, hash: firstPrev }
  }

  get head(): AuditHead {
    return this.#head
  }

  /** Creates the next record. */
  next(unchained: UnchainedRecord): AuditEntry {
    const { chain, seq, hash: prev } = this.#head
    const body = { ...unchained, chain, seq: seq + 1, prev }
    const sig = this.#signing && {
      key: this.#signing.keyId,
      value: signText(plainText(body), this.#signing.key),
    }
    const signed = sig === undefined ? body : inOrder({ ...body, sig })
    const text = plainText(signed)
    const hash = sha256(text)
    const record: AuditRecord = { ...signed, hash }
    this.#head = { chain, seq: record.seq, hash }
    return { record, line: `${text.slice(0, -1)},"hash":"${hash}"}` }
  }
}

/** Returns the SHA-256 hash in hex. */
export function sha256(data: string | Uint8Array): string {
  return digest('sha256', data, 'hex')
}
