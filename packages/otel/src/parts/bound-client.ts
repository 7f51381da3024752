import type { ChatClient, ChatRequest, ChatResponseUpdate } from '@lamella/core'
import type { Context } from '@opentelemetry/api'
import type { OpenTelemetry } from '../base/open-telemetry.ts'

/**
 * Wraps a client so that its streams run in the context of their request. The reader of the run
 * pulls a stream, so without this, spans of the provider's SDK would belong to the reader.
 */
export function boundClient(client: ChatClient, { context }: OpenTelemetry): ChatClient {
  return new Proxy(client, {
    get(target, key) {
      // The middleware of the wrapped client is running already.
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
