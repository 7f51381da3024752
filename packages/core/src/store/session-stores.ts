import type { Session } from '../messages/session.ts'
import type { KeyValueStore } from './store.ts'

/** Stores that sessions were loaded from, for claims on their requests. */
export const sessionStores: WeakMap<
  Session,
  { readonly store: KeyValueStore; readonly storeTimeoutMs: number }
> = new WeakMap()
