import { checkValue } from '../base/check-options.ts'
import type { KeyValueStore } from './store.ts'

/** An extension of the store contract that a middleware may need. */
export type StoreNeed = 'increment' | 'limits' | 'lists'

/**
 * Checks that a store has `get`, `set`, `delete` and `compareAndSet`, and the extensions that its user
 * needs.
 * @throws TypeError that names the option and what the store lacks
 */
export function checkStore(
  owner: string,
  store: unknown,
  needs: readonly StoreNeed[] = [],
  option = 'store',
): asserts store is KeyValueStore {
  checkValue(
    Object(store) === store,
    `${owner}: \`${option}\``,
    'be a store, such as `memoryStore()`',
    store,
  )
  const given = store as Record<string, unknown>
  const lacks = ['get', 'set', 'delete', 'compareAndSet', ...needs].find((name) => !given[name])
  if (lacks === undefined) return
  throw new TypeError(
    `${owner}: \`${option}\` needs \`${lacks}\`, which this store lacks; ` +
      (lacks === 'compareAndSet' && 'opts' in given
        ? 'wrap a Keyv in `keyvStore()`'
        : 'the stores of Lamella have all parts'),
  )
}
