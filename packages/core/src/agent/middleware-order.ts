import type { Middleware, MiddlewareInput } from '../contract/agent.ts'

/**
 * The recommended places of roles, outermost first (docs/order.md). Roles that one factory may have at
 * several levels stand in one order at all of them, so that any two entries of a list can be in order.
 */
const order: Readonly<Record<Middleware['level'], string>> = {
  agent: 'audit tracing rate-limit budget tokens pii injection content judge files patch',
  chat: 'audit tracing budget tokens pii injection content durable cache schema judge route fallback circuit-breaker retry rate-limit files summarize truncate timeout',
  function:
    'audit tracing budget tool-policy pii injection content durable files cache retry rate-limit timeout truncate',
}

/** Reasons why a role is placed outside `INNER`. */
const reasons: readonly (readonly [roles: string, reason: string])[] = [
  ['audit tracing', 'to record every call that INNER makes'],
  ['budget', 'to count every call that INNER makes'],
  ['pii', 'so that INNER sees no personal data'],
  ['durable', 'so that a restored step skips INNER'],
  ['cache', 'so that a cached result skips INNER'],
  ['schema judge route fallback circuit-breaker retry', 'to react to results and errors of INNER'],
  ['summarize', 'to read the text before INNER removes it'],
]

/** Warns about middleware of a level that is out of the recommended order or shares a name. */
export function orderWarnings(
  level: Middleware['level'],
  middlewares: readonly Middleware[],
  lists: readonly (MiddlewareInput | undefined)[],
): string[] {
  const places = order[level].split(' ')
  const names = new Set<string>()
  const warnings = new Set<string>()
  let last = { place: -1, entry: '' }
  for (const middleware of middlewares) {
    const { name, role = '' } = middleware
    if (role !== '' && names.has(name))
      warnings.add(
        `${level}: more than one middleware is named ${name}; remove one, or give each a \`name\``,
      )
    names.add(name)
    const place = places.indexOf(role)
    if (place < 0) continue
    const entry = entryOf(middleware, lists)
    if (place >= last.place) last = { place, entry }
    else
      warnings.add(
        `${level}: place ${entry} before ${last.entry}, ${reasonFor(role).replace('INNER', last.entry)}`,
      )
  }
  return [...warnings]
}

function reasonFor(role: string): string {
  const known = reasons.find(([roles]) => roles.split(' ').includes(role))
  return known?.[1] ?? 'so that INNER sees nothing that it blocks'
}

/**
 * Name of a middleware as its list shows it: a part of a feature, such as `pii-output`, has the name of the
 * feature, with which the names of all its parts begin.
 */
function entryOf({ name }: Middleware, lists: readonly (MiddlewareInput | undefined)[]): string {
  for (const entry of lists.flatMap((list) => (isList(list) ? list : []))) {
    const names = partsOf(entry)
    const [shortest] = names.toSorted((one, other) => one.length - other.length)
    if (names.includes(name) && names.every((one) => one.startsWith(shortest!))) return shortest!
  }
  return name
}

function partsOf(entry: MiddlewareInput): readonly string[] {
  return isList(entry) ? entry.flatMap(partsOf) : [entry.name]
}

function isList(entry: MiddlewareInput | undefined): entry is readonly MiddlewareInput[] {
  return Array.isArray(entry)
}
