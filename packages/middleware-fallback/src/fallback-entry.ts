import type { ChatClient, ChatContext, ChatOptions, Message } from '@lamella/core'
import type { OptionRules } from '@lamella/core/authoring'

/** A failed model call, after which another client may be called. */
export interface FallbackFailure {
  /** Number of clients called so far. */
  readonly attempt: number
  /** Error of the last client. */
  readonly error: unknown
  /** Context of the call; its `client` is the one that failed. */
  readonly context: ChatContext
}

/** A client to try next, with its own settings. */
export interface FallbackEntry {
  /** The client. */
  readonly client: ChatClient
  /**
   * Model to request.
   * @default the client's own
   */
  readonly model?: string | undefined
  /** Options merged over those of the call. */
  readonly options?: ChatOptions | undefined
  /**
   * Decides whether this client is tried after a failure.
   * @default always
   */
  readonly when?: ((failure: FallbackFailure) => boolean | Promise<boolean>) | undefined
  /**
   * Time limit in milliseconds for the first content of a streamed answer, or for a whole plain one.
   * @default `timeoutMs` of the middleware
   */
  readonly timeoutMs?: number | undefined
  /**
   * Chooses the messages for this client, for example fewer of them.
   * @default all
   */
  readonly messages?:
    | ((
        messages: readonly Message[],
        failure: FallbackFailure | undefined,
      ) => readonly Message[] | Promise<readonly Message[]>)
    | undefined
}

export const entryRules: OptionRules<FallbackEntry> = {
  client: 'any',
  model: 'string?',
  options: 'any',
  when: 'function?',
  timeoutMs: 'ms',
  messages: 'function?',
}

/** Tells a client from an entry with a client. */
export function isClient(value: ChatClient | FallbackEntry): value is ChatClient {
  return typeof (value as Partial<ChatClient> | null)?.respond === 'function'
}
