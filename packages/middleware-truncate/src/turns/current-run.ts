import type { ChatContext, Message } from '@lamella/core'

/** Recognizes the messages of a call that belong to the current run, and those that no model has read. */
export interface CurrentRun {
  readonly has: (message: Message) => boolean
  readonly isUnread: (message: Message) => boolean
}

/**
 * Finds the current run in the messages of a call. Messages that middleware added behind those from before the
 * run belong to it. Without a run around the call, the last turn of the user is the current one.
 */
export function currentRun({ run, messages }: ChatContext): CurrentRun {
  const { all, current, unread } = run.messages
  const own = idsOf(current)
  const known = idsOf(all)
  const before = ({ id }: Message): boolean => known.has(id) && !own.has(id)
  const from = messages.some(({ id }) => own.has(id))
    ? messages.findLastIndex(before) + 1
    : lastTurn(messages)
  const last = new Set(messages.slice(from))
  const fresh = idsOf(unread)
  return {
    has: (message) => last.has(message) || own.has(message.id),
    isUnread: ({ id }) => fresh.has(id),
  }
}

function lastTurn(messages: readonly Message[]): number {
  let at = messages.findLastIndex(({ role }) => role === 'user')
  while (at > 0 && messages[at - 1]!.role === 'user') at--
  return Math.max(at, 0)
}

function idsOf(messages: readonly Message[]): ReadonlySet<string> {
  return new Set(messages.map(({ id }) => id))
}
