import type { Message, Session } from '@lamella/core'
import { LamellaError } from '@lamella/core'

/** A chat that was taken back. */
export interface Rewound {
  /** The user's message that is answered again. */
  readonly kept: readonly Message[]
  /** Ids of the messages that were removed. */
  readonly removed: ReadonlySet<string>
}

/**
 * Takes a session back to before the user's message with this number, from 1. Open requests of what it
 * removes are closed.
 * @throws LamellaError `session_conflict` if there is no such message
 */
export function rewind(session: Session, again: number): Rewound {
  const { messages } = session
  const places = messages.flatMap(({ role }, at) => (role === 'user' ? [at] : []))
  const at = places[again - 1]
  if (at === undefined) {
    throw new LamellaError(`the chat has no user message ${again}`, { code: 'session_conflict' })
  }
  const removed = messages.slice(at)
  session.messages = messages.slice(0, at)
  const asked = new Set(
    session.messages.flatMap(({ contents }) =>
      contents.flatMap((part) => (part.type === 'approval-request' ? part.id : [])),
    ),
  )
  session.pending = session.pending.filter(({ id }) => asked.has(id))
  const contents = messages[at]!.contents.filter(({ type }) => userTypes.has(type))
  return {
    kept: [{ id: messages[at]!.id, role: 'user', contents }],
    removed: new Set(removed.map(({ id }) => id)),
  }
}

const userTypes: ReadonlySet<string> = new Set(['text', 'data', 'uri'])
