import type { ChatMiddleware } from '../contract/chat.ts'
import { endsRun, isTermination } from '../contract/termination.ts'
import type { ChatResponse } from '../messages/chat-response.ts'
import { toChatResponse } from '../messages/chat-response.ts'
import type { CallModel } from './chat-call.ts'
import { callClient, ChatView } from './chat-call.ts'
import { compose } from './compose.ts'

/** Makes the function that runs one model call through its middlewares. */
export function composeModelCall(
  middlewares: readonly ChatMiddleware[],
  handler: (context: ChatView) => void | Promise<void> = callClient,
): CallModel {
  const runMiddlewares = compose<ChatView, ChatResponse>(middlewares, handler, takeTermination)
  return (call) => {
    const { run, input } = call
    ;(input.signal ?? run).throwIfAborted()
    return runMiddlewares(new ChatView(call, 0, input, input.signal))
  }
}

/**
 * A termination with a result, its own or one that the middleware assigned, ends this call with that. Without
 * one it ends the run, and what the provider answered is withheld.
 */
async function takeTermination({ call }: ChatView, error: unknown): Promise<ChatResponse> {
  if (!isTermination(error) || endsRun(error)) throw call.retract(error)
  const result =
    error.result === undefined ? call.assigned : toChatResponse(error.result, call.run.ids)
  if (result === undefined) throw call.retract(error)
  call.result = result
  try {
    await call.acceptResult(call.faultDepth(error))
  } catch (next) {
    throw call.retract(next)
  }
  return call.result
}
