import type { Content } from './content.ts'
import type { Message } from './message.ts'
import { unpaired } from './open-calls.ts'

/**
 * The conversation as a model may see it, from the message at `from` on: without the paperwork of
 * approvals, without calls that have no result yet and without results that have no call.
 */
export function visibleHistory(messages: readonly Message[], from = 0): readonly Message[] {
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

function isThought(entry: Message | undefined): boolean {
  return entry?.role === 'assistant' && entry.contents.every(({ type }) => type === 'reasoning')
}

function isPaperwork(content: Content): boolean {
  const { type } = content
  return (type === 'approval-request' || type === 'approval-response') && content.hosted !== true
}
