import type { ChatResponseUpdate } from '@lamella/core'
import { PartialJsonReader } from './partial-json.ts'

/** An incomplete value: each property and item may still be missing. */
export type PartialValue<Value> = Value extends readonly (infer Item)[]
  ? readonly PartialValue<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]?: PartialValue<Value[Key]> | undefined }
    : Value

/**
 * Reads the growing structured answer from the stream of a run or of a model call, after every
 * guardrail. Starts again with each message and with each restart of the stream. No schema has checked the
 * values: `finalResponse()` has the checked one. The work is linear in the length of the answer: while an open
 * list is very long, some updates yield no value of their own.
 */
export async function* partialValues<Value = unknown>(
  updates: AsyncIterable<ChatResponseUpdate>,
): AsyncGenerator<PartialValue<Value>, void, undefined> {
  const reader = new PartialReader()
  for await (const update of updates) {
    const value = reader.read(update)
    if (value !== undefined) yield value as PartialValue<Value>
  }
  const last = reader.last()
  if (last !== undefined) yield last as PartialValue<Value>
}

/** Entries of open lists and objects that may be copied for each character of the answer. */
const copiesPerChar = 100

/** Reads the value so far from updates. */
export class PartialReader {
  #json: PartialJsonReader | undefined
  #messageId: string | undefined
  /** Entries that may be copied before more text arrives. */
  #mayCopy = 0
  #isBehind = false

  /** Returns the value with this update, or `undefined` if it has not changed or would cost too much now. */
  read(update: ChatResponseUpdate): unknown {
    const isOther = update.messageId !== undefined && update.messageId !== this.#messageId
    if (update.restart === true || update.role === 'tool' || isOther) this.#reset()
    if (isOther) this.#messageId = update.messageId
    if (update.role === 'tool') return undefined
    for (const content of update.contents) {
      if (content.type === 'text' && content.text !== '') this.#push(content.text)
    }
    return this.#isBehind && this.#json!.open <= this.#mayCopy ? this.last() : undefined
  }

  /** Returns the value if `read` has left it out. */
  last(): unknown {
    if (!this.#isBehind) return undefined
    this.#isBehind = false
    this.#mayCopy -= this.#json!.open
    return this.#json!.value()
  }

  #push(text: string): void {
    // Skips words and code fences before the answer.
    const from = this.#json === undefined ? text.search(/[[{]/) : 0
    if (from < 0) return
    this.#json ??= new PartialJsonReader()
    this.#json.push(text.slice(from))
    this.#mayCopy += (text.length - from) * copiesPerChar
    this.#isBehind = true
  }

  #reset(): void {
    this.#json = undefined
    this.#mayCopy = 0
    this.#isBehind = false
  }
}
