import type { ChatResponseUpdate } from '@lamella/core'
import type { PartialJson } from './partial-json.ts'
import { partialJson } from './partial-json.ts'

/** A value that is not complete yet: whatever is missing may still come. */
export type PartialValue<Value> = Value extends readonly (infer Item)[]
  ? readonly PartialValue<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]?: PartialValue<Value[Key]> | undefined }
    : Value

/**
 * The structured answer as it grows, read from what a stream of a run or of a model call gives its
 * caller, so behind every guardrail. It begins anew with each message and where the stream does. The values
 * have passed no schema yet: `finalResponse()` has the one that did.
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

/** Takes updates and gives the value so far, or nothing where it has not changed. */
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
        // Words and fences before it are passed over.
        const from = content.text.search(/[[{]/)
        if (from < 0) continue
        json = partialJson()
        json.push(content.text.slice(from))
      }
    }
    return grew ? json?.value() : undefined
  }
}
