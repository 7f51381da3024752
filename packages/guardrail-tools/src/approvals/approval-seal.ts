import { canonicalJson } from '@lamella/core/authoring'
import type { SealKey } from '../policy/tool-policy-options.ts'

/** Data that a signature binds an approval to. */
export interface SealedCall {
  readonly tool: string
  readonly callId: string
  readonly arguments: unknown
  /** Id of the session, or of the run without one. */
  readonly scope: string
  readonly agent: string
  readonly tenant: string | undefined
  readonly principal: string | undefined
  readonly subject: string
  readonly expiresAt: number
  readonly nonce: string
}

/** Signs a request. */
export async function seal(call: SealedCall, { id, key }: SealKey): Promise<string> {
  return `${id}.${await mac(call, key)}`
}

/** Resolves to true if a seal matches the tool call with any of the keys. */
export async function isSealed(
  call: SealedCall,
  given: unknown,
  keys: readonly SealKey[],
): Promise<boolean> {
  if (typeof given !== 'string') return false
  const [id, tag] = given.split('.')
  const key = keys.find((one) => one.id === id)
  return key !== undefined && isSame(tag ?? '', await mac(call, key.key))
}

async function mac(call: SealedCall, key: string | Uint8Array): Promise<string> {
  const bytes = typeof key === 'string' ? new TextEncoder().encode(key) : new Uint8Array(key)
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const imported = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign'])
  const tag = await crypto.subtle.sign(
    'HMAC',
    imported,
    new TextEncoder().encode(canonicalJson(call)),
  )
  return hex(tag)
}

function hex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Compares in constant time. */
function isSame(left: string, right: string): boolean {
  let difference = left.length ^ right.length
  for (let at = 0; at < right.length; at++) difference |= left.charCodeAt(at) ^ right.charCodeAt(at)
  return difference === 0
}
