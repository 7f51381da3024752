import { toBase64, wrongOption } from '@lamella/core/authoring'
import { LamellaError } from '@lamella/core'
import { storeExtensions } from './store-extensions.ts'
import type { KeyValueStore } from '@lamella/core'

/** Encrypts and decrypts the values of a store. */
export interface StoreCipher {
  /** Encrypts the JSON text of a value. `key` is the entry's, to bind the two together. */
  encrypt(text: string, key: string): string | Promise<string>
  /** Decrypts the output of `encrypt`. Throws for anything else. */
  decrypt(text: string, key: string): string | Promise<string>
}

/**
 * Encrypts the values of a store at rest. Keys, numbers (counters), limits and lists stay readable, since
 * the database works with them.
 * @example
 * const secret = crypto.getRandomValues(new Uint8Array(32))
 * const store = encryptedStore(memoryStore(), aesCipher(secret))
 * await store.set('note', 'not for everybody')
 * await store.get('note') // 'not for everybody'
 * @throws TypeError if `cipher` lacks a method
 */
export function encryptedStore<Kept extends KeyValueStore>(store: Kept, cipher: StoreCipher): Kept {
  for (const name of ['encrypt', 'decrypt'] as const) {
    if (typeof cipher?.[name] === 'function') continue
    throw wrongOption('encryptedStore', `cipher.${name}`, 'a function', cipher?.[name])
  }

  const conceal = async (key: string, value: unknown): Promise<unknown> => {
    const json = JSON.stringify(value) as string | undefined
    if (typeof value === 'number' || json === undefined) return value
    return mark + (await cipher.encrypt(json, key))
  }
  const reveal = async (key: string, kept: unknown): Promise<unknown> => {
    if (kept === undefined || typeof kept === 'number') return kept
    try {
      if (typeof kept !== 'string' || !kept.startsWith(mark)) throw new Error('it is not encrypted')
      return JSON.parse(await cipher.decrypt(kept.slice(mark.length), key)) as unknown
    } catch (cause) {
      throw new LamellaError('encryptedStore: an entry cannot be decrypted', {
        code: 'store_invalid',
        cause,
      })
    }
  }

  return {
    ...storeExtensions(store),
    delete: (key) => store.delete(key),
    get: async (key) => reveal(key, await store.get(key)),
    set: async (key, value, options) => store.set(key, await conceal(key, value), options),
    async compareAndSet(key, expected, value, options) {
      const next = await conceal(key, value)
      // No two encryptions are the same text, so values are compared here and texts by the store.
      for (;;) {
        const kept = await store.get(key)
        if (JSON.stringify(await reveal(key, kept)) !== JSON.stringify(expected)) return false
        if (await store.compareAndSet(key, kept, next, options)) return true
      }
    },
  } satisfies KeyValueStore as KeyValueStore as Kept
}

/**
 * Encrypts with AES-GCM and binds each value to its key, so that entries cannot be swapped. A secret has 16
 * or 32 random bytes; `older` secrets still decrypt what they once encrypted.
 * @throws RangeError if a secret has another length
 */
export function aesCipher(secret: Uint8Array, older: readonly Uint8Array[] = []): StoreCipher {
  const secrets = [secret, ...older]
  for (const { length } of secrets) {
    if (length === 16 || length === 32) continue
    throw new RangeError(`aesCipher: a secret must have 16 or 32 bytes, got ${length}`)
  }
  const name = 'AES-GCM'
  const keyOf = (bytes: Uint8Array) =>
    crypto.subtle.importKey('raw', new Uint8Array(bytes), name, false, ['encrypt', 'decrypt'])
  let keys: Promise<Awaited<ReturnType<typeof keyOf>>[]> | undefined

  return {
    async encrypt(text, entry) {
      const [key] = await (keys ??= Promise.all(secrets.map(keyOf)))
      const iv = crypto.getRandomValues(new Uint8Array(12))
      const options = { name, iv, additionalData: bytesOf(entry) }
      const sealed = await crypto.subtle.encrypt(options, key!, bytesOf(text))
      return `${toBase64(iv)}.${toBase64(new Uint8Array(sealed))}`
    },
    async decrypt(text, entry) {
      const [iv = '', sealed = ''] = text.split('.')
      const options = { name, iv: fromBase64(iv), additionalData: bytesOf(entry) }
      const known = await (keys ??= Promise.all(secrets.map(keyOf)))
      const tries = known.map((key) => crypto.subtle.decrypt(options, key, fromBase64(sealed)))
      return new TextDecoder().decode(await Promise.any(tries))
    },
  }
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
}

/** Begins what is encrypted, so that a plain value is recognized as such. */
const mark = 'enc:1:'
