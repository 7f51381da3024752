import type { ChatResponse, ChatResponseUpdate, Content, Message } from '@lamella/core'
import { addUsage, chatResponse } from '@lamella/core'
import type { ReplyDefaults } from './scripted-step.ts'

/** What an exact stream comes to, for a call that is not streamed. */
export function foldScripted(
  updates: readonly ChatResponseUpdate[],
  defaults: ReplyDefaults,
): ChatResponse {
  const messages: Message[] = []
  const known: { -readonly [K in keyof ChatResponse]?: ChatResponse[K] } = {}
  let usage = {}
  for (const update of updates) {
    known.id = update.responseId ?? known.id
    known.model = update.model ?? known.model
    known.finishReason = update.finishReason ?? known.finishReason
    known.conversationId = update.conversationId ?? known.conversationId
    usage = addUsage(usage, update.usage)
    for (const content of update.contents) {
      if (content.type === 'usage') usage = addUsage(usage, content.usage)
      else append(messages, update, content, defaults.messageId)
    }
  }
  return chatResponse({ id: defaults.id, model: defaults.model, ...known, usage, messages })
}

function append(
  messages: Message[],
  { messageId, role = 'assistant' }: ChatResponseUpdate,
  content: Content,
  firstId: string,
): void {
  const last = messages.at(-1)
  const id = messageId ?? last?.id ?? firstId
  if (last === undefined || last.id !== id) {
    messages.push({ id, role, contents: [content] })
    return
  }
  messages[messages.length - 1] = { ...last, contents: join(last.contents, content) }
}

function join(contents: readonly Content[], next: Content): readonly Content[] {
  const last = contents.at(-1)
  if (next.type === 'function-call') {
    const at = contents.findIndex(
      (content) => content.type === 'function-call' && content.callId === next.callId,
    )
    const call = contents[at]
    if (call?.type !== 'function-call') return [...contents, next]
    return contents.with(at, { ...call, arguments: call.arguments + next.arguments })
  }
  if (last?.type === next.type && 'text' in last && 'text' in next) {
    return [...contents.slice(0, -1), { ...last, text: last.text + next.text }]
  }
  return [...contents, next]
}
