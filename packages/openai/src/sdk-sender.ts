import type { RequestSender, SdkErrors } from '@lamella/transport'
import { defined, sdkFailure } from '@lamella/transport'
import { longestTimerMs } from '@lamella/core/authoring'
import type { OpenAI } from 'openai'
import { APIConnectionError, APIConnectionTimeoutError, OpenAIError } from 'openai'

const errors: SdkErrors = {
  base: OpenAIError,
  connection: APIConnectionError,
  timeout: APIConnectionTimeoutError,
}

/**
 * Lets an SDK client send the requests of a chat client, with its keys, retries and instrumentation.
 *
 * @example
 * ```ts
 * import { sdkSender } from '@lamella/openai'
 * import { OpenAIChatClient } from '@lamella/openai/fetch'
 * import { OpenAI } from 'openai'
 *
 * const client = new OpenAIChatClient({ client: sdkSender(new OpenAI({ apiKey: 'my-key' })) })
 * const answer = () => client.getResponse('Why is the sky blue?', { model: 'gpt-5-mini' })
 * ```
 */
export function sdkSender(client: OpenAI): RequestSender {
  return {
    get baseURL() {
      return client.baseURL
    },
    get keys() {
      // A function that gives out keys is asked later.
      return client.apiKey ? [client.apiKey] : []
    },
    async send({ method, path, body, signal, headers, query, timeoutMs, maxRetries }) {
      const options: OpenAI.RequestOptions = {
        signal,
        ...defined({ maxRetries, headers, query }),
        ...(timeoutMs !== undefined && { timeout: Math.min(timeoutMs, longestTimerMs) }),
      }
      try {
        // By the methods that instrumentation patches.
        if (method === 'POST' && path === '/responses') {
          return await client.responses.create(body as never, options).asResponse()
        }
        if (method === 'POST' && path === '/chat/completions') {
          return await client.chat.completions.create(body as never, options).asResponse()
        }
        const name = method.toLowerCase() as 'get' | 'post' | 'delete'
        return await client[name](path, { ...options, body }).asResponse()
      } catch (error) {
        throw sdkFailure(error, errors)
      }
    },
  }
}
