import type { ChatResponse, ChatResponseInit } from './chat-response.ts'
import { chatResponse } from './chat-response.ts'
import { isCompleteMessage } from './message.ts'

/** Accepts what a layer may put in place as a response. */
export function toChatResponse(value: unknown): ChatResponse {
  if (typeof value === 'string') return chatResponse(value)
  if (typeof value === 'object' && value !== null && 'messages' in value) {
    const response = value as ChatResponse | ChatResponseInit
    return isComplete(response) ? response : chatResponse(response)
  }
  throw new TypeError(
    `context.result: expected a response or a string, got ${value === null ? 'null' : typeof value}`,
  )
}

function isComplete(response: ChatResponse | ChatResponseInit): response is ChatResponse {
  const { messages } = response
  // A layer may have put other messages into a response that it got, in any form they are taken in.
  const isWhole = Array.isArray(messages) && messages.every(isCompleteMessage)
  return isWhole && 'functionCalls' in response && 'usage' in response
}
