import type { ChatClient } from '@lamella/core'

/** Behavior of the provider behind a client, for every request. */
export type ClientScenario =
  /** It answers with this text, in several pieces when streamed. */
  | { readonly kind: 'text'; readonly text: string }
  /** It calls these tools. The arguments are JSON, in several pieces when streamed. */
  | {
      readonly kind: 'calls'
      readonly calls: readonly { readonly name: string; readonly arguments: string }[]
    }
  /** It answers with an HTTP status, or the provider's own equivalent. */
  | {
      readonly kind: 'status'
      readonly status: 400 | 401 | 404 | 429 | 500 | 503
      /** With 429: the seconds in the header `retry-after`. */
      readonly retryAfterSeconds?: number
    }
  /** The connection breaks after a part of the text. */
  | { readonly kind: 'cut'; readonly text: string }
  /** A stream ends after a part of the text as if all were well, without the provider's last event. */
  | { readonly kind: 'ended-early'; readonly text: string }
  /** After a part of the text nothing more comes; without streaming there is no answer at all. */
  | { readonly kind: 'stalled'; readonly text: string }

/** A client in front of a provider that plays a scenario. */
export interface ClientHarness {
  /** Client to check. */
  readonly client: ChatClient
  /** Returns the number of open exchanges with the provider. Left out if unknown. */
  openExchanges?(): number
  /** Frees the resources of the harness. */
  close?(): void | Promise<void>
}
