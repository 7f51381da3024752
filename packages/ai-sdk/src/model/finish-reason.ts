import type { FinishReason } from '@lamella/core'
import { recordOf, stringOf } from '@lamella/transport'
import type { AiSdkVersion } from './language-model.ts'

/** How an answer ended, as its model told it. */
export interface ModelFinish {
  /** Reason in Lamella's words. */
  readonly reason: FinishReason
  /** Reason in the provider's words. */
  readonly raw?: string
  /** The stream broke off: the model reports an end that its provider never sent. */
  readonly isCut: boolean
}

const known = new Set(['stop', 'length', 'content-filter', 'tool-calls', 'error'])

/**
 * Reads a finish reason. A stream that ends without the provider's last event still gets a `finish` part:
 * with `interrupted` (v4), `other` without a raw reason (v3) or `unknown` (v2).
 */
export function toFinish(told: unknown, version: AiSdkVersion): ModelFinish {
  const unified = typeof told === 'string' ? told : stringOf(recordOf(told)['unified'])
  const raw = stringOf(recordOf(told)['raw'])
  const isCut =
    unified === undefined ||
    unified === 'interrupted' ||
    (version === 'v2' ? unified === 'unknown' : unified === 'other' && raw === undefined)
  const reason = known.has(unified ?? '') ? unified! : raw === 'refusal' ? 'refusal' : 'other'
  return { reason, ...(raw !== undefined && { raw }), isCut }
}

/** The same reason in the words of a specification. */
export function fromFinish(
  reason: FinishReason | undefined,
  raw: string | undefined,
  version: AiSdkVersion,
): unknown {
  const unified = reason !== undefined && known.has(reason) ? reason : 'other'
  if (version === 'v2') return unified
  // Without a raw reason, `other` would say that the stream broke off.
  return { unified, raw: raw ?? (unified === reason ? undefined : (reason ?? 'unknown')) }
}
