import type { ProviderErrorKind } from '@lamella/core'
import type { FailureVerdict, WireObject } from '@lamella/transport'
import { listOf, recordOf, stringOf, tooLongWords, verdictOfStatus } from '@lamella/transport'
import { endingOf, isFailure } from './endings.ts'

/** Fields of an error report. */
export interface ErrorFacts {
  /** HTTP status in the report, of failures inside an answer. */
  readonly code?: number | undefined
  /** Name of the failure, such as `RESOURCE_EXHAUSTED`. */
  readonly status?: string | undefined
  readonly message?: string | undefined
  readonly details: readonly WireObject[]
}

// Failures inside an answer may have no status of HTTP. google.rpc.Code, 2026-11.
const httpStatuses: Readonly<Record<string, number>> = {
  CANCELLED: 499,
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  OUT_OF_RANGE: 400,
  NOT_FOUND: 404,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  RESOURCE_EXHAUSTED: 429,
  DEADLINE_EXCEEDED: 504,
  UNAVAILABLE: 503,
  UNIMPLEMENTED: 501,
}

/** Classifies a failure. Without a status of HTTP, Google failed inside an answer. */
export function kindOf(facts: ErrorFacts, httpStatus: number | undefined): FailureVerdict {
  const { status = '' } = facts
  const ending = endingOf(status)
  if (isFailure(ending)) return { kind: ending }
  const telling = tellingKind(facts)
  if (telling !== undefined) return { kind: telling }
  const ofName = Object.hasOwn(httpStatuses, status) ? httpStatuses[status] : undefined
  return verdictOfStatus(httpStatus ?? facts.code ?? ofName)
}

/** Facts more exact than the status: a wrong key is a 400, and a used-up quota a 429. */
function tellingKind(facts: ErrorFacts): ProviderErrorKind | undefined {
  const { status, message = '', details } = facts
  const reasons = details.map(({ reason }) => stringOf(reason))
  if (reasons.includes('API_KEY_INVALID') || /API key (not valid|expired)/i.test(message)) {
    return 'auth'
  }
  if (reasons.includes('BILLING_DISABLED')) return 'quota'
  if (status === 'RESOURCE_EXHAUSTED') return isQuota(facts) ? 'quota' : undefined
  return tooLongWords.test(message) ? 'context_length' : undefined
}

/** A limit of a day, or of nothing at all, is no matter of seconds. */
function isQuota(facts: ErrorFacts): boolean {
  if (quotaIds(facts).some((id) => /PerDay|PerMonth/i.test(id))) return true
  return /\blimit: 0\b|credits? (are|is|has been) (depleted|exhausted)|spend(ing)? (cap|limit)/i.test(
    facts.message ?? '',
  )
}

/** Names of the quotas that a report says are used up. */
export function quotaIds({ details }: ErrorFacts): readonly string[] {
  return details.flatMap(({ violations }) =>
    listOf(violations).map((violation) => String(recordOf(violation)['quotaId'])),
  )
}
