import { failureReason } from './attempt-of.ts'
import { LamellaError } from './lamella-error.ts'

/**
 * A name for the kind of a failure that holds nothing of its message: as `failureReason`, but errors that
 * are not Lamella's are told by their class, and what has none is `_OTHER`, as OpenTelemetry calls it.
 */
export function errorType(error: unknown): string {
  if (LamellaError.is(error)) return failureReason(error)
  const name = (error as { name?: unknown } | null | undefined)?.name
  return typeof name === 'string' && /^[\w$.]{1,64}$/.test(name) ? name : '_OTHER'
}
