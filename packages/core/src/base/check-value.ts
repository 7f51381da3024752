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
  const kind = isThenable(value) ? 'promise' : typeof value
  const got = value === Object(value) ? `${kind === 'object' ? 'an' : 'a'} ${kind}` : String(value)
  throw new Kind(`${option} must ${rule}, got ${typeof value === 'string' ? `"${value}"` : got}`)
}
