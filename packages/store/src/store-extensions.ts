import type { KeyValueStore, Store } from '@lamella/core'

/** Returns the extensions of a store, for a store that wraps it. */
export function storeExtensions(store: KeyValueStore): Partial<Store> {
  const { increment, limits, lists, signals, health, close } = store as Partial<Store>
  return {
    ...(increment && { increment: increment.bind(store) }),
    ...(limits && { limits }),
    ...(lists && { lists }),
    ...(signals && { signals }),
    ...(health && { health: health.bind(store) }),
    ...(close && { close: close.bind(store) }),
  }
}
