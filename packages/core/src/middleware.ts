import type { AgentContext } from './agent-context.ts'
import type { AgentResponse } from './agent-response.ts'
import type { ChatContext } from './chat-context.ts'
import type { ChatResponse } from './chat-response.ts'
import type { FunctionInvocationContext } from './function-context.ts'
import type { FunctionResult } from './function-result.ts'

/** Runs everything inside this layer and resolves to its result, which is also in `context.result`. */
export type CallNext<Result> = () => Promise<Result>

/** A layer around a whole run. */
export interface AgentMiddleware {
  readonly level: 'agent'
  readonly name: string
  /** What kind of layer it is, such as `retry`: `explain` knows the places of the known ones. */
  readonly role?: string | undefined
  process(context: AgentContext, callNext: CallNext<AgentResponse>): void | Promise<unknown>
}

/** A layer around every model call. */
export interface ChatMiddleware {
  readonly level: 'chat'
  readonly name: string
  /** What kind of layer it is, such as `retry`: `explain` knows the places of the known ones. */
  readonly role?: string | undefined
  process(context: ChatContext, callNext: CallNext<ChatResponse>): void | Promise<unknown>
}

/** A layer around every tool call. */
export interface FunctionMiddleware {
  readonly level: 'function'
  readonly name: string
  /** What kind of layer it is, such as `retry`: `explain` knows the places of the known ones. */
  readonly role?: string | undefined
  process(
    context: FunctionInvocationContext,
    callNext: CallNext<FunctionResult>,
  ): void | Promise<unknown>
}

export type Middleware = AgentMiddleware | ChatMiddleware | FunctionMiddleware

/** A middleware, or a list of them that may nest: a list is a feature with parts at several levels. */
export type MiddlewareInput = Middleware | readonly MiddlewareInput[]

/** The same for a client, which has no runs of its own. */
export type ClientMiddlewareInput =
  | ChatMiddleware
  | FunctionMiddleware
  | readonly ClientMiddlewareInput[]

/** Makes a layer around a whole run from a function. */
export function agentMiddleware(
  name: string,
  process: AgentMiddleware['process'],
): AgentMiddleware {
  return { level: 'agent', name, process }
}

/** Makes a layer around every model call from a function. */
export function chatMiddleware(name: string, process: ChatMiddleware['process']): ChatMiddleware {
  return { level: 'chat', name, process }
}

/** Makes a layer around every tool call from a function. */
export function functionMiddleware(
  name: string,
  process: FunctionMiddleware['process'],
): FunctionMiddleware {
  return { level: 'function', name, process }
}

/** Middlewares by level, in list order. */
export interface Layers {
  readonly all: readonly Middleware[]
  readonly agent: readonly AgentMiddleware[]
  readonly chat: readonly ChatMiddleware[]
  readonly function: readonly FunctionMiddleware[]
}

/** Lists, the outermost first, of which some may be missing. */
type Lists = MiddlewareInput | undefined | readonly Lists[]

/**
 * Flattens lists and sorts them by level; earlier lists are further out.
 * @throws TypeError for an entry that is no middleware, or of a level that `where` cannot run.
 */
export function sortLayers(
  lists: Lists,
  where: string,
  levels: readonly Middleware['level'][] = allLevels,
): Layers {
  const all: Middleware[] = []
  const visit = (entry: Lists): void => {
    if (entry === undefined) return
    if (isList(entry)) entry.forEach(visit)
    else if (isMiddleware(entry) && levels.includes(entry.level)) all.push(entry)
    else throw refusal(entry, where, levels)
  }
  visit(lists)
  const of = (level: Middleware['level']): never[] =>
    all.filter((layer) => layer.level === level) as never[]
  return { all, agent: of('agent'), chat: of('chat'), function: of('function') }
}

/** Whether lists hold just these layers, in this order. */
export function holdsOnly(lists: Lists, all: readonly Middleware[]): boolean {
  return reach(lists, all, 0) === all.length
}

/** How far in `all` an entry reaches that begins at `from`; nowhere if it is another one. */
function reach(entry: Lists, all: readonly Middleware[], from: number): number {
  if (entry === undefined) return from
  if (!isList(entry)) return all[from] === entry ? from + 1 : NaN
  let at = from
  for (const part of entry) at = reach(part, all, at)
  return at
}

/**
 * Disposes of the layers that can be, the innermost first. If some fail, the others are disposed of all
 * the same.
 * @throws what the one threw that failed, or an AggregateError
 */
export async function disposeLayers(layers: Layers): Promise<void> {
  const errors: unknown[] = []
  for (const layer of [...layers.agent, ...layers.chat, ...layers.function].toReversed()) {
    try {
      await (layer as Middleware & Partial<AsyncDisposable>)[Symbol.asyncDispose]?.()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 1)
    throw new AggregateError(errors, `${errors.length} layers failed to dispose`)
  if (errors.length > 0) throw errors[0]
}

const allLevels = ['agent', 'chat', 'function'] as const

function isList(entry: Lists): entry is readonly Lists[] {
  return Array.isArray(entry)
}

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
      : `${where}: middleware "${name}" has the unknown level ${JSON.stringify(level)}; known are agent, chat, function`,
  )
}

function describe(entry: unknown): string {
  switch (typeof entry) {
    case 'function':
      return 'a function (wrap it with agentMiddleware, chatMiddleware or functionMiddleware)'
    case 'object':
      return entry === null
        ? 'null'
        : `an object with ${Object.keys(entry).join(', ') || 'nothing'}`
    case 'string':
      return `the string ${JSON.stringify(entry)}`
    default:
      return `the ${typeof entry} ${String(entry)}`
  }
}

/** The layers of a client, which may be of level chat and function only. */
export function sortClientLayers(
  list: ClientMiddlewareInput | undefined,
): readonly (ChatMiddleware | FunctionMiddleware)[] {
  const layers = sortLayers(list, 'client', ['chat', 'function'])
  return [...layers.chat, ...layers.function]
}
