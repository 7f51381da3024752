import type { ChatClient } from '@lamella/core'

/** Behavior of the provider behind a client, for every request. */
export type ClientScenario =
  /** It answers with this text, in several pieces when streamed. */
  | {
      readonly kind: 'text'
      /** Text of the answer. */
      readonly text: string
    }
  /** It calls these tools. The arguments are JSON, in several pieces when streamed. */
  | {
      readonly kind: 'calls'
      /** Calls of the answer, in order. */
      readonly calls: readonly { readonly name: string; readonly arguments: string }[]
    }
  /** It answers with an HTTP status, or the provider's own equivalent. */
  | {
      readonly kind: 'status'
      /** HTTP status. */
      readonly status: 400 | 401 | 404 | 429 | 500 | 503
      /** With 429: the seconds in the header `retry-after`. */
      readonly retryAfterSeconds?: number
    }
  /** The connection breaks after a part of the text. */
  | {
      readonly kind: 'cut'
      /** Text of which a part arrives. */
      readonly text: string
    }
  /** A stream ends normally after a part of the text, but without the provider's last event. */
  | {
      readonly kind: 'ended-early'
      /** Text of which a part arrives. */
      readonly text: string
    }
  /** The stream stalls after a part of the text; a plain call gets no answer. */
  | {
      readonly kind: 'stalled'
      /** Text of which a part arrives. */
      readonly text: string
    }

/** A client in front of a provider that plays a scenario. */
export interface ClientHarness {
  /** Client to check. */
  readonly client: ChatClient
  /** Returns the number of open exchanges with the provider. Omit it if unknown. */
  openExchanges?(): number
  /** Returns the body of the last request as text. Omit it if unknown. */
  lastBody?(): string
  /**
   * Returns the model that the last request named, for a provider whose answers name none: the
   * client must then report that model. Omit it if answers name their model.
   */
  lastModel?(): string | undefined
  /**
   * True if the provider of the harness plays the same recording for each request, so that its ids
   * repeat.
   * @default false
   */
  readonly repeatsIds?: boolean | undefined
  /** Frees the resources of the harness. */
  close?(): void | Promise<void>
}
