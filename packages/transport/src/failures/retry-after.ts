/** The part of `Headers` that is read here. */
export interface HeaderReader {
  /** Returns the value of a header, or null. */
  get(name: string): string | null
}

/**
 * How many milliseconds the headers ask to wait: `retry-after-ms`, else `retry-after` in seconds or as
 * a date. It is not capped.
 */
export function retryAfterHeaderMs(
  headers: HeaderReader,
  now: number = Date.now(),
): number | undefined {
  const ms = nonNegative(headers.get('retry-after-ms'))
  if (ms !== undefined) return ms
  const value = headers.get('retry-after')
  const seconds = nonNegative(value)
  return seconds === undefined ? untilDate(value, now) : seconds * 1000
}

/** The milliseconds until a date, 0 for one that has passed, `undefined` for what is none. */
export function untilDate(value: string | null, now: number): number | undefined {
  // `-1` is a date to the parser, too.
  const date = value !== null && /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** The number in a header, or `undefined` where there is none from 0 up. */
export function nonNegative(value: string | null): number | undefined {
  if (value === null || value.trim() === '') return undefined
  const number = Number(value)
  return Number.isFinite(number) && number >= 0 ? number : undefined
}
