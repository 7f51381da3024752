import type { Content } from './content.ts'
import type { Message } from './message.ts'
import { unpaired } from './open-calls.ts'

/**
 * The conversation as a model may see it, from the message at `from` on: without the paperwork of
 * approvals, without calls that have no result yet and without results that have no call.
 */
export function visibleHistory(messages: readonly Message[], from = 0): readonly Message[] {
  if (from === 0 && isPlain(messages)) return messages
  const hidden = unpaired(messages)
  const shown = from === 0 ? messages : messages.slice(from)
  if (hidden.size === 0 && !shown.some(({ contents }) => contents.some(isPaperwork))) return shown
  const visible: Message[] = []
  for (const entry of shown) {
    const contents = entry.contents.filter((part) => !hidden.has(part) && !isPaperwork(part))
    if (contents.length === entry.contents.length) visible.push(entry)
    else if (contents.some(({ type }) => type !== 'reasoning')) visible.push({ ...entry, contents })
    // Thoughts go with the call that they led to.
    else if (entry.role === 'assistant') while (isThought(visible.at(-1))) visible.pop()
  }
  return visible
}

/** A quick look that knows the usual talk: calls, and their results in the next message. */
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

function isPaperwork(content: Content): boolean {
  const { type } = content
  return (type === 'approval-request' || type === 'approval-response') && content.hosted !== true
}
