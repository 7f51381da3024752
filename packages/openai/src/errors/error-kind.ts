import type { ProviderErrorKind } from '@lamella/core'
import type { FailureVerdict } from '@lamella/transport'
import { tooLongWords } from '@lamella/transport'

/** The fields of an error report, in whichever of the known shapes it came. */
export interface ErrorFacts {
  readonly code?: string
  readonly type?: string
  readonly param?: string
  readonly message?: string
  /** How long to wait, such as `34s`, in Google's `RetryInfo`. */
  readonly retryDelay?: string
}

/** Kinds of failures by a server's codes and types. */
export type ErrorCodes = Readonly<Record<string, ProviderErrorKind>>

const codes: ErrorCodes = {
  context_length_exceeded: 'context_length',
  string_above_max_length: 'context_length',
  content_filter: 'content_filter',
  content_policy_violation: 'content_filter',
  invalid_prompt: 'content_filter',
  ResponsibleAIPolicyViolation: 'content_filter',
  insufficient_quota: 'quota',
  billing_hard_limit_reached: 'quota',
  billing_not_active: 'quota',
  invalid_api_key: 'auth',
  authentication_error: 'auth',
  permission_error: 'auth',
  model_not_found: 'not_found',
  DeploymentNotFound: 'not_found',
  not_found_error: 'not_found',
  rate_limit_exceeded: 'rate_limit',
  rate_limit_error: 'rate_limit',
  engine_overloaded: 'overloaded',
  overloaded_error: 'overloaded',
  server_overloaded: 'overloaded',
  slow_down: 'overloaded',
  insufficient_system_resource: 'overloaded',
  network_error: 'server',
  error: 'server',
  abort: 'server',
  aborted: 'server',
  server_error: 'server',
  internal_error: 'server',
  api_error: 'server',
  vector_store_timeout: 'timeout',
}

// More exact than the code beside them: `rate_limit_exceeded` also stands for what can never pass.
const telling: readonly (readonly [RegExp, FailureVerdict])[] = [
  [/request too large|reduced in order to run/i, { kind: 'rate_limit', retryable: false }],
  [/insufficient (funds|credits|balance)/i, { kind: 'quota' }],
  // Azure's gateway says so with status 403.
  [/out of call volume quota/i, { kind: 'quota' }],
  // Google says this of limits per minute, too, and then when to come back.
  [/^(?!.*retry in).*exceeded your current quota/is, { kind: 'quota' }],
]

// The model, not the caller, got its output wrong (Groq).
const flukes = new Set(['tool_use_failed', 'json_validate_failed'])

const wordy: readonly (readonly [RegExp, ProviderErrorKind])[] = [
  [tooLongWords, 'context_length'],
  [/content management policy|content[ _]filter/i, 'content_filter'],
  [/overloaded/i, 'overloaded'],
]

/** Classifies a failure by the provider's report, if it says more than the status. */
export function kindOfReport(
  facts: ErrorFacts,
  status: number | undefined,
  own: ErrorCodes,
): FailureVerdict | undefined {
  const { code = '', type = '', message: words = '', retryDelay } = facts
  const message = retryDelay === undefined ? words : `${words} retry in ${retryDelay}`
  // A code may be called `constructor`.
  const [known] = [own, codes].flatMap((table) =>
    [code, type].flatMap((word) => (Object.hasOwn(table, word) ? (table[word] ?? []) : [])),
  )
  if (flukes.has(code)) return { kind: 'invalid_request', retryable: true }
  for (const [pattern, verdict] of known === undefined || known === 'rate_limit' ? telling : []) {
    if (pattern.test(message)) return verdict
  }
  const says = known ?? (/polic(y|ies)/.test(code) ? 'content_filter' : undefined)
  // `server_error` is the type of every 5xx, whose status says more.
  if (says !== undefined && (says !== 'server' || status === undefined)) return { kind: says }
  const isVague = status === undefined || status === 400 || status === 413 || status === 422
  if (isVague || status >= 500) {
    for (const [pattern, kind] of wordy) if (pattern.test(message)) return { kind }
  }
  if (status === undefined && /invalid|unsupported/.test(`${code} ${type}`)) {
    return { kind: 'invalid_request' }
  }
  return undefined
}
