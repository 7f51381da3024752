import type { Content, Message } from '@lamella/core'
import { text, textOf } from '@lamella/core'
import { turnGroups } from '../turns/turn-groups.ts'

export interface ClearRules {
  /** Number of the latest iterations whose results stay. */
  readonly keep: number
  /** Names of tools whose results always stay. */
  readonly exclude: readonly string[]
  readonly placeholder: string
  /** Messages that stay, since no model has read them. */
  readonly isUnread: (message: Message) => boolean
}

/**
 * Replaces old tool results with a placeholder. Calls, pairs and errors stay. Returns the same list
 * if nothing changed.
 */
export function clearResults(
  messages: readonly Message[],
  { keep, exclude, placeholder, isUnread }: ClearRules,
): readonly Message[] {
  const rounds = turnGroups(messages).filter((group) => group.messages.some(hasResult))
  const old = rounds.slice(0, Math.max(0, rounds.length - keep))
  const names = new Map<string, string>()
  const cleared = new Map<Message, Message>()
  const clear = (content: Content): Content => {
    if (content.type === 'function-call') names.set(content.callId, content.name)
    if (content.type !== 'function-result') return content
    const isExcluded = exclude.includes(content.name ?? names.get(content.callId) ?? '')
    const isClear = content.contents.length === 1 && textOf(content.contents) === placeholder
    return isExcluded || isClear ? content : { ...content, contents: [text(placeholder)] }
  }
  for (const entry of old.flatMap((group) => group.messages)) {
    if (isUnread(entry)) continue
    const contents = entry.contents.map(clear)
    const isChanged = contents.some((content, index) => content !== entry.contents[index])
    if (isChanged) cleared.set(entry, { ...entry, contents })
  }
  return cleared.size === 0 ? messages : messages.map((entry) => cleared.get(entry) ?? entry)
}

function hasResult({ contents }: Message): boolean {
  return contents.some(({ type }) => type === 'function-result')
}
