import type { ChatClient, ChatContext, ChatOptions, Message } from '@lamella/core'
import type { OptionRules } from '@lamella/core/authoring'

/** A model call that failed, and after which another client may be asked. */
export interface FallbackFailure {
  /** How many clients were asked. */
  readonly attempt: number
  readonly error: unknown
  /** The client that failed is its `client`. */
  readonly context: ChatContext
}

/** A client to go on with. */
export interface FallbackEntry {
  readonly client: ChatClient
  /** @default the client's own */
  readonly model?: string | undefined
  /** Laid over those of the call. */
  readonly options?: ChatOptions | undefined
  /**
   * Whether this client is asked after that failure.
   * @default always
   */
  readonly when?: ((failure: FallbackFailure) => boolean | Promise<boolean>) | undefined
  /**
   * Milliseconds until the first content of a streamed answer, or the whole of a plain one.
   * @default that of the layer
   */
  readonly timeoutMs?: number | undefined
  /** What this client is sent, such as fewer messages. @default all */
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
  timeoutMs: 'any',
  messages: 'function?',
}

/** Whether something is a client, and no entry with one. */
export function isClient(value: ChatClient | FallbackEntry): value is ChatClient {
  return typeof (value as Partial<ChatClient> | null)?.respond === 'function'
}
