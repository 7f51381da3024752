import type { Content, Message } from '@lamella/core'
import type { Origin } from '@lamella/core/authoring'
import type { Losses } from './losses.ts'

/**
 * The messages with each content as a provider may be sent it, or without it. Calls and thoughts that
 * are not the assistant's are left out. What `ownContent` returns as it was stays the same object.
 */
export function ownMessages(
  messages: readonly Message[],
  losses: Losses,
  ownContent: (content: Content, origin: Origin | undefined) => Content | undefined,
): readonly Message[] {
  return messages.map((message) => {
    const contents = message.contents.flatMap((content) => {
      if (isMisplaced(content, message, losses)) return []
      return ownContent(content, content.origin ?? message.origin) ?? []
    })
    const isChanged =
      contents.length !== message.contents.length ||
      contents.some((content, at) => content !== message.contents[at])
    return isChanged ? { ...message, contents } : message
  })
}

/** Only the assistant thinks and calls. */
function isMisplaced({ type }: Content, { role }: Message, losses: Losses): boolean {
  if (role === 'assistant' || (type !== 'function-call' && type !== 'reasoning')) return false
  losses.add(`a ${type} in a message of role ${role} is left out`)
  return true
}

/** A content without what only another provider understands of it. */
export function withoutForeignData<T extends Content>(content: T, isOwn: boolean): T {
  if (isOwn || content.providerData === undefined) return content
  const { providerData: _foreign, ...rest } = content
  return rest as T
}
