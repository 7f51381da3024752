import type { ChatResponse } from './chat-response.ts'
import { contentFields, toUpdates } from './chat-response.ts'
import { continues, foldContent, isEmpty } from './content-fold.ts'
import type { Message } from './message.ts'
import { foldUpdates } from './response-fold.ts'

/**
 * A response in the form that its own updates fold to: adjacent text joined, nothing empty, `text`
 * and `functionCalls` as the messages have them. The same object if it is in that form.
 */
export function normalizeResponse(response: ChatResponse): ChatResponse {
  if (isUsual(response)) return response
  const { messages, usage } = isNormal(response.messages)
    ? response
    : foldUpdates(toUpdates(response))
  const { text, functionCalls } = contentFields(messages)
  return messages === response.messages &&
    text === response.text &&
    functionCalls.length === response.functionCalls.length &&
    functionCalls.every((call, at) => call === response.functionCalls[at])
    ? response
    : { ...response, messages, text, functionCalls, usage }
}

/** Returns true for a response of one text or one call: the common case, checked quickly. */
function isUsual({ messages, text, functionCalls }: ChatResponse): boolean {
  const [message] = messages
  const content = message?.contents[0]
  if (messages.length !== 1 || message!.contents.length !== 1) return false
  if (!message!.id || message!.role !== 'assistant') return false
  if (content?.type === 'text') {
    return content.text !== '' && content.text === text && functionCalls.length === 0
  }
  return (
    content?.type === 'function-call' &&
    content.callId !== '' &&
    content.index === undefined &&
    functionCalls.length === 1 &&
    functionCalls[0] === content &&
    text === ''
  )
}

/** Returns true if nothing in the messages must be joined, removed or named. */
function isNormal(messages: readonly Message[]): boolean {
  const ids = new Set<string>()
  const isNew = (id: string): boolean => ids.size < ids.add(id).size
  let turn = 0
  return messages.every(({ id, role, contents }) => {
    const name = role === 'tool' ? `${++turn && role} ${id}` : `${role} ${turn} ${id}`
    return (
      id &&
      isNew(name) &&
      contents.length > 0 &&
      contents.every((content, at) => {
        if (content.type === 'function-call') return content.callId && content.index === undefined
        if (content.type === 'hosted') return !content.id || isNew(`${name} ${content.id}`)
        const isMore = at > 0 && continues(contents[at - 1]!, content)
        return !isMore && content.type !== 'usage' && !isEmpty(foldContent(content))
      })
    )
  })
}
