import { createId } from '../base/create-id.ts'
import { jsonCopy } from '../base/json.ts'
import type { ApprovalRequestContent } from './content.ts'
import type { Message } from './message.ts'

/** A session as JSON. */
export interface SessionSnapshot {
  readonly version: 1
  /** Id of the session. */
  readonly id: string
  /** Messages of the conversation, oldest first. */
  readonly messages: readonly Message[]
  /** Requests for approval without an answer. */
  readonly pending: readonly ApprovalRequestContent[]
  /** Values of state cells of scope `session`, by name. */
  readonly state: Readonly<Record<string, unknown>>
  /** Save of `sessions(store)` that the session continues. */
  readonly revision?: string | undefined
  /** Checkpoint of the run that has paused for an interrupt. */
  readonly paused?: object | undefined
}

/** A conversation over several runs: its messages, state and pending approvals. */
export interface Session {
  /** Id of the session. */
  readonly id: string
  /** Messages of the conversation, oldest first. */
  messages: readonly Message[]
  /** Requests for approval without an answer. */
  pending: readonly ApprovalRequestContent[]
  /** Values of state cells of scope `session`, by name. JSON. */
  readonly state: Record<string, unknown>
  /**
   * Save of `sessions(store)` that the session continues. A save is rejected if a later one exists.
   */
  revision: string | undefined
  /** Checkpoint of the run that has paused for an interrupt, which `answers` to it continue. */
  paused: object | undefined
  /** Returns a copy as JSON, from which `createSession` makes the session again. */
  toJSON(): SessionSnapshot
}

/** A session that a run loads when it begins and saves when it ends, see `Sessions.at`. */
export interface SessionReference {
  /** Id of the session. */
  readonly id: string
  /** Waits until no other run of this process has the session, and loads it. */
  enter(options: SessionEntry): Promise<SessionTurn>
}

/** Data of a run that enters a session. */
export interface SessionEntry {
  /** Sessions of the runs that the run is inside of. It shares one of them at once. */
  readonly around: readonly Session[]
  /** Ends the wait. */
  readonly signal: AbortSignal
}

/** A session that a run has to itself. */
export interface SessionTurn {
  /** The session. */
  readonly session: Session
  /** Saves the session and lets the next run enter. */
  leave(): Promise<void>
}

/**
 * Creates a session that continues another one without changing it: with its messages, up to the
 * one with the id `until` if given, and a copy of its state. A conversation that the provider
 * stores and pending approvals stay with the old session; state of scope `tenant` is shared.
 * @throws RangeError if no message has the id
 */
export function forkSession(session: Session, options: { readonly until?: string } = {}): Session {
  const { until } = options
  const at = session.messages.findIndex(({ id }) => id === until)
  if (until !== undefined && at < 0) {
    throw new RangeError(`forkSession: \`until\` must be the id of a message, got ${until}`)
  }
  const messages = at < 0 ? session.messages : session.messages.slice(0, at + 1)
  return createSession({ messages: [...messages], state: jsonCopy(session.state) })
}

/**
 * Creates an empty session, or one from its snapshot.
 *
 * @example
 * ```ts
 * import { Agent, createSession } from '@lamella/core'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const agent = new Agent({ client: scriptedClient(['Hello, Ada.', 'You are Ada.']) })
 * const session = createSession()
 * await agent.run('I am Ada.', { session })
 * console.log((await agent.run('Who am I?', { session })).text) // You are Ada.
 * ```
 */
export function createSession(from: Partial<Omit<SessionSnapshot, 'version'>> = {}): Session {
  return {
    id: from.id ?? createId('session'),
    messages: from.messages ?? [],
    pending: from.pending ?? [],
    state: { ...from.state },
    revision: from.revision,
    paused: from.paused,
    toJSON() {
      return jsonCopy({ version: 1, ...this, toJSON: undefined })
    },
  }
}
