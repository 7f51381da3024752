import { unpaired } from './call-results.ts'
import { matchResults } from './match-results.ts'
import type { Content } from './content.ts'
import type { Message } from './message.ts'

/**
 * Returns the conversation as a model may see it: without approval requests and responses, without
 * calls that have no result yet and without results that have no call. Results that follow each other are in
 * the order of their calls.
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
  return inOrder(visible, messages)
}

/**
 * Results that came one at a time stand in one message where they are not in the order of the calls: the one that came
 * last, which no model may have read.
 */
function inOrder(messages: readonly Message[], all: readonly Message[]): readonly Message[] {
  const results = [...matchResults(messages).results.values()].flat()
  const places = new Map(results.map((result, at) => [result as Content | undefined, at]))
  const placeOf = (part: Content | undefined): number => places.get(part) ?? -1
  const cameAt = ({ id, metadata }: Message): number =>
    all.findLastIndex((entry) => entry.id === (metadata?.['recordedAfter'] ?? id))
  const ordered: Message[] = []
  for (let entry of messages) {
    for (;;) {
      const before = ordered.at(-1)
      const isLate =
        entry.role === 'tool' &&
        before?.role === 'tool' &&
        placeOf(entry.contents[0]) < placeOf(before.contents.at(-1))
      if (!isLate) break
      const contents = [...before.contents, ...entry.contents]
      const last = cameAt(before) > cameAt(entry) ? before : entry
      entry = { ...last, contents: contents.toSorted((a, b) => placeOf(a) - placeOf(b)) }
      ordered.pop()
    }
    ordered.push(entry)
  }
  return ordered
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
