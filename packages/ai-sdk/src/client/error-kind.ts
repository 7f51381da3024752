import type { ProviderErrorKind } from '@lamella/core'
import type { FailureVerdict } from '@lamella/transport'
import { verdictOfStatus } from '@lamella/transport'

/** Report of a failed call, read from whichever of the known shapes. */
export interface ErrorFacts {
  readonly code?: string
  readonly message?: string
}

// Codes and types in the bodies of OpenAI, Anthropic, Google, Mistral and Bedrock, 2026-11.
const codes: Readonly<Record<string, ProviderErrorKind>> = {
  context_length_exceeded: 'context_length',
  string_above_max_length: 'context_length',
  request_too_large: 'context_length',
  content_filter: 'content_filter',
  content_policy_violation: 'content_filter',
  insufficient_quota: 'quota',
  billing_hard_limit_reached: 'quota',
  billing_error: 'quota',
  invalid_api_key: 'auth',
  authentication_error: 'auth',
  permission_error: 'auth',
  UNAUTHENTICATED: 'auth',
  PERMISSION_DENIED: 'auth',
  AccessDeniedException: 'auth',
  model_not_found: 'not_found',
  not_found_error: 'not_found',
  ResourceNotFoundException: 'not_found',
  rate_limit_exceeded: 'rate_limit',
  rate_limit_error: 'rate_limit',
  ThrottlingException: 'rate_limit',
  throttlingException: 'rate_limit',
  overloaded_error: 'overloaded',
  UNAVAILABLE: 'overloaded',
  ServiceUnavailableException: 'overloaded',
  serviceUnavailableException: 'overloaded',
  ModelTimeoutException: 'timeout',
  DEADLINE_EXCEEDED: 'timeout',
  validationException: 'invalid_request',
  ValidationException: 'invalid_request',
  invalid_request_error: 'invalid_request',
  INVALID_ARGUMENT: 'invalid_request',
}

const words: readonly (readonly [RegExp, FailureVerdict])[] = [
  [
    /context[ _](window|length|limit)|maximum (context|prompt) length|(prompt|input) is too long|too many (input )?tokens|input token count.{0,40}exceeds/i,
    { kind: 'context_length' },
  ],
  [/credit balance|spend(ing)? limit|insufficient (funds|credits|balance)/i, { kind: 'quota' }],
  [/content filtering|content[ _]filter|content management policy/i, { kind: 'content_filter' }],
  [/overloaded/i, { kind: 'overloaded' }],
]

const usedUp = /exceeded your current quota/i
const comesBack = /retry in/i

/** The kind of a failure, by what its report says before what its status says. */
export function kindOfFailure(facts: ErrorFacts, status: number | undefined): FailureVerdict {
  const { code = '', message = '' } = facts
  const known = codes[code]
  // Google says so of limits per minute too, and then when to come back.
  if (usedUp.test(message) && !comesBack.test(message)) return { kind: 'quota' }
  const isVague = known === undefined || known === 'invalid_request' || known === 'rate_limit'
  const mayTell = status === undefined || [400, 403, 413, 422, 429].includes(status)
  if (isVague && mayTell) {
    for (const [pattern, verdict] of words) if (pattern.test(message)) return verdict
  }
  if (known !== undefined && (status === undefined || known !== 'invalid_request')) {
    return { kind: known }
  }
  return status === 413 ? { kind: 'context_length' } : verdictOfStatus(status)
}
