import { agentLayer, chatLayer, functionLayer } from '@lamella/core/authoring'
import { checkRateLimitOptions } from './check-rate-limit-options.ts'
import { limitedCalls } from './limited-calls.ts'
import type {
  ContextOf,
  MiddlewareOf,
  RateLimitLevel,
  RateLimitOptions,
} from './rate-limit-options.ts'

/**
 * Lets runs, model calls or tool calls through as fast as its limits allow: the others wait in line,
 * or are rejected with a `RateLimitError`. What is counted is data of the object, or of its store.
 * @throws TypeError or RangeError that names the option
 */
export function rateLimit<Level extends RateLimitLevel = 'chat'>(
  options: RateLimitOptions<Level>,
): MiddlewareOf<Level> {
  checkRateLimitOptions(options)
  const call = limitedCalls(options)
  // The three levels differ in their contexts and results, neither of which matters here.
  const layer = layers[options.level ?? 'chat'] as (
    role: string,
    options: unknown,
    process: (context: ContextOf<Level>, callNext: () => Promise<unknown>) => Promise<void>,
  ) => MiddlewareOf<Level>
  return layer('rate-limit', options, call)
}

const layers = { agent: agentLayer, chat: chatLayer, function: functionLayer }
