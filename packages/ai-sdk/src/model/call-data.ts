import type { WireObject } from '@lamella/transport'
import { recordOf, stringOf } from '@lamella/transport'

/** The data of a call: the model's id of it, and metadata as the AI SDK knows it. */
export function callData(providerData: unknown): {
  readonly id: string | undefined
  readonly metadata: WireObject | undefined
} {
  const { callId, ...metadata } = recordOf(providerData)
  const isEmpty = Object.keys(metadata).length === 0
  return { id: stringOf(callId), metadata: isEmpty ? undefined : metadata }
}
