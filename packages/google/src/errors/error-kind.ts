import type { ProviderErrorKind } from '@lamella/core'
import type { FailureVerdict, WireObject } from '@lamella/transport'
import { listOf, recordOf, statusVerdicts, stringOf, tooLongWords } from '@lamella/transport'

/** Fields of an error report. */
export interface ErrorFacts {
  /** HTTP status in the report, of failures inside an answer. */
  readonly code?: number | undefined
  /** Name of the failure, such as `RESOURCE_EXHAUSTED`. */
  readonly status?: string | undefined
  readonly message?: string | undefined
  readonly details: readonly WireObject[]
}

// https://ai.google.dev/gemini-api/docs/troubleshooting and google.rpc.Code, 2026-11.
const statuses: Readonly<Record<string, FailureVerdict>> = {
  CANCELLED: { kind: 'network' },
  INVALID_ARGUMENT: { kind: 'invalid_request' },
  FAILED_PRECONDITION: { kind: 'invalid_request' },
  OUT_OF_RANGE: { kind: 'invalid_request' },
  NOT_FOUND: { kind: 'not_found' },
  UNAUTHENTICATED: { kind: 'auth' },
  PERMISSION_DENIED: { kind: 'auth' },
  RESOURCE_EXHAUSTED: { kind: 'rate_limit' },
  DEADLINE_EXCEEDED: { kind: 'timeout' },
  UNAVAILABLE: { kind: 'overloaded' },
  UNIMPLEMENTED: { kind: 'server', retryable: false },
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
  const { status = '', message = '', details } = facts
  if (isBroken(status)) return brokenAnswers[status]
  const code = httpStatus ?? facts.code
  const telling = tellingKind(status, message, details)
  if (telling !== undefined) return { kind: telling }
  if (Object.hasOwn(statuses, status)) return statuses[status]!
  if (code === undefined) return { kind: 'server' }
  return statusVerdicts[code] ?? { kind: code >= 500 ? 'server' : 'invalid_request' }
}

/** Facts more exact than the status: a wrong key is a 400, and a used-up quota a 429. */
function tellingKind(
  status: string,
  message: string,
  details: readonly WireObject[],
): ProviderErrorKind | undefined {
  const reasons = details.map(({ reason }) => stringOf(reason))
  if (reasons.includes('API_KEY_INVALID') || /API key (not valid|expired)/i.test(message)) {
    return 'auth'
  }
  if (reasons.includes('BILLING_DISABLED')) return 'quota'
  if (status === 'RESOURCE_EXHAUSTED') return isQuota(message, details) ? 'quota' : undefined
  return tooLongWords.test(message) ? 'context_length' : undefined
}

/** A limit of a day, or of nothing at all, is no matter of seconds. */
function isQuota(message: string, details: readonly WireObject[]): boolean {
  const violated = details.flatMap(({ violations }) => listOf(violations).map(recordOf))
  if (violated.some(({ quotaId }) => /PerDay|PerMonth/i.test(String(quotaId)))) return true
  return /\blimit: 0\b|credits? (are|is|has been) (depleted|exhausted)|spend(ing)? (cap|limit)/i.test(
    message,
  )
}
