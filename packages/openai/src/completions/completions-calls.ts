import type { CallPiece, WireObject } from '@lamella/transport'
import { recordOf } from '@lamella/transport'

/** The pieces of calls in the `tool_calls` of a message, or of a piece of one. */
export function callPieces(fragments: unknown): CallPiece[] {
  // Old servers send one call without the list around it.
  const list: readonly unknown[] = Array.isArray(fragments) ? fragments : [fragments]
  return list.map((value, position) => callPiece(recordOf(value), position))
}

function callPiece(wire: WireObject, position: number): CallPiece {
  const { id, type, index, function: asked, custom, ...extra } = wire
  // Servers also send the field that they do not use, empty or null.
  const isFreeText = isFilled(custom) ? !isFilled(asked) : type === 'custom' && !isFilled(asked)
  const { name, input, arguments: args } = recordOf(isFreeText ? custom : asked)
  return {
    place: index ?? position,
    id,
    name,
    arguments: input ?? args,
    isFreeText,
    providerData: {
      ...(isFreeText && { type: 'custom' }),
      ...(Object.keys(extra).length > 0 && { extra }),
    },
  }
}

function isFilled(part: unknown): boolean {
  const { name, input, arguments: args } = recordOf(part)
  return Boolean(name || input || args)
}
