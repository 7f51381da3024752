import type { ChatContext, ChatMiddleware } from '@lamella/core'
import { defineState, jsonSchema } from '@lamella/core'
import type { Clock, MiddlewareOptions } from '@lamella/core/authoring'
import {
  checkOptions,
  defineChatMiddleware,
  middlewareRules,
  reporter,
  wrongOption,
} from '@lamella/core/authoring'
import { clientName } from './client-name.ts'
import { RouteCall } from './route-call.ts'
import type { RouteSettings } from './route-call.ts'
import type { RouteEvent } from './route-event.ts'
import type { RoutePrices, RouteRule } from './route-rule.ts'
import { chooser } from './route-rule.ts'
import type { RouteEntry } from './route-server.ts'
import { RouteServer } from './route-server.ts'

/** Options of `route`. */
export interface RouteOptions extends MiddlewareOptions<ChatContext, RouteEvent> {
  /** Clients to choose from. The agent's own client is called only if none of them may take a call. */
  readonly clients: readonly RouteEntry[]
  /**
   * Rule that chooses: by `weight`; the lowest `latency`; the least `load`, which is calls in progress by
   * weight; the lowest `cost` by `prices`; a function that returns a name; or `classify()`.
   * @default 'weight'
   */
  readonly by?: 'weight' | 'latency' | 'load' | 'cost' | RouteRule | undefined
  /**
   * Keeps the client for the calls of a run or a session, while it may take them. A provider's prompt cache
   * needs that.
   * @default 'run'
   */
  readonly sticky?: 'run' | 'session' | 'none' | undefined
  /**
   * Source of prices for `cost`, such as `models` of `@lamella/models`.
   * @default none
   */
  readonly prices?: RoutePrices | undefined
  /**
   * Milliseconds for which a client gets no calls after three failures in a row. If all are set aside, all are
   * used.
   * @default 30_000
   */
  readonly asideMs?: number | undefined
  /**
   * Tells the time.
   * @default the clock of the run
   */
  readonly clock?: Clock | undefined
}

/**
 * Chooses the client of each call among several. One that makes no request, because of an open circuit or a rate
 * limit further inside, is skipped for the next one; one that keeps failing is set aside. Other failures pass: a
 * `fallback` inside handles them.
 * @throws RangeError or TypeError that names the option and the value
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { route } from '@lamella/middleware-fallback'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const [large, small] = ['large', 'small'].map((model) => scriptedClient(() => 'Hello.', { model }))
 * const middleware = route({
 *   clients: [{ client: large!, weight: 1 }, { client: small!, weight: 3 }],
 * })
 * const agent = new Agent({ client: large!, middleware })
 * console.log((await agent.run('Hi')).text) // Hello.
 * ```
 */
export function route(options: RouteOptions): ChatMiddleware {
  check(options)
  const { name = 'route', by = 'weight', sticky = 'run', asideMs = 30_000, clock } = options
  const settings: RouteSettings = {
    name,
    isShadow: options.mode === 'shadow',
    servers: options.clients.map((entry) => new RouteServer(nameOf(entry), entry)),
    choose: chooser(by, options.prices),
    by: typeof by === 'function' ? 'function' : by,
    sticky:
      sticky === 'none'
        ? undefined
        : defineState({
            name: `route:${name}`,
            initial: () => '',
            schema: jsonSchema<string>({ type: 'string' }),
            scope: sticky,
          }),
    asideMs,
    clock,
    report: reporter('route', options.onEvent),
  }
  return defineChatMiddleware('route', options, (context, callNext) =>
    new RouteCall(settings, context).run(callNext),
  )
}

function nameOf({ name, client, model }: RouteEntry): string {
  return name ?? clientName(client, model)
}

function check(options: RouteOptions): void {
  const { by } = options ?? {}
  checkOptions('route', options, {
    ...middlewareRules,
    clients: 'any',
    by: typeof by === 'function' ? 'any' : ['weight', 'latency', 'load', 'cost'],
    sticky: ['run', 'session', 'none'],
    prices: 'any',
    asideMs: 1,
    clock: 'any',
  })
  const { clients, prices } = options
  if (!Array.isArray(clients) || clients.length === 0) {
    throw wrongOption('route', 'clients', 'a list of entries that is not empty', clients)
  }
  const names = new Set<string>()
  for (const [index, entry] of clients.entries()) {
    const at = `clients.${index}`
    if (typeof entry?.client?.respond !== 'function') {
      throw wrongOption('route', at, 'an object with a `client`', entry)
    }
    checkOptions(
      'route',
      { clients: { [index]: entry } },
      {
        clients: {
          [index]: {
            client: 'any',
            name: 'string?',
            model: 'string?',
            options: 'any',
            weight: 'any',
            when: 'function?',
          },
        },
      },
    )
    const { weight = 1 } = entry
    if (!(weight > 0 && weight < Infinity)) {
      throw wrongOption('route', `${at}.weight`, 'a number above 0', weight)
    }
    const name = nameOf(entry)
    if (names.has(name)) throw wrongOption('route', `${at}.name`, 'different from the others', name)
    names.add(name)
  }
  if (by === 'cost' && typeof prices?.cost !== 'function') {
    throw wrongOption('route', 'prices', 'an object with the method cost, for `by: "cost"`', prices)
  }
}
