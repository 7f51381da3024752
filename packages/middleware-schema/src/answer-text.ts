import type { ChatResponse, Message, RunContext } from '@lamella/core'
import { messageText, text } from '@lamella/core'

/** Returns the text of the model's last message that has any: it holds the structured answer. */
export function textOfAnswer({ messages }: ChatResponse): string {
  const at = placeOfAnswer(messages)
  return at < 0 ? '' : messageText(messages[at]!)
}

/** Replaces the text of the structured answer. Contents other than text stay. */
export function replaceAnswer(
  { messages }: ChatResponse,
  json: string,
  { ids }: RunContext,
): readonly Message[] {
  const at = placeOfAnswer(messages)
  if (at < 0) {
    return [...messages, { id: ids.createId('msg'), role: 'assistant', contents: [text(json)] }]
  }
  const { contents } = messages[at]!
  const first = contents.findIndex(({ type }) => type === 'text')
  const changed = contents.toSpliced(first, 1, text(json))
  const kept = changed.filter(({ type }, index) => type !== 'text' || index === first)
  return messages.with(at, { ...messages[at]!, contents: kept })
}

/** Returns true if the model or the provider's filter refused to answer. */
export function isRefusal({ finishReason, messages }: ChatResponse): boolean {
  return (
    finishReason === 'refusal' ||
    finishReason === 'content-filter' ||
    messages.some(({ contents }) => contents.some(({ type }) => type === 'refusal'))
  )
}

function placeOfAnswer(messages: readonly Message[]): number {
  return messages.findLastIndex((entry) => entry.role === 'assistant' && messageText(entry) !== '')
}
