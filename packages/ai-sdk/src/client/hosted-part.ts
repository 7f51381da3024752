import type { HostedContent } from '@lamella/core'
import type { Origin } from '@lamella/core/authoring'
import type { WireObject } from '@lamella/transport'
import { recordOf, stringOf } from '@lamella/transport'
import { toBase64 } from '@lamella/core/authoring'

/** Makes content of work that a provider did itself. The part of the answer is kept in `data`. */
export function hostedContent(part: WireObject, origin: Origin): HostedContent {
  const { type, toolName, toolCallId, kind } = part
  const callId = stringOf(toolCallId)
  // A result that is told again replaces the preliminary one.
  const id = callId === undefined || type === 'tool-call' ? callId : `${callId}-result`
  return {
    type: 'hosted',
    name: stringOf(toolName) ?? stringOf(kind) ?? String(type),
    ...(id !== undefined && { id }),
    data: serializable(part),
    origin,
  }
}

/** The part of a prompt that a hosted content goes back as, or nothing. */
export function hostedPart(data: unknown): WireObject | undefined {
  const part = recordOf(data)
  const { type, providerMetadata, providerOptions = providerMetadata } = part
  const options = providerOptions === undefined ? {} : { providerOptions }
  const { toolCallId, toolName } = part
  switch (type) {
    case 'tool-call': {
      const input = parsed(part['input'])
      return { type, toolCallId, toolName, input, providerExecuted: true, ...options }
    }
    case 'tool-result': {
      const { output, isError, result } = part
      const value = { type: isError === true ? 'error-json' : 'json', value: result ?? null }
      return { type, toolCallId, toolName, output: output ?? value, ...options }
    }
    case 'custom':
      return { type, kind: part['kind'], ...options }
    case 'reasoning-file':
      return { type, data: part['data'], mediaType: part['mediaType'], ...options }
    default:
      return undefined
  }
}

function parsed(input: unknown): unknown {
  if (typeof input !== 'string') return input ?? {}
  try {
    return JSON.parse(input)
  } catch {
    return input
  }
}

/** Histories are stored as JSON, which has no bytes. */
function serializable(part: WireObject): WireObject {
  const { data, type } = recordOf(part['data'])
  if (!(data instanceof Uint8Array)) return part
  return { ...part, data: { type, data: toBase64(data) } }
}
