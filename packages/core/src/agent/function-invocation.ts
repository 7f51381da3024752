import type { FormatOption } from '../contract/chat-options.ts'
import type { ChatClient, GetResponseOptions } from '../contract/chat.ts'
import type { FunctionInvocationConfiguration } from '../contract/limits.ts'
import type { AgentResponse } from '../contract/outcome.ts'
import type { ChatResponse, ChatResponseUpdate } from '../messages/chat-response.ts'
import type { MessageInput } from '../messages/message.ts'
import { checkPlaces } from '../pipeline/get-response.ts'
import { withMiddleware } from '../pipeline/with-middleware.ts'
import type { ResponseStream } from '../stream/response-stream.ts'
import { Agent } from './agent.ts'
import { startRun } from './agent-run.ts'

/** Options of a call that executes tools. */
export interface InvocationOptions extends GetResponseOptions {
  /**
   * Answers to pending requests by id, as for `agent.run`.
   * @default {}
   */
  readonly answers?: Readonly<Record<string, unknown>> | undefined
}

/** A client whose `getResponse` executes the tools that the model calls. */
export interface FunctionInvokingClient extends ChatClient {
  /**
   * Model call, tool calls, model call, until there is an answer, through this client's chat and
   * function middleware. Resolves as `agent.run` does, except that a guardrail that blocks rejects.
   * The final response of a stream has the same fields. A call for another run (`parent`) executes
   * nothing: the middleware of that run would not see it.
   */
  getResponse(
    input: MessageInput,
    options: InvocationOptions & { readonly stream: true },
  ): ResponseStream<ChatResponseUpdate, ChatResponse>
  getResponse<Value = unknown>(
    input: MessageInput,
    options?: InvocationOptions & FormatOption<Value> & { readonly stream?: false | undefined },
  ): Promise<AgentResponse<Value>>
}

/**
 * The same client with the tool loop of an `Agent`: `getResponse(input, { tools })` executes tools. An
 * agent on this client runs its own loop and not this one.
 *
 * @example
 * ```ts
 * import { tool, withFunctionInvocation } from '@lamella/core'
 * import { callFunction, scriptedClient } from '@lamella/testing'
 *
 * const weather = tool({ name: 'weather', description: 'The weather.', execute: () => 'sunny' })
 * const model = scriptedClient([callFunction('weather'), 'It is sunny.'])
 * const client = withFunctionInvocation(model, { maxIterations: 5 })
 * const { text, messages } = await client.getResponse('How is the weather?', { tools: [weather] })
 * console.log(text, messages.length) // It is sunny. 3
 * ```
 * @throws RangeError that names the setting and its value
 */
export function withFunctionInvocation(
  client: ChatClient,
  settings: FunctionInvocationConfiguration = {},
): FunctionInvokingClient {
  const plain = withMiddleware(client)
  const inner = withMiddleware(client)
  const agent = new Agent({ client: inner, functionInvocation: settings, onBlock: 'throw' })
  const getResponse = (input: MessageInput, options: InvocationOptions = {}) => {
    const { answers, ...given } = options
    const { instructions, signal, parent, stream, ...rest } = given
    if (parent !== undefined) return plain.getResponse(input, given as { readonly stream: true })
    checkPlaces(given)
    return startRun(agent, input, { instructions, signal, options: rest, stream, answers })
  }
  return Object.assign(inner, { getResponse } as Pick<FunctionInvokingClient, 'getResponse'>)
}
