import { unpaired } from './call-results.ts'
import type { Content } from './content.ts'
import type { Message } from './message.ts'

/**
 * Returns the conversation as a model may see it: without approval requests and responses, without
 * calls that have no result yet and without results that have no call.
 */
export function visibleHistory(messages: readonly Message[]): readonly Message[] {
  if (isPlain(messages)) return messages
  const hidden = unpaired(messages)
  const visible: Message[] = []
  for (const entry of messages) {
    const contents = entry.contents.filter((part) => !hidden.has(part) && !isApproval(part))
    if (contents.length === entry.contents.length) visible.push(entry)
    else if (contents.some(({ type }) => type !== 'reasoning')) visible.push({ ...entry, contents })
    // Reasoning is removed together with the call that follows it.
    else if (entry.role === 'assistant') while (isThought(visible.at(-1))) visible.pop()
  }
  return visible
}

/** Recognizes the common case quickly: calls, and their results in the next message. */
function isPlain(messages: readonly Message[]): boolean {
  let at = 0
  while (at < messages.length) {
    const { contents } = messages[at++]!
    const next = messages[at]?.contents
    let calls = 0
    for (const content of contents) {
      if (content.type === 'text' || content.type === 'reasoning') continue
      if (content.type !== 'function-call') return false
      const result = next?.[calls++]
      if (result?.type !== 'function-result' || result.callId !== content.callId) return false
    }
    if (calls > 0 && next?.length !== calls) return false
    if (calls > 0) at++
  }
  return true
}

function isThought(entry: Message | undefined): boolean {
  return entry?.role === 'assistant' && entry.contents.every(({ type }) => type === 'reasoning')
}

function isApproval(content: Content): boolean {
  const { type } = content
  return (type === 'approval-request' || type === 'approval-response') && content.hosted !== true
}
