import type { Session } from './session.ts'

/** What a provider that keeps a conversation knows of it. */
export interface KeptConversation {
  readonly conversationId: string | undefined
  /** How many of the messages it has seen. */
  readonly sent: number
}

/** What this provider knows of a session: nothing, where another one keeps the conversation. */
export function keptBy(provider: string, session: Session | undefined): KeptConversation {
  if (session === undefined || isElsewhere(provider, session)) return unknown
  const { conversationId, messages, sent = messages.length } = session
  return conversationId === undefined ? unknown : { conversationId, sent }
}

/** Whether another provider keeps the conversation of a session. */
export function isElsewhere(provider: string, { conversationId, keeper }: Session): boolean {
  return conversationId !== undefined && keeper !== undefined && keeper !== provider
}

const unknown: KeptConversation = { conversationId: undefined, sent: 0 }
