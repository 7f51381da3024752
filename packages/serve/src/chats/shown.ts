import type { ClientRequest, ClientUpdate } from '../updates/client-updates.ts'
import type { HttpFailure } from '../http/http-failure.ts'

/** An open request of a chat, as its reader receives it. */
export interface ShownRequest extends ClientRequest {
  /** True if this reader may do more than decline. */
  readonly mayAnswer: boolean
}

/** End of a run, for its reader. */
export interface ShownOutcome {
  /** Status of the run, or `stopped` if it was asked to stop. */
  readonly status: string
  /** Neutral message of a blocked run. */
  readonly message?: string | undefined
  /** All that the chat waits for. */
  readonly pending: readonly ShownRequest[]
}

/** One piece of a run's output, for every protocol. The last one is `done` or `failed`. */
export type Shown =
  | { readonly type: 'update'; readonly update: ClientUpdate }
  | {
      readonly type: 'done'
      readonly outcome: ShownOutcome
      /** Ids of the requests that this run made. */
      readonly asked: ReadonlySet<string>
    }
  | { readonly type: 'failed'; readonly failure: HttpFailure }

/** Writes the output in the format of a protocol. */
export interface Encoder {
  /** Returns the text to send, which may be empty. */
  encode(shown: Shown): string
}
