import type { ChatResponseUpdate } from '@lamella/core'
import type { PartialJson } from './partial-json.ts'
import { partialJson } from './partial-json.ts'

/** An incomplete value: each property and item may still be missing. */
export type PartialValue<Value> = Value extends readonly (infer Item)[]
  ? readonly PartialValue<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]?: PartialValue<Value[Key]> | undefined }
    : Value

/**
 * Reads the growing structured answer from the stream of a run or of a model call, after every
 * guardrail. Starts again with each message and with each restart of the stream. No schema has checked the
 * values: `finalResponse()` has the checked one.
 */
export async function* partialValues<Value = unknown>(
  updates: AsyncIterable<ChatResponseUpdate>,
): AsyncGenerator<PartialValue<Value>, void, undefined> {
  const read = partialReader()
  for await (const update of updates) {
    const value = read(update)
    if (value !== undefined) yield value as PartialValue<Value>
  }
}

/** Creates a function that takes updates and returns the value so far, or `undefined` if it has not changed. */
export function partialReader(): (update: ChatResponseUpdate) => unknown {
  let json: PartialJson | undefined
  let messageId: string | undefined
  return (update) => {
    const isOther = update.messageId !== undefined && update.messageId !== messageId
    if (update.restart === true || update.role === 'tool' || isOther) json = undefined
    if (isOther) ({ messageId } = update)
    if (update.role === 'tool') return undefined
    let grew = false
    for (const content of update.contents) {
      if (content.type !== 'text' || content.text === '') continue
      grew = true
      if (json !== undefined) json.push(content.text)
      else {
        // Skips words and code fences before it.
        const from = content.text.search(/[[{]/)
        if (from < 0) continue
        json = partialJson()
        json.push(content.text.slice(from))
      }
    }
    return grew ? json?.value() : undefined
  }
}
