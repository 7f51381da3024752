import { isProviderError, LamellaError } from '@lamella/core'
import type { ProviderErrorKind } from '@lamella/core'
import { HttpFailure } from './http-failure.ts'

/** Statuses of codes that a run or a store may fail with. Every other code is a 500. */
const statuses: Readonly<Record<string, number>> = {
  aborted: 503,
  approval_invalid: 409,
  approval_used: 409,
  budget_exhausted: 429,
  checkpoint_invalid: 409,
  guardrail_tripped: 422,
  invalid_input: 400,
  rate_limited: 429,
  run_active: 409,
  run_lost: 503,
  run_stopped: 503,
  session_conflict: 409,
  session_unknown: 404,
  store_failed: 503,
  store_timeout: 503,
  timeout: 504,
  untrusted_input: 400,
}

/** The key and the account are the server's own, so their problems are not the client's. */
const providerStatuses: Partial<Record<ProviderErrorKind, number>> = {
  rate_limit: 503,
  overloaded: 503,
  timeout: 504,
}

/**
 * Masks any error: a status, a code and a time to try again. Its message does not describe the
 * original error, which stays its cause.
 */
export function failureOf(error: unknown): HttpFailure {
  if (error instanceof HttpFailure) return error
  const code = LamellaError.is(error) ? error.code : 'run_failed'
  const known = Object.hasOwn(statuses, code) ? statuses[code] : undefined
  // The message about rejected input contains none of it.
  const isOwn = LamellaError.is(error, 'invalid_input')
  const message = isOwn ? error.message : `the run failed (${code})`
  if (isProviderError(error)) {
    const { kind, retry } = error
    const status = providerStatuses[kind] ?? 502
    return new HttpFailure(message, { status, code, retryAfterMs: retry.afterMs, cause: error })
  }
  const { retryAfterMs = code === 'run_active' ? 1000 : undefined } = Object(error) as {
    readonly retryAfterMs?: unknown
  }
  return new HttpFailure(message, {
    status: known ?? 500,
    code,
    retryAfterMs: typeof retryAfterMs === 'number' ? retryAfterMs : undefined,
    cause: error,
  })
}
