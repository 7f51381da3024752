import type { ProviderError, ProviderErrorKind } from '@lamella/core'
import { isProviderError } from '@lamella/core'
import type { FailureContext, HeaderReader, WireObject } from '@lamella/transport'
import {
  InBandFailure,
  isNetworkError,
  isNetworkTimeout,
  parseObject,
  providerFailure,
  recordOf,
  reportedFailure,
  retryAfterHeaderMs,
  safeName,
  stringOf,
  TransportFault,
} from '@lamella/transport'
import type { ErrorFacts } from './error-kind.ts'
import { kindOfFailure } from './error-kind.ts'

/** Facts about a call of a model that failed. */
export interface ModelFailure extends FailureContext {
  /** True if a stream had opened: its status says nothing about its end. */
  readonly hasBegun: boolean
}

/** Errors of the AI SDK that come before any request. */
const named: Readonly<Record<string, ProviderErrorKind>> = {
  AI_LoadAPIKeyError: 'auth',
  AI_LoadSettingError: 'auth',
  AI_UnsupportedFunctionalityError: 'invalid_request',
  AI_InvalidPromptError: 'invalid_request',
  AI_InvalidArgumentError: 'invalid_request',
  AI_NoSuchModelError: 'not_found',
  AI_TypeValidationError: 'server',
  AI_JSONParseError: 'server',
  AI_InvalidResponseDataError: 'server',
  AI_EmptyResponseBodyError: 'server',
  AI_NoContentGeneratedError: 'server',
}

const sources = new WeakMap<object, unknown>()

/** Returns the error of a model that a `ProviderError` was made of. */
export function sourceError(error: unknown): unknown {
  return isProviderError(error) ? sources.get(error) : undefined
}

/**
 * Makes a `ProviderError` of what a model threw. The AI SDK's own error holds the request and the answer,
 * so it is not kept as the cause. What is neither its error nor the network's stays as it is.
 */
export function toProviderError(error: unknown, failure: ModelFailure): unknown {
  const made = mapped(error, failure)
  if (isProviderError(made) && made !== error && !(error instanceof TransportFault)) {
    sources.set(made, error instanceof InBandFailure ? error.report : error)
  }
  return made
}

function mapped(error: unknown, failure: ModelFailure): unknown {
  if (isProviderError(error)) return error
  if (error instanceof TransportFault) return providerFailure(error.kind, failure, error)
  if (error instanceof InBandFailure) {
    const { report } = error
    return report instanceof Error
      ? ofError(report, failure, undefined)
      : reported(factsOf(report), {}, undefined, failure)
  }
  const status = recordOf(error)['statusCode']
  return ofError(error, failure, typeof status === 'number' ? status : undefined)
}

function ofError(error: unknown, failure: ModelFailure, status: number | undefined): unknown {
  const name = nameOf(error)
  const isCall = name === 'AI_APICallError'
  const isUnreachable = isCall && status === undefined && recordOf(error)['isRetryable'] === true
  // An answer that had begun has the status of its beginning.
  const isAnswered = status !== undefined && status < 400
  if (isNetworkError(error) || isUnreachable || (isCall && isAnswered && hasNetworkCause(error))) {
    const kind = isNetworkTimeout(error) ? 'timeout' : 'network'
    return providerFailure(failure.hasBegun ? 'truncated_stream' : kind, failure, { cause: error })
  }
  if (isCall && isAnswered) {
    const kind = failure.hasBegun ? 'truncated_stream' : 'server'
    return providerFailure(kind, failure, { words: 'the answer could not be read' })
  }
  if (isCall) return reported(factsOfCall(recordOf(error)), recordOf(error), status, failure)
  const kind = named[name]
  if (kind === undefined) return error
  // Events that cannot be read, or that end without saying that they do.
  if (kind === 'server' && failure.hasBegun) return providerFailure('truncated_stream', failure)
  return providerFailure(kind, failure, { retryable: false })
}

function reported(
  facts: ErrorFacts,
  { responseHeaders, responseBody, isRetryable }: WireObject,
  status: number | undefined,
  context: ModelFailure,
): ProviderError {
  const { kind, retryable } = kindOfFailure(facts, status)
  const headers = headerReader(responseHeaders)
  const code = safeName(facts.code)
  // The verdict of the provider package for a status without a rule here.
  const isTold = kind === 'invalid_request' && isRetryable === true
  const requestId = ['x-request-id', 'request-id', 'x-amzn-requestid'].map((name) =>
    headers.get(name),
  )
  const failure = {
    kind,
    retryable: isTold ? true : retryable,
    status,
    headers,
    names: [code],
    message: facts.message,
    afterMs: retryAfterHeaderMs(headers) ?? retryDelayMs(responseBody),
    requestId: requestId.find((id) => id !== null) ?? undefined,
    details: { ...(code !== undefined && { code }) },
  }
  return reportedFailure(failure, context)
}

/** The name of an error of the AI SDK, of whichever copy of its packages. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : ''
}

function hasNetworkCause(error: unknown): boolean {
  return error instanceof Error && (isNetworkError(error.cause) || hasNetworkCause(error.cause))
}

/** The provider's own report is more exact than the message that the SDK made of it. */
function factsOfCall({ data, responseBody, message }: WireObject): ErrorFacts {
  const body = typeof responseBody === 'string' ? parseObject(responseBody) : undefined
  const facts = factsOf(body ?? data)
  const words = facts.message ?? stringOf(message)
  return { ...facts, ...(words !== undefined && { message: words }) }
}

function factsOf(report: unknown): ErrorFacts {
  if (typeof report === 'string') return { message: report }
  const { error, code, type, status, message, detail, response } = recordOf(report)
  const inner = error ?? recordOf(response)['error']
  if (inner != null) return factsOf(inner)
  const name = [code, status, type].find((value) => typeof value === 'string' && value !== 'error')
  const words = stringOf(message) ?? stringOf(detail)
  return {
    ...(typeof name === 'string' && { code: name }),
    ...(words !== undefined && { message: words }),
  }
}

function headerReader(headers: unknown): HeaderReader {
  const entries = Object.entries(recordOf(headers)).map(
    ([name, value]) => [name.toLowerCase(), String(value)] as const,
  )
  const byName = new Map(entries)
  return { get: (name) => byName.get(name) ?? null }
}

/** Google says in the body when to come back. */
function retryDelayMs(body: unknown): number | undefined {
  const [, seconds] = /"retryDelay":\s*"(\d+(?:\.\d+)?)s"/.exec(stringOf(body) ?? '') ?? []
  return seconds === undefined ? undefined : Number(seconds) * 1000
}
