import type { ProviderErrorKind } from '@lamella/core'
import type { FailureVerdict } from '@lamella/transport'
import { statusVerdicts, tooLongWords } from '@lamella/transport'

/** The fields of an error report. */
export interface ErrorFacts {
  readonly type?: string
  /** `details.error_code`, which is more exact than the type. */
  readonly code?: string
  readonly message?: string
}

// https://platform.claude.com/docs/en/api/errors, 2026-11.
const types: Readonly<Record<string, ProviderErrorKind>> = {
  authentication_error: 'auth',
  permission_error: 'auth',
  billing_error: 'quota',
  not_found_error: 'not_found',
  request_too_large: 'context_length',
  rate_limit_error: 'rate_limit',
  timeout_error: 'timeout',
  overloaded_error: 'overloaded',
  api_error: 'server',
  conflict_error: 'server',
}

// More exact than type and status: limits of spending come as `invalid_request_error` or as 429.
const telling: readonly (readonly [RegExp, FailureVerdict])[] = [
  [/credit balance|spend(ing)? limit|usage limits?\b|extra usage is required/i, { kind: 'quota' }],
  [tooLongWords, { kind: 'context_length' }],
  [/content filtering|content[ _]filter/i, { kind: 'content_filter' }],
]

/** Classifies a failure. Without a status, the provider failed inside an answer. */
export function kindOf(facts: ErrorFacts, status: number | undefined): FailureVerdict {
  const { type = '', code = '', message = '' } = facts
  if (/spend_?limit|billing/i.test(code)) return { kind: 'quota' }
  if (
    status === undefined ||
    status === 400 ||
    status === 403 ||
    status === 413 ||
    status === 429
  ) {
    for (const [pattern, verdict] of telling) if (pattern.test(message)) return verdict
  }
  const ofStatus = status === undefined ? undefined : verdicts[status]
  // Gateways send `overloaded_error` with a 500, too.
  if (ofStatus !== undefined) return type === 'overloaded_error' ? { kind: 'overloaded' } : ofStatus
  const known = Object.hasOwn(types, type) ? types[type] : undefined
  if (known !== undefined) return { kind: known }
  if (status === undefined && type !== 'invalid_request_error') return { kind: 'server' }
  return { kind: status !== undefined && status >= 500 ? 'server' : 'invalid_request' }
}

const verdicts: Readonly<Record<number, FailureVerdict>> = {
  ...statusVerdicts,
  413: { kind: 'context_length' },
  500: { kind: 'server' },
}
