import { isThenable } from './promises.ts'

/**
 * Throws unless `ok`, saying what `value` is: an object by its kind alone.
 * @throws RangeError for a value of the right `type`, TypeError for any other
 */
export function checkValue(
  ok: boolean,
  option: string,
  rule: string,
  value: unknown,
  type?: string,
): void {
  if (ok) return
  const Kind = typeof value === type ? RangeError : TypeError
  throw new Kind(`${option} must ${rule}, got ${described(value)}`)
}

/** Describes a value in an error: an object by its kind alone, and a string that may be a secret as well. */
export function described(value: unknown, isSecret = false): string {
  if (typeof value === 'string' && !(isSecret && value)) return JSON.stringify(value)
  const kind = Array.isArray(value) ? 'list' : isThenable(value) ? 'promise' : typeof value
  if (value !== Object(value) && kind !== 'string') return String(value)
  return `${kind === 'object' ? 'an' : 'a'} ${kind}`
}
