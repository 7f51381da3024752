import type { ChatClient, ChatRequest, ChatResponseUpdate } from '@lamella/core'
import type { Context } from '@opentelemetry/api'
import type { OpenTelemetry } from '../base/open-telemetry.ts'

/**
 * The same client, but its streams run in the context in which they were asked for. A stream is pulled
 * by whoever reads the run, so spans of the provider's SDK would else belong to the reader.
 */
export function boundClient(client: ChatClient, { context }: OpenTelemetry): ChatClient {
  return new Proxy(client, {
    get(target, key) {
      // Its middlewares are running already: those of the one that this one stands for.
      if (key === 'middleware') return none
      if (key === 'stream') {
        return (request: ChatRequest) => {
          const asked = context.active()
          return bound(
            context.with(asked, () => target.stream(request)),
            asked,
            { context },
          )
        }
      }
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

function bound(
  source: AsyncIterable<ChatResponseUpdate>,
  asked: Context,
  { context }: Pick<OpenTelemetry, 'context'>,
): AsyncIterable<ChatResponseUpdate> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = source[Symbol.asyncIterator]()
      return {
        next: () => context.with(asked, () => iterator.next()),
        return: async (value) =>
          (await context.with(asked, () => iterator.return?.(value))) ?? { done: true, value },
      }
    },
  }
}

const none: readonly never[] = Object.freeze([])
