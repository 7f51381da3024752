import type { RunContext } from '@lamella/core'
import { LamellaError } from '@lamella/core'
import { keyOf, wrongOption } from '@lamella/core/authoring'

/**
 * Set of callers that share answers: all, the runs of one tenant, the runs of one session, the calls of
 * one run, or those for which the function returns the same text. All but `shared` keep tenants apart, and
 * `session` and `run` keep users apart. A call without a tenant, a session or
 * a text is not cached.
 */
export type CacheScope<Context> =
  | 'shared'
  | 'tenant'
  | 'session'
  | 'run'
  | ((context: Context) => string | undefined)

/** Returns the scope of a call as a part of its key; `undefined` if it has none. */
export function scopeOf<Context extends { readonly run: RunContext }>(
  scope: CacheScope<Context>,
  context: Context,
): string | undefined {
  if (scope === 'shared') return scope
  const { tenant, principal, session, id } = context.run
  const own =
    typeof scope === 'function'
      ? scope(context) || undefined
      : { tenant: '', session: session?.id, run: id }[scope]
  if (own === undefined || (scope === 'tenant' && tenant === undefined)) return undefined
  const name = typeof scope === 'function' ? 'own' : scope
  // Two tenants may use one id or one text, and two users one id.
  const isOfUser = scope === 'session' || scope === 'run'
  return keyOf('', { tenant, ...(isOfUser && { principal }) }, name, own)
}

/** Tells whether a run names a tenant, in `tenant` or in its data. */
export function hasTenant({ tenant, data }: RunContext): boolean {
  if (tenant !== undefined || typeof data !== 'object' || data === null) return tenant !== undefined
  return Object.entries(data).some(([key, value]) => value != null && tenantName.test(key))
}

const tenantName = /^(tenant|org|organi[sz]ation|account|workspace|customer)(_?id)?$/i

/** Makes the error for a cache that does not know who may share its answers. */
export function scopeMissing(middleware: string, why: string): LamellaError {
  return new LamellaError(
    `${middleware}: ${why}; set \`scope\` to say who shares answers: 'tenant', 'session', 'run', 'shared' or a function`,
    { code: 'cache_scope_missing' },
  )
}

/** Checks the option `scope`. */
export function checkScope<Context>(owner: string, scope: CacheScope<Context> | undefined): void {
  const isName =
    scope === undefined || ['shared', 'tenant', 'session', 'run'].includes(scope as string)
  if (isName || typeof scope === 'function') return
  throw wrongOption(owner, 'scope', "'shared', 'tenant', 'session', 'run' or a function", scope)
}
