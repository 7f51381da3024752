import type { ChatOptions, ChatRequest, ChatResponseUpdate, MessageInput } from '@lamella/core'
import { toMessages } from '@lamella/core/authoring'

/** Creates a request as the pipeline would make it, without retries of the transport. */
export function clientRequest(
  input: MessageInput = 'Hello.',
  options: ChatOptions = {},
  more: Partial<ChatRequest> = {},
): ChatRequest {
  return {
    messages: toMessages(input),
    instructions: undefined,
    options: { transportRetries: 0, ...options },
    signal: new AbortController().signal,
    ...more,
  }
}

/** Returns all updates of a stream. */
export async function collect(
  stream: AsyncIterable<ChatResponseUpdate>,
): Promise<ChatResponseUpdate[]> {
  const updates: ChatResponseUpdate[] = []
  for await (const update of stream) updates.push(update)
  return updates
}

/** Returns the error that a promise or a stream rejects with. Throws if it does not reject. */
export async function failureOf(work: Promise<unknown> | AsyncIterable<unknown>): Promise<unknown> {
  try {
    if (Symbol.asyncIterator in work) for await (const _ of work);
    else await work
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}
