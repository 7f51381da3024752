import {
  defineAgentMiddleware,
  defineChatMiddleware,
  defineFunctionMiddleware,
} from '@lamella/core/authoring'
import { checkRateLimitOptions } from './check-rate-limit-options.ts'
import { limitedCalls } from './limited-calls.ts'
import { storeNeeds } from './rate-limit-store.ts'
import type {
  ContextOf,
  MiddlewareOf,
  RateLimitLevel,
  RateLimitOptions,
} from './rate-limit-options.ts'

/**
 * Limits runs, model calls or tool calls: calls above a limit wait in a queue, or are rejected with a
 * `RateLimitError`. Counts belong to the object, or to its store.
 * @throws TypeError or RangeError that names the option
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { rateLimit } from '@lamella/middleware-rate-limit'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const middleware = rateLimit({ limits: [{ unit: 'requests', limit: 60, windowMs: 60_000 }] })
 * const agent = new Agent({ client: scriptedClient(['Hello.']), middleware })
 * await agent.run('Hi')
 * ```
 */
export function rateLimit<Level extends RateLimitLevel = 'chat'>(
  options: RateLimitOptions<Level>,
): MiddlewareOf<Level> {
  checkRateLimitOptions(options)
  const call = limitedCalls(options)
  // The three levels differ only in contexts and results, neither of which matters here.
  const middleware = middlewares[options.level ?? 'chat'] as (
    role: string,
    options: unknown,
    process: (context: ContextOf<Level>, callNext: () => Promise<unknown>) => Promise<void>,
  ) => MiddlewareOf<Level>
  const limited = middleware('rate-limit', options, call)
  return options.store === undefined ? { ...limited, storeNeeds } : limited
}

const middlewares = {
  agent: defineAgentMiddleware,
  chat: defineChatMiddleware,
  function: defineFunctionMiddleware,
}
