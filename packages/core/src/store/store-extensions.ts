import type { KeyValueStore, Store } from './store.ts'

/** What a store has besides its entries, for a store that is made around it. */
export function storeExtensions(store: KeyValueStore): Partial<Store> {
  const { increment, limits, lists, health, close } = store as Partial<Store>
  return {
    ...(increment && { increment: increment.bind(store) }),
    ...(limits && { limits }),
    ...(lists && { lists }),
    ...(health && { health: health.bind(store) }),
    ...(close && { close: close.bind(store) }),
  }
}
