import { wrongOption } from '../base/check-options.ts'
import { storeExtensions } from './store-extensions.ts'
import type { LimitClaim, StoreLimits } from './store-limits.ts'
import type { StoreLists } from './store-lists.ts'
import type { KeyValueStore, Store } from './store.ts'

/** What the keys of a namespace begin with. */
export interface StoreNamespace {
  /** Kind of data, such as `cache` or `session`. */
  readonly name: string
  /** Keeps the data of a tenant apart from that of all others. @default no tenant */
  readonly tenant?: string | undefined
}

/** The prefix of all keys of a namespace. No two namespaces share a key, whatever is in their names. */
export function storePrefix({ name, tenant }: StoreNamespace): string {
  return tenant === undefined ? `${escaped(name)}:` : `${escaped(name)}@${escaped(tenant)}:`
}

/** As JSON first, which has an escape for half a character. */
function escaped(text: string): string {
  return encodeURIComponent(JSON.stringify(text).slice(1, -1))
}

/**
 * A part of a store with keys of its own: it neither sees nor changes entries of other namespaces. It has
 * the extensions of the store.
 * @example
 * const app = memoryStore()
 * const drafts = storeNamespace(app, { name: 'drafts', tenant: 'acme' })
 * await drafts.set('1', 'Dear Sir')
 * await app.get('drafts@acme:1') // 'Dear Sir'
 * @throws TypeError if `name` is empty
 */
export function storeNamespace<Kept extends KeyValueStore>(
  store: Kept,
  namespace: StoreNamespace,
): Kept {
  if (namespace.name === '') throw wrongOption('storeNamespace', 'name', 'a text', namespace.name)
  const prefix = storePrefix(namespace)
  const { limits, lists } = store
  const inside = (claim: LimitClaim): LimitClaim => ({ ...claim, key: prefix + claim.key })
  const part: Partial<Store> = {
    ...storeExtensions(store),
    get: (key) => store.get(prefix + key),
    set: (key, value, options) => store.set(prefix + key, value, options),
    delete: (key) => store.delete(prefix + key),
    compareAndSet: (key, expected, value, options) =>
      store.compareAndSet(prefix + key, expected, value, options),
  }
  if (part.increment !== undefined) {
    part.increment = (key, by, options) => store.increment!(prefix + key, by, options)
  }
  return {
    ...part,
    ...(limits && {
      limits: {
        leaseMs: limits.leaseMs,
        pollMs: limits.pollMs,
        take: (id, claims) => limits.take(id, claims.map(inside)),
        settle: (id, settled) =>
          limits.settle(
            id,
            settled.map(({ claim, used }) => ({ claim: inside(claim), used })),
          ),
        restrict: (restrictions) =>
          limits.restrict(restrictions.map((one) => ({ ...one, claim: inside(one.claim) }))),
        renew: (id, claims) => limits.renew(id, claims.map(inside)),
      } satisfies StoreLimits,
    }),
    ...(lists && {
      lists: {
        add: (list, item, score, options) => lists.add(prefix + list, item, score, options),
        remove: (list, item) => lists.remove(prefix + list, item),
        range: (list, options) => lists.range(prefix + list, options),
      } satisfies StoreLists,
    }),
  } as Kept
}
