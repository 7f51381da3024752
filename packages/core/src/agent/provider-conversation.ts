import type { Session } from '../messages/session.ts'

/** State of a conversation that a provider stores. */
export interface KeptConversation {
  readonly conversationId: string | undefined
  /** Number of messages that the provider has received. */
  readonly sent: number
}

/** Returns the provider's stored conversation of a session, empty if another provider stores it. */
export function keptBy(provider: string, session: Session | undefined): KeptConversation {
  if (session === undefined || isElsewhere(provider, session)) return unknown
  const { conversationId, messages, sent = messages.length } = session
  return conversationId === undefined ? unknown : { conversationId, sent }
}

/** Returns true if another provider stores the conversation of a session. */
export function isElsewhere(provider: string, { conversationId, keeper }: Session): boolean {
  return conversationId !== undefined && keeper !== undefined && keeper !== provider
}

const unknown: KeptConversation = { conversationId: undefined, sent: 0 }
