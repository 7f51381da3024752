import type { IdSource } from '../base/create-id.ts'
import { platformIds } from '../base/create-id.ts'
import { checkValue, described } from '../base/check-options.ts'
import { isObject } from '../base/plain-data.ts'
import type { Content, Origin } from './content.ts'
import { textOf } from './content.ts'

/** Author of a message. */
export type Role = 'system' | 'user' | 'assistant' | 'tool'

/** A message of a conversation: a plain, serializable object. */
export interface Message {
  /** Id of the message, unique in a conversation. */
  readonly id: string
  /** Author of the message. */
  readonly role: Role
  /** Parts of the message, in order. */
  readonly contents: readonly Content[]
  /** Name of the author, such as the agent's. */
  readonly authorName?: string | undefined
  /** ISO 8601. */
  readonly createdAt?: string | undefined
  /** Additional values for middleware and clients, by name. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** Provider and model that made the message. */
  readonly origin?: Origin | undefined
}

/** A message before it has an id. */
export type MessageInit = Omit<Message, 'id' | 'contents'> & {
  /** Id of the message. @default a new id */
  readonly id?: string | undefined
  /** Parts of the message, or its text. */
  readonly contents: string | readonly Content[]
}

/** Accepted input for messages: a string, a content, a message, or a list of them. */
export type MessageInput =
  | string
  | Content
  | MessageInit
  | readonly (string | Content | MessageInit)[]

/** Makes a message with a new id. */
export function message(role: Role, contents: string | Content | readonly Content[]): Message {
  return { id: platformIds.createId('msg'), role, contents: toContents(contents) }
}

/**
 * Turns any accepted input into messages. Loose strings and contents that follow one another
 * become one message of `looseRole`.
 * @throws TypeError if an entry is none of these.
 */
export function toMessages(
  input: MessageInput,
  looseRole: Role = 'user',
  { createId }: IdSource = platformIds,
): readonly Message[] {
  if (typeof input === 'string')
    return [{ id: createId('msg'), role: looseRole, contents: toContents(input) }]
  const messages: Message[] = []
  let loose: Content[] | undefined
  for (const entry of isList(input) ? input : [input]) {
    if (isMessage(entry)) {
      messages.push(completeMessage(entry, createId))
      loose = undefined
    } else {
      const content = toContent(entry)
      const role = content.type === 'function-result' ? 'tool' : looseRole
      if (loose === undefined || messages.at(-1)!.role !== role) {
        messages.push({ id: createId('msg'), role, contents: (loose = []) })
      }
      loose.push(content)
    }
  }
  return messages
}

/** Names the author of messages that an agent has made, where nobody is named. */
export function withAuthor(
  messages: readonly Message[],
  authorName: string | undefined,
): readonly Message[] {
  if (authorName === undefined) return messages
  const isUnnamed = ({ role, authorName: given }: Pick<Message, 'role' | 'authorName'>): boolean =>
    given === undefined && (role === 'assistant' || role === 'tool')
  if (!messages.some(isUnnamed)) return messages
  return messages.map((entry) => (isUnnamed(entry) ? { ...entry, authorName } : entry))
}

/** The text parts of a message, joined without a separator. */
export function messageText(of: Message): string {
  return textOf(of.contents)
}

/** Returns true if an entry of a list is a complete message, with an id and a list of contents. */
export function isCompleteMessage(entry: string | Content | MessageInit): entry is Message {
  return isMessage(entry) && isComplete(entry)
}

function isComplete({ id, contents }: MessageInit): boolean {
  return typeof id === 'string' && Array.isArray(contents)
}

const roles: readonly Role[] = ['system', 'user', 'assistant', 'tool']

function completeMessage(entry: MessageInit, createId: IdSource['createId']): Message {
  if (!roles.includes(entry.role))
    checkValue(false, 'messages: `role`', `be one of ${roles.join(', ')}`, entry.role)
  if (isComplete(entry)) return entry as Message
  return { ...entry, id: entry.id ?? createId('msg'), contents: toContents(entry.contents) }
}

function toContents(contents: string | Content | readonly Content[]): readonly Content[] {
  return isList(contents) ? contents : [toContent(contents)]
}

function toContent(entry: string | Content): Content {
  if (typeof entry === 'string') return { type: 'text', text: entry }
  if (typeof entry?.type === 'string') return entry
  const keys = isObject(entry) ? Object.keys(entry) : []
  const got = keys.length > 0 ? `an object with ${keys.join(', ')}` : described(entry)
  throw new TypeError(
    `messages: expected a string, a content or a message, got ${got}; a message is \`{ role: 'user', contents: 'Hello' }\``,
  )
}

function isMessage(entry: string | Content | MessageInit): entry is MessageInit {
  return isObject(entry) && 'role' in entry && 'contents' in entry
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value)
}
