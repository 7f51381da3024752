import type { Content } from './content.ts'
import type { Message } from './message.ts'

/**
 * The conversation as a model may see it: without the paperwork of approvals, without calls that
 * have no result yet and without results that have no call. The list itself if nothing is to hide.
 */
export function visibleHistory(messages: readonly Message[]): readonly Message[] {
  const open = unpairedIds(messages)
  if (open === undefined) return messages
  const visible: Message[] = []
  for (const entry of messages) {
    const contents = entry.contents.filter((content) => isVisible(content, open))
    if (contents.length === entry.contents.length) visible.push(entry)
    else if (contents.some((content) => content.type !== 'reasoning')) visible.push({ ...entry, contents })
  }
  return visible
}

/** Calls and results that lack their other half; `undefined` if all is well and nothing else is to hide. */
function unpairedIds(messages: readonly Message[]): ReadonlySet<string> | undefined {
  let balance: Map<string, number> | undefined
  let paperwork = false
  for (const { contents } of messages) {
    for (const content of contents) {
      if (content.type === 'function-call') {
        if (content.informational === true) continue
        balance ??= new Map()
        balance.set(content.callId, (balance.get(content.callId) ?? 0) + 1)
      } else if (content.type === 'function-result') {
        balance ??= new Map()
        balance.set(content.callId, (balance.get(content.callId) ?? 0) - 1)
      } else if (content.type === 'approval-request' || content.type === 'approval-response') {
        paperwork ||= content.hosted !== true
      }
    }
  }
  const open = new Set<string>()
  for (const [id, count] of balance ?? []) if (count !== 0) open.add(id)
  return open.size > 0 || paperwork ? open : undefined
}

function isVisible(content: Content, open: ReadonlySet<string>): boolean {
  switch (content.type) {
    case 'function-call':
      return content.informational === true || !open.has(content.callId)
    case 'function-result':
      return !open.has(content.callId)
    case 'approval-request':
    case 'approval-response':
      return content.hosted === true
    default:
      return true
  }
}
