import type { ProviderErrorKind } from '@lamella/core'
import { isProviderError, LamellaError } from '@lamella/core'
import { retryableKinds, wrongOption } from '@lamella/core/authoring'

/**
 * Class of a failed model call. `transient` covers failures that may be over soon: `rate_limit`,
 * `overloaded`, `timeout`, `network`, `truncated_stream` and `server`. `invalid_output` is an answer
 * that an inner schema or retry middleware rejected for good.
 */
export type FailureClass = ProviderErrorKind | 'transient' | 'invalid_output'

const others: readonly FailureClass[] = [
  'quota',
  'auth',
  'invalid_request',
  'context_length',
  'content_filter',
  'not_found',
  'transient',
  'invalid_output',
]

/** Tells whether an error is of one of the classes. */
export function isOfClass(error: unknown, classes: readonly FailureClass[]): boolean {
  if (!isProviderError(error)) {
    const isInvalid =
      LamellaError.is(error, 'schema_invalid') || LamellaError.is(error, 'reply_rejected')
    return isInvalid && classes.includes('invalid_output')
  }
  const { kind } = error
  return classes.includes(kind) || (retryableKinds.has(kind) && classes.includes('transient'))
}

/**
 * Checks an option that lists classes.
 * @throws TypeError that names the option and the value
 */
export function checkClasses(owner: string, option: string, value: unknown): void {
  const known: readonly unknown[] = [...retryableKinds, ...others]
  const isList = Array.isArray(value) && value.every((entry) => known.includes(entry))
  if (value === undefined || typeof value === 'function' || isList) return
  throw wrongOption(owner, option, `a function or a list of ${known.join(', ')}`, value)
}
