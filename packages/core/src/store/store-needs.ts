import type { KeyValueStore } from './store.ts'

/** A part of the store contract that a middleware may need. */
export type StoreNeed = 'entries' | 'counters' | 'limits' | 'lists'

/**
 * Checks that a store has what its user needs; `entries` are `get`, `set`, `delete` and `compareAndSet`.
 * @throws TypeError that names the option and what the store lacks
 */
export function checkStore(
  owner: string,
  store: unknown,
  needs: readonly StoreNeed[],
  option = 'store',
): asserts store is KeyValueStore {
  const given = Object(store) as Record<string, unknown>
  for (const need of ['entries', ...needs] as const) {
    const { words, has } = parts[need]
    if (has(given)) continue
    const isKeyv = need === 'entries' && typeof given['get'] === 'function' && 'opts' in given
    throw new TypeError(
      `${owner}: \`${option}\` needs ${words}, which this store lacks; ` +
        (isKeyv
          ? 'wrap a Keyv in `keyvStore()`'
          : '`memoryStore()`, `sqliteStore()`, `redisStore()` and `postgresStore()` have all parts'),
    )
  }
}

const parts: Record<
  StoreNeed,
  { readonly words: string; readonly has: (store: Record<string, unknown>) => boolean }
> = {
  entries: {
    words: 'the methods `get`, `set`, `delete` and `compareAndSet`',
    has: (store) =>
      ['get', 'set', 'delete', 'compareAndSet'].every((name) => typeof store[name] === 'function'),
  },
  counters: {
    words: 'counters (`increment`)',
    has: ({ increment }) => typeof increment === 'function',
  },
  limits: {
    words: 'sliding windows (`limits`)',
    has: ({ limits }) => typeof (limits as { take?: unknown } | undefined)?.take === 'function',
  },
  lists: {
    words: 'lists (`lists`)',
    has: ({ lists }) => typeof (lists as { range?: unknown } | undefined)?.range === 'function',
  },
}
