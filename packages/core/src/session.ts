import type { ApprovalRequestContent } from './content.ts'
import { createId } from './create-id.ts'
import { jsonCopy } from './json-copy.ts'
import type { Message } from './message.ts'

/** A session as JSON. */
export interface SessionSnapshot {
  readonly version: 1
  readonly id: string
  readonly conversationId?: string | undefined
  readonly keeper?: string | undefined
  readonly sent?: number | undefined
  readonly messages: readonly Message[]
  readonly pending: readonly ApprovalRequestContent[]
  readonly state: Readonly<Record<string, unknown>>
}

/** A conversation over several runs: its messages, and what is still open in it. */
export interface Session {
  readonly id: string
  /** Set where the provider keeps the conversation. */
  conversationId: string | undefined
  /** The provider that keeps it. Every other one is sent all of `messages`. */
  keeper: string | undefined
  /** How many of `messages` that provider has seen; the next run sends it the others. */
  sent: number | undefined
  messages: readonly Message[]
  /** Approvals that were asked for and not answered yet, as they were recorded. */
  pending: readonly ApprovalRequestContent[]
  /** Values that outlive a run, by name. JSON. */
  readonly state: Record<string, unknown>
  toJSON(): SessionSnapshot
}

/**
 * Makes a session that goes on from another one without touching it: with its messages, up to the one
 * with the id `until` if that is given, and a copy of its state. What a provider keeps, and approvals
 * that are still open, belong to the old one; state of a tenant is the same for both.
 * @throws RangeError if no message has the id
 */
export function forkSession(session: Session, options: { readonly until?: string } = {}): Session {
  const { until } = options
  const at = until === undefined ? -1 : session.messages.findIndex(({ id }) => id === until)
  if (until !== undefined && at < 0) {
    throw new RangeError(`forkSession: \`until\` must be the id of a message, got ${until}`)
  }
  const messages = at < 0 ? session.messages : session.messages.slice(0, at + 1)
  return createSession({ messages: [...messages], state: jsonCopy(session.state) })
}

/** Makes an empty session, or one from its snapshot. */
export function createSession(from: Partial<Omit<SessionSnapshot, 'version'>> = {}): Session {
  return {
    id: from.id ?? createId('session'),
    conversationId: from.conversationId,
    keeper: from.keeper,
    sent: from.sent,
    messages: from.messages ?? [],
    pending: from.pending ?? [],
    state: { ...from.state },
    toJSON() {
      const { id, conversationId, keeper, sent, messages, pending, state } = this
      return jsonCopy({ version: 1, id, conversationId, keeper, sent, messages, pending, state })
    },
  }
}
