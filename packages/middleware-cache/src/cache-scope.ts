import type { RunContext } from '@lamella/core'
import { LamellaError } from '@lamella/core'
import { wrongOption } from '@lamella/core/authoring'

/**
 * Who shares answers: all, the runs of one tenant, those of one session, the calls of one run, or those
 * for which the function gives the same text. Without a tenant, a session or a text, a call is not cached.
 */
export type CacheScope<Context> =
  | 'shared'
  | 'tenant'
  | 'session'
  | 'run'
  | ((context: Context) => string | undefined)

/** The scope of a call as a part of its key; `undefined` where it has none. */
export function scopeOf<Context extends { readonly run: RunContext }>(
  scope: CacheScope<Context>,
  context: Context,
): string | undefined {
  if (typeof scope === 'function') {
    const own = scope(context)
    return own ? `own:${own}` : undefined
  }
  if (scope === 'shared') return scope
  const { tenant, session, id } = context.run
  const own = { tenant, session: session?.id, run: id }[scope]
  return own === undefined ? undefined : `${scope}:${own}`
}

/** Whether a run says whose it is: by its tenant, or by what its data calls one. */
export function hasTenant({ tenant, data }: RunContext): boolean {
  if (tenant !== undefined || typeof data !== 'object' || data === null) return tenant !== undefined
  return Object.entries(data).some(([key, value]) => value != null && tenantName.test(key))
}

const tenantName = /^(tenant|org|organi[sz]ation|account|workspace|customer)(_?id)?$/i

/** The error of a cache that is not told who may share its answers. */
export function scopeMissing(layer: string, why: string): LamellaError {
  return new LamellaError(
    `${layer}: ${why}; say by \`scope\` who shares answers, also if it is 'shared'`,
    { code: 'cache_scope_missing' },
  )
}

export function checkScope<Context>(owner: string, scope: CacheScope<Context> | undefined): void {
  const isName =
    scope === undefined || ['shared', 'tenant', 'session', 'run'].includes(scope as string)
  if (isName || typeof scope === 'function') return
  throw wrongOption(owner, 'scope', "'shared', 'tenant', 'session', 'run' or a function", scope)
}
