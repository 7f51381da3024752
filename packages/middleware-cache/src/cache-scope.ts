import type { RunContext } from '@lamella/core'
import { LamellaError } from '@lamella/core'
import { wrongOption } from '@lamella/core/authoring'

/**
 * Who shares answers: all, those of one session, those of one run, or those for whom the function gives
 * the same text. Without a text, a call is not cached.
 */
export type CacheScope<Context> =
  | 'shared'
  | 'session'
  | 'run'
  | ((context: Context) => string | undefined)

/** The scope of a call as a part of its key; `undefined` where it has none. */
export function scopeOf<Context extends { readonly run: RunContext }>(
  scope: CacheScope<Context>,
  context: Context,
): string | undefined {
  if (scope === 'shared') return 'shared'
  const { run } = context
  const own =
    scope === 'session' ? run.session?.id : scope === 'run' ? run.id : scope(context) || undefined
  if (own === undefined) return undefined
  return `${typeof scope === 'string' ? scope : 'own'}:${own}`
}

/** Whether the data of a run names whose run it is. */
export function namesTenant(data: unknown): boolean {
  if (typeof data !== 'object' || data === null) return false
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
  const isName = scope === undefined || ['shared', 'session', 'run'].includes(scope as string)
  if (isName || typeof scope === 'function') return
  throw wrongOption(owner, 'scope', "'shared', 'session', 'run' or a function", scope)
}
