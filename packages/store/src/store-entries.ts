import { wrongOption } from '@lamella/core/authoring'
import { LamellaError } from '@lamella/core'
import type { WriteOptions } from '@lamella/core'

/** A value as a database keeps it: a number, or JSON text. */
export type StoredValue =
  | {
      /** The value, if it is a number. */
      readonly number: number
      /** Null for a number. */
      readonly text: null
    }
  | {
      /** Null for any other value. */
      readonly number: null
      /** The value as JSON. */
      readonly text: string
    }

/**
 * Reads the arguments of a store's methods for a database.
 * @throws TypeError, RangeError or LamellaError `store_limit`; no message holds a key or a value
 */
export function storeEntries({
  owner,
  maxValueBytes,
}: {
  /** Name of the factory, for error messages. */
  readonly owner: string
  /** Largest size of a value as JSON, in bytes of UTF-8. */
  readonly maxValueBytes: number
}): {
  /** Checks a key: Unicode text without U+0000, at most 1024 bytes. */
  key(key: string): string
  /** Converts a value to its stored form. */
  value(value: unknown): StoredValue
  /** Converts an expected value to its stored form; `undefined` for no value. */
  expected(value: unknown): StoredValue | undefined
  /** Milliseconds to live, a whole number; `undefined` for no limit. */
  ttl(options: WriteOptions | undefined): number | undefined
  /** Checks a number that is added. */
  addend(by: number): number
  /** Converts a stored form to its value. */
  read(text: string | null, number: number | null): unknown
} {
  const encoder = new TextEncoder()
  // A UTF-16 unit takes at most three bytes.
  const isLarger = (text: string, bytes: number): boolean =>
    text.length * 3 > bytes && encoder.encode(text).length > bytes
  const tooLarge = (what: string, limit: number): LamellaError =>
    new LamellaError(`${owner}: ${what} is larger than ${limit} bytes`, { code: 'store_limit' })
  const stored = (value: unknown): StoredValue => {
    if (typeof value === 'number' && Number.isFinite(value)) return { number: value, text: null }
    const text = JSON.stringify(value) as string | undefined
    if (text === undefined) throw wrongOption(owner, 'value', 'JSON', value)
    return { number: null, text }
  }
  return {
    key(key) {
      if (typeof key !== 'string' || /[\0\p{Surrogate}]/u.test(key)) {
        throw new TypeError(`${owner}: \`key\` must be Unicode text without U+0000`)
      }
      if (isLarger(key, maxKeyBytes)) throw tooLarge('a key', maxKeyBytes)
      return key
    },
    value(value) {
      const entry = stored(value)
      if (isLarger(entry.text ?? '', maxValueBytes)) throw tooLarge('a value', maxValueBytes)
      return entry
    },
    expected: (value) => (value === undefined ? undefined : stored(value)),
    ttl({ ttlMs = Infinity } = {}) {
      if (!(ttlMs > 0)) throw wrongOption(owner, 'ttlMs', 'above 0', ttlMs)
      return ttlMs > longestTtlMs ? undefined : Math.ceil(ttlMs)
    },
    addend(by) {
      if (!Number.isFinite(by)) throw wrongOption(owner, 'by', 'a finite number', by)
      return by
    },
    read(text, number) {
      if (typeof number === 'number') return number
      try {
        return JSON.parse(text ?? '') as unknown
      } catch {
        throw new LamellaError(`${owner}: an entry is not JSON`, { code: 'store_invalid' })
      }
    },
  }
}

const maxKeyBytes = 1024
/** A thousand years in milliseconds: databases count in whole numbers. */
const longestTtlMs = 31_556_952_000_000
