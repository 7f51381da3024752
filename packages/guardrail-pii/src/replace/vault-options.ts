import type { KeyValueStore } from '@lamella/core'

/** Options of the vault, which keeps values while the model reads placeholders. */
export interface VaultOptions {
  /**
   * Store of a session's values. It holds them in plain text: protect it like your conversations.
   * @default the agent's, otherwise the session's own state
   */
  readonly store?: KeyValueStore | undefined
  /** Time in milliseconds after which the store removes an unused session. @default never */
  readonly ttlMs?: number | undefined
  /** Prefix of the keys, before the tenant, the principal and the session's id. @default 'pii:' */
  readonly prefix?: string | undefined
  /** Maximum time in milliseconds for each call of the store. Exceeding it fails the run. @default 2000 */
  readonly storeTimeoutMs?: number | undefined
  /** Places in which placeholders are restored. @default ['arguments', 'output'] */
  readonly restore?: readonly ('arguments' | 'output')[] | undefined
  /** Returns true for a tool that may receive values. @default all tools */
  readonly restoreFor?: ((toolName: string) => boolean) | undefined
  /**
   * Restores placeholders in links, images and HTML tags of an answer as well. A page that shows such an answer
   * may send them to the address, and the address may come from untrusted text.
   * @default false
   */
  readonly restoreInLinks?: boolean | undefined
}
