import { recordOf } from '../wire/wire.ts'

/** The code of a failed connection, such as `ECONNRESET`, from an error or what caused it. */
export function networkCode(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = recordOf(at)
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(code)) return code
  }
  return undefined
}

/**
 * Tells if the connection failed, rather than the exchange on it.
 * @example
 * ```ts
 * import { isNetworkError } from '@lamella/transport'
 *
 * const failed = new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })
 * console.log(isNetworkError(failed)) // true
 * ```
 */
export function isNetworkError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (
    networkCode(error) !== undefined ||
    /^(terminated|fetch failed|network error)/i.test(error.message)
  )
}

/** Tells if the connection failed by taking too long. */
export function isNetworkTimeout(error: unknown): boolean {
  return /TIMEOUT|TIMEDOUT/.test(networkCode(error) ?? '')
}

/** Tells if an error is of a class, by its name: of two copies of an SDK, `instanceof` knows only one. */
export function isInstance(error: unknown, base: abstract new (...args: never) => Error): boolean {
  for (
    let at: unknown = error;
    at !== null && typeof at === 'object';
    at = Object.getPrototypeOf(at)
  ) {
    if (at.constructor?.name === base.name) return true
  }
  return false
}

// Of Node's fetch, which knows these reasons by their words only. A port may be one that it never calls.
const refusals =
  /^(bad port|unknown scheme|not implemented|invalid url|failed to parse url|request cannot be constructed|url scheme must be)|\b(invalid header value|ByteString)\b/i

/** Tells if `fetch` refused to send a request and always will: its address or a header is not valid. */
export function isUnsendable(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (refusals.test(at.message) || /^ERR_INVALID_(URL|CHAR)/.test(String(recordOf(at)['code']))) {
      return true
    }
  }
  return false
}
