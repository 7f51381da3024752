import type { Content, Origin } from './content.ts'
import { textOf } from './content.ts'
import { createId } from './create-id.ts'
import { isObject } from './is-object.ts'

export type Role = 'system' | 'user' | 'assistant' | 'tool'

/** One turn of a conversation: a plain, serialisable object. */
export interface Message {
  readonly id: string
  readonly role: Role
  readonly contents: readonly Content[]
  readonly authorName?: string | undefined
  /** ISO 8601. */
  readonly createdAt?: string | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  readonly origin?: Origin | undefined
}

/** A message whose id is still to be given. */
export type MessageInit = Omit<Message, 'id' | 'contents'> & {
  readonly id?: string | undefined
  readonly contents: string | readonly Content[]
}

/** What is taken wherever messages are: a string, a content, a message, or a list of them. */
export type MessageInput =
  | string
  | Content
  | MessageInit
  | readonly (string | Content | MessageInit)[]

/** Makes a message, with an id of its own unless one is given. */
export function message(role: Role, contents: string | Content | readonly Content[]): Message {
  return { id: createId('msg'), role, contents: toContents(contents) }
}

/**
 * Turns any accepted input into messages. Loose strings and contents that follow one another
 * become one message of `looseRole`.
 * @throws TypeError if an entry is none of these.
 */
export function toMessages(input: MessageInput, looseRole: Role = 'user'): readonly Message[] {
  const messages: Message[] = []
  let loose: Content[] | undefined
  for (const entry of isList(input) ? input : [input]) {
    if (isMessage(entry)) {
      messages.push(completeMessage(entry))
      loose = undefined
    } else if (loose === undefined) {
      loose = [toContent(entry)]
      messages.push({ id: createId('msg'), role: looseRole, contents: loose })
    } else {
      loose.push(toContent(entry))
    }
  }
  return messages
}

/** The text parts of a message, joined without a separator. */
export function messageText(of: Message): string {
  return textOf(of.contents)
}

/** Whether an entry of a list is a message to which nothing is still to be given. */
export function isCompleteMessage(entry: string | Content | MessageInit): entry is Message {
  return isMessage(entry) && isComplete(entry)
}

function isComplete({ id, contents }: MessageInit): boolean {
  return typeof id === 'string' && Array.isArray(contents)
}

function completeMessage(entry: MessageInit): Message {
  if (isComplete(entry)) return entry as Message
  return { ...entry, id: entry.id ?? createId('msg'), contents: toContents(entry.contents) }
}

function toContents(contents: string | Content | readonly Content[]): readonly Content[] {
  return isList(contents) ? contents : [toContent(contents)]
}

function toContent(entry: string | Content): Content {
  if (typeof entry === 'string') return { type: 'text', text: entry }
  if (typeof entry?.type === 'string') return entry
  const got = entry === null ? 'null' : typeof entry
  throw new TypeError(`messages: expected a string, a content or a message, got ${got}`)
}

function isMessage(entry: string | Content | MessageInit): entry is MessageInit {
  return isObject(entry) && 'role' in entry && 'contents' in entry
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value)
}
