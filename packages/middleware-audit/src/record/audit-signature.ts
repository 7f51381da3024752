import type { KeyObject } from 'node:crypto'
import { createHmac, sign, timingSafeEqual, verify } from 'node:crypto'

/**
 * A key for signatures: a secret for HMAC-SHA-256, or a key of an asymmetric pair, such as Ed25519: the
 * private one to sign, the public one to verify.
 */
export type AuditKey = string | Uint8Array | KeyObject

/** Key for the signatures of records. After a change of keys, verify with the earlier ones as well. */
export interface AuditSigning {
  /** Id of the key, written with each signature. */
  readonly keyId: string
  /** Secret or private key. */
  readonly key: AuditKey
}

/** Returns the signature in base64url. */
export function signText(text: string, key: AuditKey): string {
  if (isSecret(key)) return createHmac('sha256', key).update(text).digest('base64url')
  return sign(null, Buffer.from(text), key).toString('base64url')
}

export function isSignatureOf(text: string, signature: string, key: AuditKey): boolean {
  if (!isSecret(key))
    return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'))
  const expected = Buffer.from(signText(text, key))
  const given = Buffer.from(signature)
  return expected.length === given.length && timingSafeEqual(expected, given)
}

/** Returns true for a secret that is not empty, or a private key. */
export function canSign(key: AuditKey): boolean {
  if (isSecret(key)) return key.length > 0
  try {
    return signText('', key) !== ''
  } catch {
    return false
  }
}

function isSecret(key: AuditKey): key is string | Uint8Array {
  return typeof key === 'string' || key instanceof Uint8Array
}
