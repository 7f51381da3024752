import type { IdSource } from '../base/create-id.ts'
import { canonicalJson } from '../base/json.ts'
import type { AgentResponseUpdate } from '../contract/outcome.ts'
import type { Message } from '../messages/message.ts'
import type { UpdateTransformer } from '../stream/update-transformer.ts'
import { OwnCalls } from './own-calls.ts'

/** Messages that `history` does not have yet, with the same id, role and content. */
export function unheard(
  messages: readonly Message[],
  history: readonly Message[],
): readonly Message[] {
  if (history.length === 0) return messages
  const isKnown = (entry: Message): boolean =>
    history.some(({ id, role, contents }) => {
      if (!entry.id || id !== entry.id || role !== entry.role) return false
      return canonicalJson(contents) === canonicalJson(entry.contents)
    })
  return messages.some(isKnown) ? messages.filter((entry) => !isKnown(entry)) : messages
}

/** Gives messages a new id if they have none, or one that `taken` or a message before them has. */
export function withOwnIds(
  messages: readonly Message[],
  taken: readonly Message[],
  source: IdSource,
): readonly Message[] {
  // One message, as most answers are, is quicker to look for.
  const isOwn = messages.length === 1 && messages[0]!.id && !has(taken, messages[0]!.id)
  return isOwn ? messages : renamed(messages, taken, source)
}

function renamed(
  messages: readonly Message[],
  taken: readonly Message[],
  { createId }: IdSource,
): readonly Message[] {
  const roles = new Map<string, string>()
  const ids = new Set(taken.map(({ id }) => id))
  return messages.map((entry) => {
    const { id, role } = entry
    if (id && !ids.has(id) && (roles.get(id) ?? role) === role) {
      roles.set(id, role)
      return entry
    }
    return { ...entry, id: createId('msg') }
  })
}

/**
 * Does the same with the updates of a model call. An update without an id belongs to the message before it,
 * unless its role differs. The first update of a message names its author.
 */
export function ownIds(
  taken: () => readonly Message[],
  ids: IdSource,
  authorName?: string,
): UpdateTransformer<AgentResponseUpdate> {
  const { createId } = ids
  const calls = new OwnCalls(ids, taken)
  const named = new Map<string, { readonly role: string; readonly id: string }>()
  let open: { readonly role: string; readonly id: string } | undefined
  let last: string | undefined
  return {
    transform(given, controller) {
      const contents = calls.take(given.contents)
      const update = contents === given.contents ? given : { ...given, contents }
      const { messageId = '', role } = update
      if (messageId === last && messageId === open?.id && (role ?? open.role) === open.role) {
        controller.enqueue(update)
        return
      }
      if (messageId === '' && contents.every(({ type }) => type === 'usage')) {
        controller.enqueue(update)
        return
      }
      const before = open
      const known = messageId === '' ? open : named.get(messageId)
      const isOpen = open !== undefined && (role ?? open.role) === open.role
      if (known !== undefined && (role ?? known.role) === known.role) open = known
      else if (!isOpen || last !== '') {
        const isFree = messageId !== '' && known === undefined && !has(taken(), messageId)
        open = { role: role ?? 'assistant', id: isFree ? messageId : createId('msg') }
      }
      named.set(messageId, open!)
      last = messageId
      const { id } = open!
      const isFirst = authorName !== undefined && open !== before
      if (id === messageId && !isFirst) controller.enqueue(update)
      else controller.enqueue({ ...(isFirst && { authorName }), ...update, messageId: id })
    },
  }
}

function has(messages: readonly Message[], wanted: string): boolean {
  return messages.some(({ id }) => id === wanted)
}
