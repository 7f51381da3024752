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
   * A call that takes longer is slow. In milliseconds.
   * @default 5000
   */
  readonly slowMs?: number | undefined
  /** For tests. @default the clock of the machine */
  readonly clock?: Clock | undefined
}

/**
 * Tells how long each model call took, streamed or not.
 * @throws RangeError or TypeError that names the option and the value
 */
export function yourMiddleware(options: YourMiddlewareOptions = {}): ChatMiddleware {
  checkOptions('yourMiddleware', options, { ...middlewareRules, slowMs: 0, clock: 'any' })
  const { slowMs = 5000, clock = systemClock } = options
  const report = reporter('your-middleware', options.onEvent)

  return defineChatMiddleware('your-middleware', options, async (context, callNext) => {
    const start = clock.now()
    try {
      // Resolves when the inner work is complete, in both modes. To change the result, return another one, or
      // assign it: `context.result = { ...response, messages: 'Other.' }`.
      return await callNext()
    } finally {
      const elapsedMs = clock.now() - start
      report(context.run, { iteration: context.iteration, elapsedMs, slow: elapsedMs > slowMs })
    }
  })
}
