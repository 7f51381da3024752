import type { ProviderErrorKind } from '@lamella/core'
import type { FailureVerdict, WireObject } from '@lamella/transport'
import { listOf, recordOf, stringOf, tooLongWords, verdictOfStatus } from '@lamella/transport'

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

/**
 * Finish reasons of an answer that broke off. Those of a random slip are worth a retry: the same request
 * usually succeeds.
 */
export const brokenAnswers = {
  MALFORMED_FUNCTION_CALL: { kind: 'server' },
  MALFORMED_RESPONSE: { kind: 'server' },
  UNEXPECTED_TOOL_CALL: { kind: 'server' },
  TOO_MANY_TOOL_CALLS: { kind: 'server' },
  OTHER: { kind: 'server' },
  IMAGE_OTHER: { kind: 'server' },
  NO_IMAGE: { kind: 'server' },
  FINISH_REASON_UNSPECIFIED: { kind: 'server' },
  MISSING_THOUGHT_SIGNATURE: { kind: 'invalid_request' },
  LANGUAGE: { kind: 'invalid_request' },
} as const satisfies Readonly<Record<string, FailureVerdict>>

/** Returns true if an answer that ends for this reason is a failure. */
export function isBroken(finishReason: string): finishReason is keyof typeof brokenAnswers {
  return Object.hasOwn(brokenAnswers, finishReason)
}

/** Classifies a failure. Without a status of HTTP, Google failed inside an answer. */
export function kindOf(facts: ErrorFacts, httpStatus: number | undefined): FailureVerdict {
  const { status = '' } = facts
  if (isBroken(status)) return brokenAnswers[status]
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
