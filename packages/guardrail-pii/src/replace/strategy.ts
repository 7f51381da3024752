import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'

/**
 * Treatment of a find: `[EMAIL]` (`redact`), `j***@*****.***` (`mask`), a keyed hash, another value of the same
 * form (`pseudonymize`), a placeholder of the vault, the end of the run (`block`), or a report (`flag`).
 */
export type Strategy = 'redact' | 'mask' | 'hash' | 'pseudonymize' | 'vault' | 'block' | 'flag'

export const strategies: readonly Strategy[] = [
  'redact',
  'mask',
  'hash',
  'pseudonymize',
  'vault',
  'block',
  'flag',
]

/** Options of the strategy `mask`. */
export interface MaskOptions {
  /** Number of letters and digits at the end that stay, at most half of them. @default 4 */
  readonly keepLast?: number | undefined
  /** Character that replaces the others. @default '*' */
  readonly char?: string | undefined
  /** Keeps characters other than letters and digits. @default true */
  readonly preserveFormat?: boolean | undefined
}

/** Options of the strategy `hash`. */
export interface HashOptions {
  /** Length of the hash in hexadecimal digits. @default 16 */
  readonly length?: number | undefined
  /** Tenant: equal values of two tenants have different hashes. @default '' */
  readonly tenant?: string | undefined
}

export function redacted(kind: string): string {
  return `[${kind.toUpperCase()}]`
}

export function masked(value: string, options: MaskOptions = {}): string {
  const { keepLast = 4, char = '*', preserveFormat = true } = options
  const signs = Array.from(value)
  const counted = signs.filter((sign) => isShown.test(sign)).length
  let left = counted - Math.min(keepLast, Math.floor(counted / 2))
  return signs
    .map((sign) => {
      if (!isShown.test(sign)) return preserveFormat ? sign : char
      return left-- > 0 ? char : sign
    })
    .join('')
}

const isShown = /[\p{L}\p{N}]/u

/** Returns the HMAC-SHA-256 of a value, equal for every spelling of it. */
export function hashed(
  kind: string,
  value: string,
  key: string,
  options: HashOptions = {},
): string {
  const { length = 16, tenant = '' } = options
  const bytes = digest(kind, value, `${key}\0${tenant}`)
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return `[${kind.toUpperCase()}:${hex.slice(0, length)}]`
}

/** Returns another value of the same form, equal for the same value and key. Never a real address. */
export function pseudonym(kind: string, value: string, key: string): string {
  const bytes = digest(kind, value, key)
  if (kind === 'email') {
    const name = Array.from(bytes.subarray(0, 8), (byte) => byte.toString(36)).join('')
    return `${name.slice(0, 10)}@example.com`
  }
  let at = 0
  return value.replace(/[A-Za-z\d]/g, (sign) => {
    const byte = bytes[at++ % bytes.length]! + at
    if (/\d/.test(sign)) return String(byte % 10)
    const first = /[a-z]/.test(sign) ? 97 : 65
    return String.fromCharCode(first + (byte % 26))
  })
}

function digest(kind: string, value: string, key: string): Uint8Array {
  return hmac(sha256, utf8ToBytes(key), utf8ToBytes(`${kind}\0${canonical(kind, value)}`))
}

const exact = ['secret', 'url', 'crypto', 'placeholder']

/** Returns the canonical spelling of a value. */
export function canonical(kind: string, value: string): string {
  const plain = value.normalize('NFKC')
  if (kind === 'email' || kind === 'mac' || kind === 'ip') return plain.toLowerCase()
  if (exact.includes(kind)) return kind === 'placeholder' ? value : plain
  return plain.replace(/[\s().\-/]/g, '').toUpperCase()
}
