import type { KeyValueStore } from '@lamella/core'

/** Options of the vault, which keeps values while the model works with placeholders. */
export interface VaultOptions {
  /**
   * Keeps the values of a session. They are there as they are: use one that is as safe as what holds
   * your conversations.
   * @default the session's own state
   */
  readonly store?: KeyValueStore | undefined
  /** Milliseconds after which the store forgets a session that is not used. @default it does not */
  readonly ttlMs?: number | undefined
  /** Stands before the tenant and the session's id in its key. @default 'pii:' */
  readonly prefix?: string | undefined
  /** Milliseconds that each answer of the store may take; then the run fails. @default 2000 */
  readonly storeTimeoutMs?: number | undefined
  /** Content in which placeholders become values again. @default ['arguments', 'output'] */
  readonly restore?: readonly ('arguments' | 'output')[] | undefined
  /** Returns true for a tool that may get values. @default all tools */
  readonly restoreFor?: ((toolName: string) => boolean) | undefined
  /**
   * Restores values in links, images and HTML tags of an answer too. A page
   * that shows such an answer may send them to the address, and the model may have taken that from a page.
   * @default false
   */
  readonly restoreInLinks?: boolean | undefined
}
