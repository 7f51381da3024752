import type { RequestSender, SdkErrors } from '@lamella/transport'
import { checkOptions, longestTimerMs } from '@lamella/core/authoring'
import { boundedFailure, sdkFailure } from '@lamella/transport'
import type { Anthropic } from '@anthropic-ai/sdk'
import { AnthropicError, APIConnectionError, APIConnectionTimeoutError } from '@anthropic-ai/sdk'
import { refuseLongWaits } from './connection/long-waits.ts'

const errors: SdkErrors = {
  base: AnthropicError,
  connection: APIConnectionError,
  timeout: APIConnectionTimeoutError,
}

/** Limits of requests that an SDK client sends. */
export interface SdkSenderOptions {
  /** Milliseconds until the headers of an answer, for each attempt. @default the SDK client's own */
  readonly timeoutMs?: number | undefined
  /** Milliseconds for the body of an error response; the rest is ignored. @default 300_000 */
  readonly bodyTimeoutMs?: number | undefined
}

/**
 * Lets an SDK client send the requests of a chat client, with its keys, retries and instrumentation.
 *
 * @example
 * ```ts
 * import { Anthropic } from '@anthropic-ai/sdk'
 * import { sdkSender } from '@lamella/anthropic'
 * import { AnthropicChatClient } from '@lamella/anthropic/fetch'
 *
 * const client = new AnthropicChatClient({ client: sdkSender(new Anthropic({ apiKey: 'my-key' })) })
 * const answer = () => client.getResponse('Why is the sky blue?', { model: 'claude-sonnet-5-5' })
 * ```
 */
export function sdkSender(client: Anthropic, options: SdkSenderOptions = {}): RequestSender {
  checkOptions('sdkSender', options, { timeoutMs: 'ms', bodyTimeoutMs: 'ms' })
  const { timeoutMs: usualMs, bodyTimeoutMs = 300_000 } = options
  return {
    get baseURL() {
      return client.baseURL
    },
    get keys() {
      return [client.apiKey, client.authToken].filter((key) => typeof key === 'string')
    },
    async send({ method, path, body, signal, headers, query, timeoutMs = usualMs, maxRetries }) {
      const how: Anthropic.RequestOptions = {
        signal,
        // Said here, the SDK does not refuse long answers that are not streamed.
        timeout: Math.min(timeoutMs ?? client.timeout, longestTimerMs),
        middleware: [
          refuseLongWaits,
          async (sent, next) => boundedFailure(await next(sent), bodyTimeoutMs),
        ],
        ...(maxRetries !== undefined && { maxRetries }),
        ...(headers !== undefined && { headers }),
        ...(query !== undefined && { query }),
      }
      try {
        // By the method that instrumentation patches.
        if (method === 'POST' && path === '/v1/messages') {
          return await client.messages.create(body as never, how).asResponse()
        }
        const name = method.toLowerCase() as 'get' | 'post' | 'delete'
        return await client[name](path, { ...how, body }).asResponse()
      } catch (error) {
        throw sdkFailure(error, errors)
      }
    },
  }
}
