import type { Message } from '@lamella/core'
import { canonicalJson, sha256 } from '@lamella/core/authoring'
import { recordOf } from '../wire/wire.ts'

/** Place in a conversation that a provider keeps: what it had when it had given an answer. */
export interface ConversationMark {
  /** The provider's id of the answer. */
  readonly responseId: string
  /** Conversation that the application named. Undefined if none was named. */
  readonly conversation?: string | undefined
  /** Number of items up to the end of the answer. */
  readonly items: number
  /** Digest of these items. */
  readonly digest: string
}

/** Place that a request continues from, and the items that it sends. */
export interface Continuation<Item> {
  /** The last answer that the provider knows, if it knows exactly what was said up to there. */
  readonly from?: ConversationMark | undefined
  /** Items that follow it, or all. */
  readonly items: readonly Item[]
  /** True if the provider has answered in this conversation, but not to what is said in it now. */
  readonly isChanged: boolean
}

/** A conversation that a provider keeps, as one request says it. */
export interface KeptConversation<Item> {
  /** Provider that keeps it, as in the `origin` of its answers. */
  readonly provider: string
  /** The server that keeps it, such as the client's `fingerprint`. */
  readonly server: string
  /** Conversation that the application names. */
  readonly conversation?: string | undefined
  /** The whole conversation as the client would send it to a provider that keeps nothing. */
  readonly items: readonly Item[]
}

/**
 * Finds what the provider has of a conversation: all up to the last answer of its own, if the digest kept
 * with that answer is the digest of what would be sent now. After any edit before that, everything is sent.
 *
 * @example
 * ```ts
 * import { message } from '@lamella/core'
 * import { continueConversation } from '@lamella/transport'
 *
 * const messages = [message('user', 'Hello')]
 * const items = [{ role: 'user', content: 'Hello' }]
 * const kept = { provider: 'example', server: 'https://api.example.com', items }
 * const next = await continueConversation(messages, kept)
 * console.log(next.from?.responseId, next.items.length) // undefined 1
 * ```
 */
export async function continueConversation<Item>(
  messages: readonly Message[],
  kept: KeptConversation<Item>,
): Promise<Continuation<Item>> {
  const { provider, conversation, items } = kept
  const marks = messages.map(markOf)
  const last = messages.findLastIndex((entry) => isOf(provider, entry))
  const from = marks[last]
  if (from !== undefined && from.conversation === conversation) {
    const known = { ...kept, items: items.slice(0, from.items) }
    if (from.items <= items.length && (await digestOf(known)) === from.digest)
      return { from, items: items.slice(from.items), isChanged: false }
  }
  const isChanged = marks.some((mark) => mark !== undefined && mark.conversation === conversation)
  return { items, isChanged }
}

/**
 * Makes the mark of an answer, which belongs into its last message with `markedMessage`. `kept` has the
 * items of the conversation that now ends with the answer; `asked` are those before it.
 * @returns undefined if the answer changes how what is before it would be sent
 */
export async function markConversation<Item>(
  kept: KeptConversation<Item>,
  asked: readonly Item[],
  responseId: string,
): Promise<ConversationMark | undefined> {
  const { conversation, items } = kept
  if (canonicalJson(items.slice(0, asked.length)) !== canonicalJson(asked)) return undefined
  const digest = await digestOf(kept)
  return { responseId, ...(conversation && { conversation }), items: items.length, digest }
}

/** Makes the metadata of a message that carries a mark. */
export function markMetadata(mark: ConversationMark): Readonly<Record<string, unknown>> {
  return { [field]: mark }
}

function isOf(provider: string, { role, origin }: Message): boolean {
  return role === 'assistant' && origin?.provider === provider
}

/** The mark that a message carries. */
function markOf({ role, metadata }: Message): ConversationMark | undefined {
  const mark = recordOf(role === 'assistant' ? metadata?.[field] : undefined)
  const isMark = typeof mark['responseId'] === 'string' && typeof mark['digest'] === 'string'
  return isMark && Number.isSafeInteger(mark['items'])
    ? (mark as unknown as ConversationMark)
    : undefined
}

function digestOf({ server, conversation = '', items }: KeptConversation<unknown>) {
  return sha256(canonicalJson([server, conversation, items]))
}

const field = 'keptConversation'
