import type { KeyValueStore, RunOptions, UserInputOptions } from '@lamella/core'
import type { ClientContent } from '../updates/client-updates.ts'
import { checkOptions } from '@lamella/core/authoring'
import type { OpenRequest } from '@lamella/store'
import type { Principal } from './principal.ts'

/** An answer that needs permission. */
export interface AnswerQuestion {
  /** Sender of the answer. */
  readonly principal: Principal
  /** Id of the chat with the request. */
  readonly chat: string
  /** Kind of the request. */
  readonly kind: 'approval' | 'interrupt'
  /** Id of the request. */
  readonly id: string
  /** Name of the tool. Undefined for an interrupt. */
  readonly tool?: string | undefined
  /**
   * Arguments that the tool would get, with the defaults and transforms of its schema: those of the answer, else
   * those of the call. An answer whose arguments do not fit the schema is not allowed. Undefined for
   * an interrupt, and if the model's arguments are not an object.
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
  /** Sender of the request. Undefined before that is known. */
  readonly principal?: Principal | undefined
}

/** Options of `chatService`. */
export interface ChatServiceOptions {
  /**
   * Returns the sender of a request: the id of a user, with a tenant if there are tenants.
   * `undefined` rejects the request with status 401. Chats belong to the sender, so derive it from
   * something that the client cannot choose, such as a signed cookie.
   */
  readonly principal: (
    request: Request,
  ) => Principal | string | undefined | Promise<Principal | string | undefined>
  /**
   * Store of chats, paused runs and leases.
   * @default the agent's, else memoryStore({ maxEntries:
   * 10_000 })
   */
  readonly store?: KeyValueStore | undefined
  /**
   * Returns true if this principal may approve this call, or answer this interrupt. The owner of a
   * chat may always decline, because that runs nothing. It is also called when a chat is read, to say what its
   * reader may do, so it must have no effect.
   * @default nobody may
   */
  readonly mayApprove?: ((question: AnswerQuestion) => boolean | Promise<boolean>) | undefined
  /**
   * Returns true if this principal may see and answer this request of anybody's chat, in `requestsHandler`. It is
   * called for each request of the tenant whenever they are listed, so it must have no effect.
   * @default nobody may
   */
  readonly mayManage?:
    | ((question: {
        /** The person who looks at the request. */
        readonly principal: Principal
        /** The request, with the chat's owner, and the chat's id as its `place`. */
        readonly request: OpenRequest
      }) => boolean | Promise<boolean>)
    | undefined
  /**
   * Milliseconds after which a request that nobody has answered is refused, and its run continues with that.
   * @default never
   */
  readonly expiresAfterMs?: number | undefined
  /** Names of declared tools of the agent whose results the client may send. @default [] */
  readonly clientTools?: readonly string[] | undefined
  /**
   * Additional content to send, as of `toSSE(stream)`: `annotations`, all `events`, `files`, `reasoning`,
   * `tool-calls`, `tool-results`, `usage`.
   * @default []
   */
  readonly include?: readonly ClientContent[] | undefined
  /**
   * Behavior when the reader disconnects: cancels the run, or lets it continue, so that it can be
   * read again from its first chunk.
   * @default 'cancel'
   */
  readonly onDisconnect?: 'cancel' | 'continue' | undefined
  /**
   * Treatment of a message while a run of its chat has not ended: `reject` answers it with status 409, `steer` adds
   * it to the run at its next step, and `queue` after its answer. While a request of the run is open, these two
   * answer a message with status 409, `run_paused`; `reject` lets it begin a run, and the request stays open.
   * @default 'reject'
   */
  readonly onBusy?: 'queue' | 'reject' | 'steer' | undefined
  /** Most messages that wait for the run of a chat. Further ones are rejected with status 429. @default 10 */
  readonly maxWaiting?: number | undefined
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
   * `https://app.example`. `*` allows every page, without cookies.
   * @default []
   */
  readonly allowedOrigins?: readonly string[] | undefined
  /** Limits of the user's input: characters, parts and bytes of files. @default those of `userInput` */
  readonly input?: UserInputOptions | undefined
  /** Maximum size of a request's body in bytes. @default 1000000 */
  readonly maxBodyBytes?: number | undefined
  /** Milliseconds until a body must have arrived. @default 30000 */
  readonly bodyTimeoutMs?: number | undefined
  /**
   * Milliseconds of silence after which a comment is sent to keep the connection open.
   * @default 15000
   */
  readonly keepAliveMs?: number | undefined
  /**
   * Milliseconds that a reader may take for a chunk; after that it counts as disconnected.
   * @default 60000
   */
  readonly readerTimeoutMs?: number | undefined
  /**
   * Milliseconds to wait for the first content, so that a run that fails until then has its own
   * status code. A slower run has status 200 and may end with an error.
   * @default 10000
   */
  readonly headersAfterMs?: number | undefined
  /** Milliseconds after its end for which a continuing run can still be read. @default 60000 */
  readonly replayMs?: number | undefined
  /** Maximum characters kept of a continuing run; a longer run is ended. @default 5000000 */
  readonly maxReplayChars?: number | undefined
  /**
   * Maximum characters that a handler keeps of all continuing runs. Finished runs are evicted
   * first; a run that exceeds the limit is stopped.
   * @default 100000000
   */
  readonly maxReplayTotalChars?: number | undefined
  /**
   * Milliseconds after which the chat of a dead process is free again. A run renews its lease while
   * it lasts.
   * @default 30000
   */
  readonly leaseMs?: number | undefined
  /**
   * Runs that one principal may have at a time in this process. Further ones are rejected with status 429.
   * @default 100
   */
  readonly maxRuns?: number | undefined
  /**
   * Chats that are kept for one principal, in a store with `lists`: a new one beyond that deletes its oldest, so that
   * nobody can push out the chats of others.
   * @default 500
   */
  readonly maxChats?: number | undefined
  /** Milliseconds after the last run until a chat expires. @default it never expires */
  readonly chatTtlMs?: number | undefined
  /**
   * Receives each error that the client gets in masked form.
   * @default writes code, name and message to the console
   */
  readonly onError?: ((error: unknown, facts: FailureFacts) => void) | undefined
}

/** @throws TypeError or RangeError that names the option and the value */
export function checkServiceOptions(options: ChatServiceOptions): void {
  checkOptions('chatService', options, {
    principal: 'function',
    store: 'any',
    mayApprove: 'function?',
    mayManage: 'function?',
    expiresAfterMs: 1,
    clientTools: 'any',
    include: 'any',
    onDisconnect: ['cancel', 'continue'],
    onBusy: ['reject', 'steer', 'queue'],
    maxWaiting: 1,
    run: 'function?',
    allowedOrigins: 'any',
    input: 'any',
    maxBodyBytes: 1,
    bodyTimeoutMs: 'ms',
    keepAliveMs: 1,
    readerTimeoutMs: 'ms',
    headersAfterMs: 0,
    replayMs: 0,
    maxReplayChars: 1,
    maxReplayTotalChars: 1,
    leaseMs: 1000,
    maxRuns: 1,
    maxChats: 1,
    chatTtlMs: 1,
    onError: 'function?',
  })
}
