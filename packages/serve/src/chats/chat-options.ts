import type { ClientContent, KeyValueStore, RunOptions, UserInputOptions } from '@lamella/core'
import { checkOptions } from '@lamella/core/authoring'
import type { Principal } from './principal.ts'

/** An answer that would let something run. */
export interface AnswerQuestion {
  /** Who answers. */
  readonly principal: Principal
  /** Id of the chat that waits. */
  readonly chat: string
  /** Kind of the request. */
  readonly kind: 'approval' | 'interrupt'
  /** Id of the request. */
  readonly id: string
  /** Name of the tool. Undefined for an interrupt. */
  readonly tool?: string | undefined
  /**
   * Arguments that the tool would get: those of the answer, else those of the call. Undefined if the
   * model wrote something else than an object, and for an interrupt.
   */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined
  /** Value that was passed to `run.interrupt`. Undefined for an approval. */
  readonly payload?: unknown
}

/** Options of a run that an application may set for each request. */
export type ServedRunOptions = Pick<
  RunOptions,
  | 'data'
  | 'functionInvocation'
  | 'instructions'
  | 'middleware'
  | 'onEvent'
  | 'onRequest'
  | 'options'
  | 'tools'
>

/** Facts about a failure, for logs. */
export interface FailureFacts {
  /** Id of the chat. Undefined if the request named none. */
  readonly chat?: string | undefined
  /** Who sent the request. Undefined before that is known. */
  readonly principal?: Principal | undefined
}

/** Options of `chatService`. */
export interface ChatServiceOptions {
  /**
   * Says who sends a request: the id of a user, with a tenant if there are tenants. `undefined` refuses
   * the request with 401. Chats belong to it, so it must come from something that the client cannot
   * choose, such as a signed cookie.
   */
  readonly principal: (
    request: Request,
  ) => Principal | string | undefined | Promise<Principal | string | undefined>
  /**
   * Keeps chats, paused runs and leases.
   * @default the agent's, else memoryStore({ maxEntries: 10_000 })
   */
  readonly store?: KeyValueStore | undefined
  /**
   * Decides whether this principal may approve this call, or answer this interrupt. A no, which runs
   * nothing, is open to everyone whose chat it is.
   * @default nobody may
   */
  readonly mayApprove?: ((question: AnswerQuestion) => boolean | Promise<boolean>) | undefined
  /** Names of declared tools of the agent whose results the client may send. @default [] */
  readonly clientTools?: readonly string[] | undefined
  /**
   * Additional content to send, as of `toSSE()`: `annotations`, all `events`, `files`, `reasoning`,
   * `tool-calls`, `tool-results`, `usage`.
   * @default []
   */
  readonly include?: readonly ClientContent[] | undefined
  /**
   * A run whose reader leaves is cancelled, or continues and can be read again from its first chunk.
   * @default 'cancel'
   */
  readonly onDisconnect?: 'cancel' | 'continue' | undefined
  /** Options of the run for this request. `body` is the parsed body. @default none */
  readonly run?:
    | ((
        request: Request,
        body: unknown,
        principal: Principal,
      ) => ServedRunOptions | Promise<ServedRunOptions>)
    | undefined
  /**
   * Origins of pages on other hosts that may send requests and read responses, such as
   * `https://app.example`. `*` lets every page, without cookies.
   * @default []
   */
  readonly allowedOrigins?: readonly string[] | undefined
  /** Limits of the user's input: characters, parts and bytes of files. @default those of `userInput` */
  readonly input?: UserInputOptions | undefined
  /** Bytes of a request's body. @default 1000000 */
  readonly maxBodyBytes?: number | undefined
  /** Milliseconds until a body must have arrived. @default 30000 */
  readonly bodyTimeoutMs?: number | undefined
  /** Milliseconds of silence after which a comment keeps the connection open. @default 15000 */
  readonly keepAliveMs?: number | undefined
  /** Milliseconds that a reader may take for a chunk; then it counts as gone. @default 60000 */
  readonly readerTimeoutMs?: number | undefined
  /**
   * Milliseconds to wait for the first content, so that a run that fails before gets a status code of
   * its own. A slower run is a 200 that may end with an error.
   * @default 10000
   */
  readonly headersAfterMs?: number | undefined
  /** Milliseconds after its end in which a run that continues can still be read. @default 60000 */
  readonly replayMs?: number | undefined
  /** Characters that are kept of a run that continues; one with more is ended. @default 5000000 */
  readonly maxReplayChars?: number | undefined
  /**
   * Characters that a handler keeps of all runs that continue. Those that ended make room; a run without room is
   * ended.
   * @default 100000000
   */
  readonly maxReplayTotalChars?: number | undefined
  /**
   * Milliseconds after which a chat is free again whose process died. A run renews its lease while it
   * lasts.
   * @default 30000
   */
  readonly leaseMs?: number | undefined
  /** Milliseconds after the last run until a chat expires. @default it stays */
  readonly chatTtlMs?: number | undefined
  /**
   * Receives each error that the client gets masked.
   * @default writes the code to the console
   */
  readonly onError?: ((error: unknown, facts: FailureFacts) => void) | undefined
}

/** @throws TypeError or RangeError that names the option and the value */
export function checkServiceOptions(options: ChatServiceOptions): void {
  checkOptions('chatService', options, {
    principal: 'function',
    store: 'any',
    mayApprove: 'function?',
    clientTools: 'any',
    include: 'any',
    onDisconnect: ['cancel', 'continue'],
    run: 'function?',
    allowedOrigins: 'any',
    input: 'any',
    maxBodyBytes: 1,
    bodyTimeoutMs: 1,
    keepAliveMs: 1,
    readerTimeoutMs: 1,
    headersAfterMs: 0,
    replayMs: 0,
    maxReplayChars: 1,
    maxReplayTotalChars: 1,
    leaseMs: 1000,
    chatTtlMs: 1,
    onError: 'function?',
  })
}
