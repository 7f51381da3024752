import type { ProviderErrorKind } from '@lamella/core'
import { tooLongWords } from '@lamella/core/transport'

/** The fields of an error report. */
export interface ErrorFacts {
  readonly type?: string
  /** `details.error_code`, which is more exact than the type. */
  readonly code?: string
  readonly message?: string
}

export interface Verdict {
  readonly kind: ProviderErrorKind
  /** Only where it differs from what the kind says. */
  readonly retryable?: boolean
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
const telling: readonly (readonly [RegExp, Verdict])[] = [
  [/credit balance|spend(ing)? limit|usage limits?\b|extra usage is required/i, { kind: 'quota' }],
  [tooLongWords, { kind: 'context_length' }],
  [/content filtering|content[ _]filter/i, { kind: 'content_filter' }],
]

/** Classifies a failure. Without a status, the provider failed inside an answer. */
export function kindOf(facts: ErrorFacts, status: number | undefined): Verdict {
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
  if (status !== undefined && statuses[status] !== undefined) {
    // Gateways send `overloaded_error` with a 500, too.
    return type === 'overloaded_error' ? { kind: 'overloaded' } : statuses[status]
  }
  const known = types[type]
  if (known !== undefined) return { kind: known }
  if (status === undefined && type !== 'invalid_request_error') return { kind: 'server' }
  return { kind: status !== undefined && status >= 500 ? 'server' : 'invalid_request' }
}

const statuses: Readonly<Record<number, Verdict>> = {
  401: { kind: 'auth' },
  402: { kind: 'quota' },
  403: { kind: 'auth' },
  404: { kind: 'not_found' },
  408: { kind: 'timeout' },
  409: { kind: 'server' },
  413: { kind: 'context_length' },
  429: { kind: 'rate_limit' },
  // The request was closed before it was answered, by a gateway if not by this side.
  499: { kind: 'network' },
  500: { kind: 'server' },
  501: { kind: 'server', retryable: false },
  503: { kind: 'overloaded' },
  504: { kind: 'timeout' },
  505: { kind: 'server', retryable: false },
  524: { kind: 'timeout' },
  529: { kind: 'overloaded' },
}
