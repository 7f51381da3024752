import { none } from '../base/none.ts'
import { callGroup, openCalls } from './call-results.ts'
import type { Content } from './content.ts'
import type { Message } from './message.ts'

/**
 * Returns the index at which the turn of the user begins that nobody has answered yet; the length of the
 * conversation if there is none.
 */
export function unansweredFrom(messages: readonly Message[]): number {
  const last = messages.findLast(({ role }) => role !== 'system')
  if (last === undefined) return messages.length
  if (last.role === 'assistant' && openCalls(messages.slice(-1)).length === 0) {
    return messages.length
  }
  let at = messages.findLastIndex(({ role }) => role === 'user')
  while (at > 0 && messages[at - 1]!.role === 'user') at--
  return Math.max(at, 0)
}

/** Returns the messages of a conversation that no model has read: what came after the last response. */
export function unreadOf(messages: readonly Message[]): readonly Message[] {
  const said = messages.findLastIndex(isSaid)
  return messages.filter(({ metadata }, at) => {
    if (at > said) return true
    const last = metadata?.['recordedAfter']
    return last !== undefined && messages.findIndex(({ id }) => id === last) >= said
  })
}

/** A request for an approval can be a message of its own, which no model has made. */
function isSaid({ role, contents }: Message): boolean {
  return role === 'assistant' && contents.some(({ type }) => type !== 'approval-request')
}

/**
 * Returns the messages of `after` with what `before` has of open calls and requests, each where it was. Calls that
 * are free may be missing.
 */
export function keepOpenCalls(
  before: readonly Message[],
  after: readonly Message[],
  isFree: (message: Message, index: number) => boolean,
): readonly Message[] {
  const open = new Set<Content>([...openCalls(before), ...openRequests(before)])
  if (open.size === 0) return after
  for (const entry of before) {
    entry.contents.forEach((content, at) => {
      if (open.has(content) && isFree(entry, at)) open.delete(content)
    })
  }
  if (open.size === 0) return after
  const whole = openTurns(before, open)
  const places = new Map(after.map(({ id }, at) => [id, at]))
  const edited = [...after]
  const missing = new Map<number, Message[]>()
  let next = after.length
  for (const entry of before.toReversed()) {
    const place = places.get(entry.id)
    if (place !== undefined) {
      next = place
      edited[place] = withContents(after[place]!, entry.contents, open)
    } else if (whole.has(entry)) {
      missing.set(next, [entry, ...(missing.get(next) ?? none)])
    }
  }
  const isKept = missing.size === 0 && edited.every((entry, at) => entry === after[at])
  if (isKept) return after
  return [
    ...edited.flatMap((entry, at) => [...(missing.get(at) ?? none), entry]),
    ...(missing.get(after.length) ?? none),
  ]
}

/** Requests that the provider's own tools wait for. */
function openRequests(messages: readonly Message[]): readonly Content[] {
  const requests = new Map<string, Content>()
  for (const content of messages.flatMap(({ contents }) => contents)) {
    if (content.type === 'approval-request' && content.hosted === true) {
      requests.set(content.id, content)
    } else if (content.type === 'approval-response') requests.delete(content.id)
  }
  return [...requests.values()]
}

/** Messages that only make sense together with open calls: of the same response, and with its results. */
function openTurns(messages: readonly Message[], open: ReadonlySet<Content>): ReadonlySet<Message> {
  const whole = new Set<Message>()
  messages.forEach((entry, at) => {
    if (whole.has(entry) || !entry.contents.some((content) => open.has(content))) return
    let first = at
    while (messages[first - 1]?.role === 'assistant') first--
    const end = callGroup(messages, entry.id)?.end ?? at + 1
    for (const related of messages.slice(first, end)) whole.add(related)
  })
  return whole
}

/** Adds those open calls and requests that an edit has left out, with the requests for the same calls. */
function withContents(
  edited: Message,
  original: readonly Content[],
  open: ReadonlySet<Content>,
): Message {
  const has = (content: Content): boolean =>
    edited.contents.some((other) => placeOf(other) === placeOf(content))
  const calls = new Set(
    original.flatMap((part) =>
      part.type === 'function-call' && open.has(part) ? part.callId : [],
    ),
  )
  const lost = original.filter(
    (part) =>
      (open.has(part) || (part.type === 'approval-request' && calls.has(part.call.callId))) &&
      !has(part),
  )
  return lost.length === 0 ? edited : { ...edited, contents: [...edited.contents, ...lost] }
}

function placeOf(content: Content): string | undefined {
  if (content.type === 'function-call') return `call ${content.callId}`
  return content.type === 'approval-request' ? `request ${content.id}` : undefined
}
