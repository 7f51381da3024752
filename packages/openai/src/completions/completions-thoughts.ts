import type { Origin } from '@lamella/core/authoring'
import type { ReasoningContent } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import { listOf, recordOf } from '@lamella/transport'

/** The thinking of one message, in the fields that compatible servers put it. */
export class CompletionThoughts {
  #id: string | undefined
  #details: WireObject[] | undefined

  /** A piece of thinking. The first one says where it came, since it has to go back there. */
  add(
    text: string,
    field: string | undefined,
    messageId: string,
    origin: Origin,
  ): ReasoningContent {
    if (this.#id !== undefined) return { type: 'reasoning', text, id: this.#id, kind: 'raw' }
    this.#id = idOf(messageId)
    return {
      type: 'reasoning',
      text,
      id: this.#id,
      kind: 'raw',
      origin,
      ...(field !== undefined && { providerData: { field } }),
    }
  }

  /** OpenRouter's form of signed thinking: pieces by index, to be sent back whole. */
  keepDetails(details: unknown): void {
    this.#details ??= []
    for (const value of listOf(details)) {
      const piece = recordOf(value)
      const { index, type } = piece
      const known = this.#details.findIndex(
        (kept) => index !== undefined && kept['index'] === index && kept['type'] === type,
      )
      if (known === -1) this.#details.push({ ...piece })
      else this.#details[known] = joined(this.#details[known]!, piece)
    }
  }

  /** Returns the facts of the thinking that are known when it is complete. */
  end(messageId: string, origin: Origin): ReasoningContent | undefined {
    const details = this.#details
    if (details === undefined || details.length === 0) return undefined
    this.#details = undefined
    const id = (this.#id ??= idOf(messageId))
    return {
      type: 'reasoning',
      text: '',
      id,
      origin,
      providerData: { field: 'reasoning_details', details },
    }
  }
}

function idOf(messageId: string): string {
  return `${messageId}-reasoning`
}

function joined(kept: WireObject, piece: WireObject): WireObject {
  const whole: Record<string, unknown> = { ...kept }
  for (const [field, value] of Object.entries(piece)) {
    const isText = field === 'text' || field === 'summary' || field === 'data'
    const had = whole[field]
    if (isText && typeof had === 'string' && typeof value === 'string') whole[field] = had + value
    else if (value !== null && value !== undefined) whole[field] = value
  }
  return whole
}
