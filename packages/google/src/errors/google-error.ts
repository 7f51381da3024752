import type { ProviderError } from '@lamella/core'
import type { FailureContext, HeaderReader } from '@lamella/transport'
import {
  listOf,
  recordOf,
  reportedFailure,
  reportWords,
  retryAfterHeaderMs,
  safeName,
  stringOf,
  transportError,
} from '@lamella/transport'
import { contentFilter, safetyResults } from '../safety/safety-results.ts'
import type { ErrorFacts } from './error-kind.ts'
import { kindOf, quotaIds } from './error-kind.ts'

/** Makes a `ProviderError` of what a call raised. What is neither Google's nor the network's stays. */
export function toProviderError(error: unknown, context: FailureContext): unknown {
  return transportError(error, context, reported)
}

function reported(
  report: unknown,
  status: number | undefined,
  headers: HeaderReader | undefined,
  context: FailureContext,
): ProviderError {
  const { promptFeedback } = recordOf(report)
  const { blockReason, safetyRatings } = recordOf(promptFeedback)
  const blocked = safeName(blockReason)
  const facts = factsOf(blocked === undefined ? report : { status: blocked })
  const quota = quotaIds(facts).find((id) => safeName(id) !== undefined)
  const failure = {
    ...(blocked === undefined ? kindOf(facts, status) : ({ kind: 'content_filter' } as const)),
    status,
    headers,
    names: [facts.status],
    message: facts.message,
    afterMs: retryDelayMs(facts) ?? (headers && retryAfterHeaderMs(headers)),
    requestId: undefined,
    details: {
      ...(facts.status && { status: facts.status }),
      ...(quota && { quota }),
      ...tokensIn(facts.message),
      ...(blocked && {
        contentFilter: contentFilter(safetyResults(safetyRatings, blocked), undefined),
      }),
    },
  }
  return reportedFailure(failure, context)
}

function factsOf(report: unknown): ErrorFacts {
  // Streams that are no event streams are lists.
  if (Array.isArray(report)) return factsOf(report[0] ?? {})
  const { error, code, status, details } = recordOf(report)
  if (typeof error === 'object' && error !== null) return factsOf(error)
  return {
    code: typeof code === 'number' ? code : undefined,
    status: safeName(status),
    message: reportWords(report),
    details: listOf(details).map(recordOf),
  }
}

/** Such as `{ '@type': '….RetryInfo', retryDelay: '34.074824224s' }`. */
function retryDelayMs({ details }: ErrorFacts): number | undefined {
  for (const { retryDelay } of details) {
    const [, seconds] = /^(\d+(?:\.\d+)?)s$/.exec(stringOf(retryDelay) ?? '') ?? []
    if (seconds !== undefined) return Math.ceil(Number(seconds) * 1000)
  }
  return undefined
}

/** Such as `The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).` */
function tokensIn(message = ''): Readonly<Record<string, number>> {
  const [, got, limit] =
    /token count \(?(\d+)\)? exceeds the maximum number of tokens allowed \(?(\d+)/.exec(message) ??
    []
  return limit === undefined ? {} : { limitTokens: Number(limit), requestedTokens: Number(got) }
}
