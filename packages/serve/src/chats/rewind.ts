import type { Message, Session } from '@lamella/core'
import { LamellaError } from '@lamella/core'

/**
 * Takes a session back to before the user's message with this number, from 1, and returns that message.
 * @throws LamellaError `session_conflict` if there is no such message
 */
export function rewind(session: Session, again: number): readonly Message[] {
  const { messages } = session
  const places = messages.flatMap(({ role }, at) => (role === 'user' ? [at] : []))
  const at = places[again - 1]
  if (at === undefined) {
    throw new LamellaError(`the chat has no user message ${again}`, { code: 'session_conflict' })
  }
  session.messages = messages.slice(0, at)
  const contents = messages[at]!.contents.filter(({ type }) => userTypes.has(type))
  return [{ id: messages[at]!.id, role: 'user', contents }]
}

const userTypes: ReadonlySet<string> = new Set(['text', 'data', 'uri'])
