import type { ChatMiddleware } from '../contract/chat.ts'
import { endsRun, isTermination } from '../contract/termination.ts'
import type { ChatResponse } from '../messages/chat-response.ts'
import { toChatResponse } from '../messages/chat-response.ts'
import type { CallModel, ChatCall } from './chat-call.ts'
import { callClient, ChatView } from './chat-call.ts'
import { compose } from './compose.ts'

/** Makes the function that runs one model call through its middleware. */
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
 * Passes an answer that no model call gave through the middleware that handles such answers. Undefined if there are
 * none. The caller's stream has what it resolves to.
 */
export function passAnswer(
  call: ChatCall,
  answer: ChatResponse,
): Promise<ChatResponse> | undefined {
  const handlers = call.run.middlewares.flatMap((one) =>
    one.level === 'chat' && one.processAnswer !== undefined
      ? { ...one, process: one.processAnswer.bind(one) }
      : [],
  )
  if (handlers.length === 0) return undefined
  return composeModelCall(handlers, () => call.applyTransforms(answer, Infinity))(call)
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
