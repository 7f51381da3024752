import { wrongOption } from '@lamella/core/authoring'
import { storeExtensions } from './store-extensions.ts'
import type { LimitClaim, StoreLimits, StoreLists, StoreSignals } from '@lamella/core/authoring'
import type { KeyValueStore, Store } from '@lamella/core'

/** Prefix of the keys of a namespace. */
export interface StoreNamespace {
  /** Kind of data, such as `cache` or `session`. */
  readonly name: string
  /** Tenant whose data is kept apart from that of all others. @default none */
  readonly tenant?: string | undefined
  /** User whose data is kept apart from that of all others. @default none */
  readonly principal?: string | undefined
}

/** Returns the prefix of all keys of a namespace. Two namespaces never share a key, whatever their names contain. */
export function storePrefix({ name, tenant, principal }: StoreNamespace): string {
  const owner =
    principal === undefined ? (tenant === undefined ? [] : [tenant]) : [tenant, principal]
  return `${[name, ...owner].map(escaped).join('@')}:`
}

/** Escapes as JSON first, which has an escape for half a surrogate pair. */
function escaped(text: string | undefined): string {
  if (text === undefined) return ''
  // An empty text differs from none.
  return text === '' ? '%' : encodeURIComponent(JSON.stringify(text).slice(1, -1))
}

/**
 * Creates a part of a store with its own keys: it neither sees nor changes entries of other namespaces. It
 * has the extensions of the store.
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
  const { limits, lists, signals } = store
  const inside = (claim: LimitClaim): LimitClaim => ({ ...claim, key: prefix + claim.key })
  const part: Partial<Store> = {
    ...storeExtensions(store),
    get: (key) => store.get(prefix + key),
    set: (key, value, options) => store.set(prefix + key, value, options),
    delete: (key) => store.delete(prefix + key),
    compareAndSet: (key, expected, value, options) =>
      store.compareAndSet(prefix + key, expected, value, options),
  }
  return {
    ...part,
    ...(part.increment && {
      increment: (key, by, options) => store.increment!(prefix + key, by, options),
    }),
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
    ...(signals && {
      signals: {
        send: (channel, note) => signals.send(prefix + channel, note),
        listen: (channel, listener) => signals.listen(prefix + channel, listener),
      } satisfies StoreSignals,
    }),
  } as Kept
}
