import type { FinishReason } from '@lamella/core'

/**
 * Reasons for which an answer ends, besides `STOP`. Those of the filters and of limits cut it. Others are
 * failures: those of a random slip are worth a retry, because the same request usually succeeds.
 */
export const endings = {
  MAX_TOKENS: 'length',
  CONTINUATION: 'length',
  SAFETY: 'content-filter',
  RECITATION: 'content-filter',
  BLOCKLIST: 'content-filter',
  PROHIBITED_CONTENT: 'content-filter',
  SPII: 'content-filter',
  MODEL_ARMOR: 'content-filter',
  IMAGE_SAFETY: 'content-filter',
  IMAGE_PROHIBITED_CONTENT: 'content-filter',
  IMAGE_RECITATION: 'content-filter',
  MALFORMED_FUNCTION_CALL: 'server',
  MALFORMED_RESPONSE: 'server',
  UNEXPECTED_TOOL_CALL: 'server',
  TOO_MANY_TOOL_CALLS: 'server',
  OTHER: 'server',
  IMAGE_OTHER: 'server',
  NO_IMAGE: 'server',
  FINISH_REASON_UNSPECIFIED: 'server',
  MISSING_THOUGHT_SIGNATURE: 'invalid_request',
  LANGUAGE: 'invalid_request',
} as const satisfies Readonly<Record<string, FinishReason | BrokenAnswer>>

/** Kind of failure of an answer that broke off. */
export type BrokenAnswer = 'server' | 'invalid_request'

/** Returns how an answer ends, or the kind of the failure that ends it. */
export function endingOf(reason: string): FinishReason | BrokenAnswer {
  return Object.hasOwn(endings, reason) ? endings[reason as keyof typeof endings] : 'error'
}

/** Returns true for an ending that is a failure. */
export function isFailure(ending: FinishReason | BrokenAnswer): ending is BrokenAnswer {
  return ending === 'server' || ending === 'invalid_request'
}
