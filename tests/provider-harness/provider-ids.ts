// Clients give calls ids of their own, new ones in each answer: two answers are compared by the provider's.
import type { ChatResponse, Content, FunctionCallContent } from '../../packages/core/src/index.ts'

/** The response with the provider's ids of its calls. */
export function withProviderIds(response: ChatResponse): ChatResponse {
  const named = <T extends Content>(content: T): T =>
    content.type === 'function-call' ? { ...content, callId: providerId(content) } : content
  return {
    ...response,
    functionCalls: response.functionCalls.map(named),
    messages: response.messages.map((message) => ({
      ...message,
      contents: message.contents.map(named),
    })),
  }
}

/** The provider's id of a call, or nothing where it gave none. */
export function providerId({ providerData }: FunctionCallContent): string {
  return (providerData as { readonly callId?: string } | undefined)?.callId ?? ''
}
