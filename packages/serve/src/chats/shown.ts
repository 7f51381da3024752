import type { ClientRequest, ClientUpdate } from '@lamella/core/authoring'
import type { HttpFailure } from '../http/http-failure.ts'

/** A request that a chat waits for, as its reader sees it. */
export interface ShownRequest extends ClientRequest {
  /** True if this reader may answer it with more than no. */
  readonly mayAnswer: boolean
}

/** How a run ended, for its reader. */
export interface ShownOutcome {
  /** Status of the run, or `stopped` if it was asked to stop. */
  readonly status: string
  /** Neutral message of a blocked run. */
  readonly message?: string | undefined
  /** All that the chat waits for. */
  readonly pending: readonly ShownRequest[]
}

/** One thing that a reader is shown of a run, in every protocol. The last one is `done` or `failed`. */
export type Shown =
  | { readonly type: 'update'; readonly update: ClientUpdate }
  | {
      readonly type: 'done'
      readonly outcome: ShownOutcome
      /** Ids of the requests that this run made. */
      readonly asked: ReadonlySet<string>
    }
  | { readonly type: 'failed'; readonly failure: HttpFailure }

/** Writes what is shown in the format of a protocol. */
export interface Encoder {
  /** Returns the text to send, which may be empty. */
  encode(shown: Shown): string
}
