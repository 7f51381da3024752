import type { RunContext, KeyValueStore } from '@lamella/core'

/**
 * Returns the part of a store that a middleware uses: of its own `store` option, otherwise of the agent's store,
 * otherwise of this process. Calls `make` once for each store, and with `undefined` for this process.
 * @example
 * ```ts
 * import type { KeyValueStore } from '@lamella/core'
 * import { chatMiddleware, memoryStore } from '@lamella/core'
 * import { perStore, storeNamespace } from '@lamella/store'
 *
 * const counts = perStore<KeyValueStore>(undefined, (store) => store ?? memoryStore())
 * const count = chatMiddleware('count', async ({ run }, callNext) => {
 *   const mine = storeNamespace(counts(run), { name: 'count', tenant: run.tenant })
 *   await mine.set(run.id, run.iteration)
 *   await callNext()
 * })
 * console.log(count.name) // count
 * ```
 */
export function perStore<Part, Own extends object = KeyValueStore>(
  own: Own | undefined,
  make: (store: Own | KeyValueStore | undefined) => Part,
): (run: Pick<RunContext, 'store'>) => Part {
  if (own !== undefined) {
    const part = make(own)
    return () => part
  }
  const parts = new WeakMap<object, Part>()
  return ({ store }) => {
    const key = store ?? parts
    if (!parts.has(key)) parts.set(key, make(store))
    return parts.get(key)!
  }
}
