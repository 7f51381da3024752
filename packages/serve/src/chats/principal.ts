import { keyOf } from '@lamella/core/authoring'

/** Sender of a request. */
export interface Principal {
  /** Id of the user. Chats belong to it. */
  readonly id: string
  /** Tenant of the user, for limits, budgets and state of the run. @default none */
  readonly tenant?: string | undefined
}

/** Owner of what is kept for a principal. */
export function ownerOf({ id, tenant }: Principal): {
  readonly tenant: string | undefined
  readonly principal: string
} {
  return { tenant, principal: id }
}

/**
 * Returns the id of the session of a chat. It names its owner, so that whatever is kept by session is kept
 * by user.
 */
export function sessionIdOf(principal: Principal, chat: string): string {
  return keyOf('', ownerOf(principal), chat)
}

/** Returns the chat of a session. */
export function chatOf(sessionId: string): string {
  return (JSON.parse(sessionId) as readonly [unknown, unknown, string])[2]
}
