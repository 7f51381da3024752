import type { IdSource } from '../base/create-id.ts'
import type { Content, FunctionCallContent } from '../messages/content.ts'
import type { Message } from '../messages/message.ts'
import { openCalls } from '../messages/call-results.ts'
import { parseArguments } from '../messages/parse-arguments.ts'

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
      return known.id === callId ? call : renamed(call, known.id)
    }
    const isFree = places.length === 0 && !isOpen(this.#before(), callId)
    const id = isFree ? callId : this.#ids.createId('call')
    places.push({ index, name, id, arguments: args })
    return id === callId ? call : renamed(call, id)
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
  if (isOne && only!.type === 'function-call' && only.callId && !isOpen(before, only.callId))
    return messages
  const own = new OwnCalls(ids, () => before, true)
  const changed = messages.map((entry) => {
    const contents = own.take(entry.contents)
    return contents === entry.contents ? entry : { ...entry, contents }
  })
  return changed.every((entry, at) => entry === messages[at]) ? messages : changed
}

function isOpen(messages: readonly Message[], id: string): boolean {
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

function renamed(call: FunctionCallContent, id: string): FunctionCallContent {
  return { ...call, callId: id, metadata: { ...call.metadata, originalCallId: call.callId } }
}
