import { LamellaError } from './lamella-error.ts'
import { isProviderError } from './provider-error.ts'

/** A name for a kind of failure that holds nothing of its message. */
export function errorType(error: unknown): string {
  if (isProviderError(error)) return error.kind
  if (LamellaError.is(error)) return error.code
  const name = (error as { name?: unknown } | null | undefined)?.name
  return typeof name === 'string' && /^[\w$.]{1,64}$/.test(name) ? name : '_OTHER'
}
