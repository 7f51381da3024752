import type { ChatContext, Usage } from '@lamella/core'
import { wrongOption } from '@lamella/core/authoring'
import { requestTokens } from '@lamella/text'
import type { RouteCandidate, RouteServer } from './route-server.ts'

/** Chooses among candidates by name. `undefined` is the first one. */
export type RouteRule = (
  context: ChatContext,
  candidates: readonly RouteCandidate[],
) => string | undefined | Promise<string | undefined>

/** Source of prices, such as `models` of `@lamella/models`. */
export interface RoutePrices {
  /** Returns the cost of a call in US dollars; `undefined` if the model has no price. */
  cost(usage: Usage, model: { provider: string; model: string | undefined }): number | undefined
}

/** Calls a rule by name or function, and returns the chosen server. */
export type ChooseServer = (
  context: ChatContext,
  servers: readonly RouteServer[],
  now: number,
) => RouteServer | Promise<RouteServer>

/** Output tokens of a call without `maxOutputTokens`, for comparing prices. */
const usualOutput = 500

/** Returns the function that chooses as the option `by` says. There is at least one server. */
export function chooser(
  by: 'weight' | 'latency' | 'load' | 'cost' | RouteRule,
  prices: RoutePrices | undefined,
): ChooseServer {
  if (by === 'weight') return (_context, servers) => byWeight(servers)
  if (by === 'load') return (_context, servers) => least(servers, loadOf)
  if (by === 'latency') {
    return (context, servers, now) => {
      const kind = kindOf(context)
      const known = servers.flatMap((server) => server.candidate(kind, now).latencyMs ?? [])
      const unknown = Math.min(1, ...known)
      // One that is new counts as fast, and calls in progress count as waits.
      return least(
        servers,
        (server) => (server.candidate(kind, now).latencyMs ?? unknown) * (server.running + 1),
      )
    }
  }
  if (by === 'cost') {
    return (context, servers) => least(servers, (server) => costOf(context, server, prices!))
  }
  return async (context, servers, now) => {
    const kind = kindOf(context)
    const name = await by(
      context,
      servers.map((server) => server.candidate(kind, now)),
    )
    const chosen = name === undefined ? servers[0] : servers.find((server) => server.name === name)
    if (chosen !== undefined) return chosen
    const names = servers.map((server) => server.name).join(', ')
    throw wrongOption('route', 'by', `a function that returns one of ${names}, or undefined`, name)
  }
}

export function kindOf({ stream }: ChatContext): 'plain' | 'streamed' {
  return stream ? 'streamed' : 'plain'
}

/** Smooth weighted round robin, as nginx has it: shares are exact, and no client gets its share at once. */
function byWeight(servers: readonly RouteServer[]): RouteServer {
  let total = 0
  for (const server of servers) {
    server.credit += server.weight
    total += server.weight
  }
  const chosen = least(servers, ({ credit }) => -credit)
  chosen.credit -= total
  return chosen
}

function loadOf({ running, weight }: RouteServer): number {
  return (running + 1) / weight
}

/** Estimated cost in US dollars. A model without a price is the most expensive one. */
function costOf(context: ChatContext, { entry }: RouteServer, prices: RoutePrices): number {
  const { messages, instructions, options } = context
  const { tools, responseFormat, maxOutputTokens } = { ...options, ...entry.options }
  const usage = {
    inputTokens: requestTokens({ messages, instructions, tools, responseFormat }),
    outputTokens: maxOutputTokens ?? usualOutput,
  }
  const { provider, model: own } = entry.client
  return prices.cost(usage, { provider, model: entry.model ?? own }) ?? Infinity
}

function least(
  servers: readonly RouteServer[],
  valueOf: (server: RouteServer) => number,
): RouteServer {
  let [chosen, value] = [servers[0]!, valueOf(servers[0]!)]
  for (const server of servers.slice(1)) {
    const its = valueOf(server)
    if (its < value) [chosen, value] = [server, its]
  }
  return chosen
}
