import type { IdSource } from '../base/create-id.ts'
import { canonicalJson } from '../base/json.ts'
import type { AgentResponseUpdate } from '../contract/outcome.ts'
import type { Message } from '../messages/message.ts'
import type { UpdateTransformer } from '../stream/update-transformer.ts'
import type { Content, FunctionCallContent } from '../messages/content.ts'
import { openCalls } from '../messages/call-results.ts'
import { parseArguments } from '../messages/parse-arguments.ts'

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
  const isOwn = messages.length === 1 && messages[0]!.id && !hasId(taken, messages[0]!.id)
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
        const isFree = messageId !== '' && known === undefined && !hasId(taken(), messageId)
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

function hasId(messages: readonly Message[], wanted: string): boolean {
  return messages.some(({ id }) => id === wanted)
}

/** A call that has arrived, perhaps in part. */
interface Place {
  readonly index: number | undefined
  readonly name: string
  /** The id that it goes by. */
  readonly id: string
  arguments: string
}

/**
 * Gives the calls of one answer ids of their own where a server repeats one, or that of a call which waits for its
 * result. The original id is kept in `metadata.originalCallId`.
 */
export class OwnCalls {
  readonly #ids: IdSource
  readonly #places = new Map<string, Place[]>()
  readonly #before: () => readonly Message[]
  readonly #areWhole: boolean

  /** `before` are the messages before the answer; `areWhole` if each content is a whole call, and no fragment of one. */
  constructor(ids: IdSource, before: () => readonly Message[], areWhole = false) {
    this.#ids = ids
    this.#before = before
    this.#areWhole = areWhole
  }

  /** Takes the contents of a message or an update, in order. */
  take(contents: readonly Content[]): readonly Content[] {
    if (!contents.some(isCall)) return contents
    const own = contents.map((part) => (part.type === 'function-call' ? this.#take(part) : part))
    return own.every((part, at) => part === contents[at]) ? contents : own
  }

  #take(call: FunctionCallContent): FunctionCallContent {
    const { callId, index, name, arguments: args, informational } = call
    if (callId === '' || informational === true) return call
    const places = this.#places.get(callId) ?? []
    this.#places.set(callId, places)
    const known = this.#areWhole ? undefined : places.findLast((place) => isAt(place, call))
    if (known !== undefined) {
      known.arguments += args
      return known.id === callId ? call : withId(call, known.id)
    }
    const isFree = places.length === 0 && !waits(this.#before(), callId)
    const id = isFree ? callId : this.#ids.createId('call')
    places.push({ index, name, id, arguments: args })
    return id === callId ? call : withId(call, id)
  }
}

/** Gives calls of the messages of a response ids of their own. */
export function withOwnCalls(
  messages: readonly Message[],
  before: readonly Message[],
  ids: IdSource,
): readonly Message[] {
  const [only] = messages[0]?.contents ?? []
  // One call, as most answers with calls have, is quicker to look for.
  const isOne = messages.length === 1 && messages[0]!.contents.length === 1
  if (isOne && only!.type === 'function-call' && only.callId && !waits(before, only.callId))
    return messages
  const own = new OwnCalls(ids, () => before, true)
  const changed = messages.map((entry) => {
    const contents = own.take(entry.contents)
    return contents === entry.contents ? entry : { ...entry, contents }
  })
  return changed.every((entry, at) => entry === messages[at]) ? messages : changed
}

function waits(messages: readonly Message[], id: string): boolean {
  const has = (part: Content): boolean => part.type === 'function-call' && part.callId === id
  return messages.some(({ contents }) => contents.some(has)) && openCalls(messages).some(has)
}

function isCall({ type }: Content): boolean {
  return type === 'function-call'
}

/** Returns true for more of a call. Whole arguments are no fragment of others. */
function isAt(place: Place, { index, name, arguments: args }: FunctionCallContent): boolean {
  if (place.index !== undefined && index !== undefined) return place.index === index
  if (name !== '' && place.name !== '' && name !== place.name) return false
  return !isWhole(args) || !isWhole(place.arguments)
}

function isWhole(args: string): boolean {
  return args.endsWith('}') && parseArguments(args).error === undefined
}

function withId(call: FunctionCallContent, id: string): FunctionCallContent {
  return { ...call, callId: id, metadata: { ...call.metadata, originalCallId: call.callId } }
}
