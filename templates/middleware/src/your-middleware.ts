import type { ChatContext, ChatMiddleware } from '@lamella/core'
import type { Clock, MiddlewareOptions } from '@lamella/core/authoring'
import {
  defineChatMiddleware,
  checkOptions,
  middlewareRules,
  reporter,
  systemClock,
} from '@lamella/core/authoring'

/** Data of an event about a model call. */
export interface YourMiddlewareEvent {
  readonly iteration: number
  readonly elapsedMs: number
  readonly slow: boolean
}

export interface YourMiddlewareOptions extends MiddlewareOptions<ChatContext, YourMiddlewareEvent> {
  /**
   * Milliseconds after which a call counts as slow.
   * @default 5000
   */
  readonly slowMs?: number | undefined
  /** Source of time, for tests. @default the machine's clock */
  readonly clock?: Clock | undefined
}

/**
 * Reports how long each model call took, streamed or not.
 * @throws RangeError or TypeError that names the option and the value
 */
export function yourMiddleware(options: YourMiddlewareOptions = {}): ChatMiddleware {
  checkOptions('yourMiddleware', options, { ...middlewareRules, slowMs: 0, clock: 'any' })
  const { slowMs = 5000, clock = systemClock } = options
  const report = reporter('your-middleware', options.onEvent)

  return defineChatMiddleware('your-middleware', options, async (context, callNext) => {
    const start = clock.now()
    try {
      // Resolves when the model call is complete, streamed or not. To change the result, return another one,
      // or assign it: `context.result = { ...response, messages: 'Other.' }`.
      return await callNext()
    } finally {
      const elapsedMs = clock.now() - start
      report(context.run, { iteration: context.iteration, elapsedMs, slow: elapsedMs > slowMs })
    }
  })
}
