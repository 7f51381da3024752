import type { ChatContext, Message } from '@lamella/core'

/**
 * Returns the index of the current run in the messages of a call: the last message of a user that is
 * part of the conversation. Messages that middlewares added behind it belong to the run.
 */
export function currentFrom({ run, messages }: ChatContext): number {
  const known = new Set(run.messages.all.map(({ id }) => id))
  const isInput = (entry: Message): boolean =>
    entry.role === 'user' && (known.size === 0 || known.has(entry.id))
  let at = messages.findLastIndex(isInput)
  if (at < 0) return 0
  while (at > 0 && messages[at - 1]!.role === 'user') at--
  return at
}
