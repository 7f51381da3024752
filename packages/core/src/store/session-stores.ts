import { processWide } from '../base/process-wide.ts'
import type { Session, SessionReference } from '../messages/session.ts'
import type { KeyValueStore } from './store.ts'

/** Store for claims on the requests of a session. */
export interface ClaimPlace {
  /** The store. */
  readonly store: KeyValueStore
  /** Milliseconds to wait for it. */
  readonly storeTimeoutMs: number
}

const places = /* @__PURE__ */ processWide(
  'claim-places',
  () => new WeakMap<Session | SessionReference, ClaimPlace>(),
)

/**
 * Keeps claims on the requests of a session in this store, unless the agent has one. Call it for each
 * session that you load from a store: then no two processes answer the same request.
 */
export function keepClaims(session: Session | SessionReference, place: ClaimPlace): void {
  places.set(session, place)
}

/** Returns the store for claims that `keepClaims` has set. */
export function claimPlaceOf(session: Session | SessionReference): ClaimPlace | undefined {
  return places.get(session)
}
