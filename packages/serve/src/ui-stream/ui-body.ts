import type { ChatHistory } from '../chats/chat-service.ts'
import type { Demand } from '../chats/demand.ts'
import { chatId } from '../chats/demand.ts'
import { invalidInput } from '../http/read-json.ts'
import type { AnsweredCall } from './ui-stream-encoder.ts'

type Fields = Readonly<Record<string, unknown>>

/** A request of `useChat`, reduced to the fields that a user may set. */
export interface UiDemand extends Demand {
  /** Tool calls of the message that the answer continues. */
  readonly answered: readonly AnsweredCall[]
}

/**
 * Reads the body of `useChat`. Its messages are the client's word: of them count the text and files of the
 * last user message, answers to what the chat waits for (`open`), and the number of user messages.
 */
export function uiDemand(
  body: unknown,
  { messages: kept, pending: open }: Pick<ChatHistory, 'messages' | 'pending'>,
): UiDemand {
  const { messages, trigger, messageId } = fieldsOf(body)
  const chat = uiChatId(body)
  const list = Array.isArray(messages) ? messages.map(fieldsOf) : []
  const last = list.at(-1)
  const users = list.filter(({ role }) => role === 'user').map(textOf)
  const saved = kept.filter(({ role }) => role === 'user').map(textOf)
  const again = placeOf(users, saved)
  const asked = list.findLast(({ role }) => role === 'user')
  const input = asked === undefined ? undefined : partsOf(asked).flatMap(userPart)
  const { id } = asked ?? {}
  const fresh = { chat, input, id, answered: [], ...(again <= saved.length && { again }) }
  if (trigger === 'regenerate-message') {
    const isSame = users.length === saved.length || saved[again - 1] === users.at(-1)
    return isSame ? { chat, again, answered: [] } : fresh
  }
  const named = list.find(({ id: name }) => typeof messageId === 'string' && name === messageId)
  // An answer in the page may stand before messages that its run has read.
  const answering = named?.['role'] === 'assistant' ? named : last
  if (answering?.['role'] === 'user') {
    // A message that is sent with an id takes the place of an earlier one.
    return typeof messageId === 'string' ? fresh : { chat, input, id, answered: [] }
  }
  if (answering?.['role'] !== 'assistant')
    throw invalidInput('`messages` must end with a message of the user')
  const approvals = new Set(open.map((one) => one.id))
  const declared = new Map(
    open.flatMap((one) => (one.kind === 'function-call' ? [[one.callId, one.id]] : [])),
  )
  const answers = new Map<string, unknown>()
  const answered: AnsweredCall[] = []
  for (const part of partsOf(answering)) {
    const { toolCallId, state, approval, output, errorText } = part
    if (typeof toolCallId !== 'string') continue
    const { id: approvalId, approved, reason } = fieldsOf(approval)
    const isAnswer = state === 'approval-responded' && approvals.has(approvalId as string)
    answered.push({ callId: toolCallId, waits: isAnswer && approved === true })
    if (isAnswer) {
      const words = typeof reason === 'string' ? { reason } : {}
      answers.set(approvalId as string, { approved, ...words })
    }
    const request = declared.get(toolCallId)
    if (request === undefined) continue
    if (state === 'output-available') answers.set(request, output ?? '')
    if (state === 'output-error') answers.set(request, `Error: ${wordsOf(errorText)}`)
  }
  return { chat, answers, answered }
}

/**
 * Number of the last of these user messages in the chat. A chat has not kept those that were blocked, so
 * unless the numbers agree, texts tell which it has.
 */
function placeOf(users: readonly string[], saved: readonly string[]): number {
  if (users.length === saved.length) return users.length
  let place = 0
  for (const text of users.slice(0, -1)) if (saved[place] === text) place++
  // Middleware that changes texts leaves none that agrees; then the numbers are all there is.
  return place === 0 && users.length <= saved.length ? users.length : place + 1
}

function textOf({
  parts,
  contents,
}: {
  readonly parts?: unknown
  readonly contents?: unknown
}): string {
  const list = Array.isArray(parts) ? parts : Array.isArray(contents) ? contents : []
  return list
    .map(fieldsOf)
    .map(({ type, text }) => (type === 'text' ? wordsOf(text) : ''))
    .join('')
}

/** A text as it is. Any other value has no words: an object may not even convert to a text. */
function wordsOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The id of the chat in a body that has not been read. */
export function uiChatId(body: unknown): string {
  return chatId(fieldsOf(body)['id'])
}

function userPart({ type, text, url, mediaType }: Fields): Fields[] {
  if (type === 'text') return [{ type, text }]
  if (type !== 'file' || typeof url !== 'string') return []
  const [, data] = /^data:[^,]*;base64,(.*)$/s.exec(url) ?? []
  return data === undefined
    ? [{ type: 'uri', uri: url, mediaType }]
    : [{ type: 'data', mediaType, data }]
}

function partsOf({ parts }: Fields): Fields[] {
  return Array.isArray(parts) ? parts.map(fieldsOf) : []
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}
