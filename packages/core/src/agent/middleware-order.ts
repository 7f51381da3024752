import type { Middleware } from '../contract/agent.ts'

/** The recommended places of roles, outermost first (docs/order.md). */
const order: Readonly<Record<Middleware['level'], string>> = {
  agent: 'audit tracing rate-limit budget injection content tokens judge pii files patch',
  chat: 'audit tracing budget tokens pii injection content cache schema judge fallback circuit-breaker retry rate-limit files summarize truncate timeout',
  function:
    'audit tracing budget tool-policy pii injection content files cache retry rate-limit timeout truncate',
}

/** Warns about middlewares of a level that are out of the recommended order or share a name. */
export function orderWarnings(
  level: Middleware['level'],
  middlewares: readonly Pick<Middleware, 'name' | 'role'>[],
): string[] {
  const places = order[level].split(' ')
  const names = new Set<string>()
  const warnings: string[] = []
  let last = { place: -1, name: '' }
  for (const { name, role } of middlewares) {
    if (role !== undefined && names.has(name))
      warnings.push(`${level}: two middlewares are named ${name}`)
    names.add(name)
    const place = places.indexOf(role ?? '')
    if (place < 0) continue
    if (place < last.place) warnings.push(`${level}: ${name} should stand outside ${last.name}`)
    else last = { place, name }
  }
  return warnings
}
