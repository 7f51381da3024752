import type { ChatContext, Message } from '@lamella/core'

/**
 * Where the current run begins in what is sent: at the last message of a user that is part of the
 * conversation. What layers have put behind it for this one call belongs to it.
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
