import { described } from '../base/check-options.ts'
import { isObject } from '../base/plain-data.ts'
import type { AgentMiddleware, Middleware, MiddlewareInput } from '../contract/agent.ts'
import type { ChatMiddleware } from '../contract/chat.ts'
import type { ClientMiddlewareInput } from '../contract/middleware.ts'
import type { FunctionMiddleware } from '../contract/run.ts'
import { checkStore } from '../store/store-needs.ts'
import type { KeyValueStore } from '../store/store.ts'

/** Middleware by level, in list order. */
export interface Middlewares {
  readonly all: readonly Middleware[]
  readonly agent: readonly AgentMiddleware[]
  readonly chat: readonly ChatMiddleware[]
  readonly function: readonly FunctionMiddleware[]
}

/** One of these, or a list of them that may nest. */
export type Nested<Entry> = Entry | readonly Nested<Entry>[]

/** Lists, the outermost first, of which some may be missing. */
type Lists = MiddlewareInput | readonly Lists[]

/**
 * Flattens lists and sorts them by level; earlier lists are further out.
 * @throws TypeError for an entry that is no middleware, or of a level that `where` cannot run.
 */
export function sortMiddlewares(
  lists: Lists,
  where: string,
  levels: readonly Middleware['level'][] = allLevels,
): Middlewares {
  const all = ([lists] as unknown[]).flat(Infinity) as Middleware[]
  const wrong = all.findIndex((one) => !isMiddleware(one) || !levels.includes(one.level))
  if (wrong >= 0) throw refusal(all[wrong]!, where, levels)
  const of = (level: Middleware['level']): never[] =>
    all.filter((middleware) => middleware.level === level) as never[]
  return { all, agent: of('agent'), chat: of('chat'), function: of('function') }
}

/**
 * Checks that the store of an agent has what its middleware needs.
 * @throws TypeError that names the middleware and what the store lacks
 */
export function checkStoreNeeds(
  store: KeyValueStore | undefined,
  middlewares: readonly Middleware[],
): void {
  if (store === undefined) return
  checkStore('agent', store)
  for (const { name, storeNeeds = [] } of middlewares) {
    checkStore(`agent: middleware "${name}"`, store, storeNeeds)
  }
}

/**
 * Checks that no middleware passes content on that one further inside would have protected.
 * @throws TypeError that names both
 */
export function checkPlaces(middlewares: readonly ChatMiddleware[]): void {
  for (const [at, { name, inside = [] }] of middlewares.entries()) {
    const isProtector = ({ role = '' }: ChatMiddleware): boolean => inside.includes(role)
    const passed = middlewares.slice(at + 1).find(isProtector)
    if (passed === undefined) continue
    throw new TypeError(
      `agent: middleware "${name}" passes on what "${passed.name}" would protect; put "${passed.name}" before it in the list`,
    )
  }
}

/** Returns the middleware of a run that a sub-agent with these lists inherits. */
export function inheritedBy(lists: Lists, given: readonly Middleware[]): readonly Middleware[] {
  const kindOf = (one: Middleware): string => one.role ?? one.name
  const kinds = sortMiddlewares(lists, 'agent').all.map(kindOf)
  return given.filter((one) => one.inherited && !kinds.includes(kindOf(one)))
}

/** Returns true if lists hold exactly this middleware, in this order. */
export function holdsOnly(lists: Lists, all: readonly Middleware[]): boolean {
  return reach(lists, all, 0) === all.length
}

/** Returns the index in `all` after an entry that begins at `from`; NaN if it does not match. */
function reach(entry: Lists, all: readonly Middleware[], from: number): number {
  if (!Array.isArray(entry)) return all[from] === entry ? from + 1 : NaN
  let at = from
  for (const one of entry as readonly Lists[]) at = reach(one, all, at)
  return at
}

/**
 * Disposes of the middleware that can be, the innermost first. If some fails, the rest is disposed of all
 * the same.
 * @throws what the one threw that failed, or an AggregateError
 */
export async function disposeMiddlewares(middlewares: Middlewares): Promise<void> {
  const errors: unknown[] = []
  const { agent, chat, function: calls } = middlewares
  for (const middleware of [...agent, ...chat, ...calls].toReversed()) {
    try {
      await (middleware as Middleware & Partial<AsyncDisposable>)[Symbol.asyncDispose]?.()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 1)
    throw new AggregateError(errors, `${errors.length} middleware failed to dispose`)
  if (errors.length > 0) throw errors[0]
}

const allLevels = ['agent', 'chat', 'function'] as const

function isMiddleware(entry: Middleware | null): boolean {
  return typeof entry?.process === 'function' && typeof entry.name === 'string'
}

/** Why an entry cannot run in `where`. */
function refusal(
  entry: Middleware,
  where: string,
  levels: readonly Middleware['level'][],
): TypeError {
  if (!isMiddleware(entry)) {
    return new TypeError(
      `${where}: \`middleware\` must hold objects with \`level\`, \`name\` and \`process\`, got ${describe(entry)}`,
    )
  }
  const { level, name } = entry
  return new TypeError(
    allLevels.includes(level)
      ? `${where}: middleware "${name}" is of level ${level}, which does not run here (only ${levels.join(', ')})`
      : `${where}: middleware "${name}" has the unknown level ${described(level)}; known are agent, chat, function`,
  )
}

function describe(entry: unknown): string {
  if (typeof entry === 'function')
    return 'a function (wrap it with agentMiddleware, chatMiddleware or functionMiddleware; call it if it makes a middleware, as `retry()` does)'
  if (!isObject(entry)) return described(entry)
  return `an object with ${Object.keys(entry).join(', ') || 'nothing'}`
}

/** The middleware of a client, which may be of level chat and function only. */
export function sortClientMiddlewares(
  list: ClientMiddlewareInput = [],
): readonly (ChatMiddleware | FunctionMiddleware)[] {
  const middlewares = sortMiddlewares(list, 'client', ['chat', 'function'])
  return [...middlewares.chat, ...middlewares.function]
}
