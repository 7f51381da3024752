import type { Middleware, MiddlewareInput } from '@lamella/core'

/** Roles of middleware whose work depends on more than the run: it is part of the step, and skipped with it. */
const inside: ReadonlySet<string> = new Set([
  'cache',
  'schema',
  'judge',
  'route',
  'fallback',
  'circuit-breaker',
  'retry',
  'rate-limit',
  'files',
  'summarize',
  'truncate',
  'timeout',
])

/** Puts the middleware of `durable` at the recommended place of their levels, outside of what a step includes. */
export function withDurable(
  list: MiddlewareInput,
  durable: readonly Middleware[],
): readonly Middleware[] {
  const all = flat(list)
  for (const middleware of durable) {
    const at = all.findIndex(
      ({ level, role = '' }) => level === middleware.level && inside.has(role),
    )
    all.splice(at < 0 ? all.length : at, 0, middleware)
  }
  return all
}

/** Returns the middleware of nested lists. */
export function flat(list: MiddlewareInput): Middleware[] {
  return Array.isArray(list) ? list.flatMap(flat) : [list as Middleware]
}
