import { none } from '../base/none.ts'
import { contentFields } from './chat-response.ts'
import type { Content, FunctionCallContent, FunctionResultContent } from './content.ts'
import { errorResult } from './function-result.ts'
import { matchResults } from './match-results.ts'
import type { Message } from './message.ts'

/** Calls that this process must act on: not informational, and without a result in `messages`. */
export function openCalls(messages: readonly Message[]): readonly FunctionCallContent[] {
  const calls: FunctionCallContent[] = []
  let hasResults = false
  for (const { contents } of messages) {
    for (const content of contents) {
      if (isLocalCall(content)) calls.push(content)
      else hasResults ||= content.type === 'function-result'
    }
  }
  // The response of a model has no results.
  if (calls.length === 0 || !hasResults) return calls
  const alone = unpaired(messages)
  return calls.filter((call) => alone.has(call))
}

/** Calls of this process without a result, and results without a call. */
export function unpaired(messages: readonly Message[]): ReadonlySet<Content> {
  const { results, strays } = matchResults(messages)
  const alone = new Set(strays)
  for (const [call, found] of results) {
    if (isLocalCall(call) && found.includes(undefined)) alone.add(call)
  }
  return alone
}

function isLocalCall(content: Content): content is FunctionCallContent {
  return content.type === 'function-call' && content.informational !== true
}

/** Calls that will not run get a result too, so that the transcript stays valid. */
export function cancelledResults(
  calls: readonly FunctionCallContent[],
  why: string,
): readonly FunctionResultContent[] {
  const { contents, error } = errorResult('cancelled', why)
  return calls.map(({ callId, name }) => ({
    type: 'function-result',
    callId,
    name,
    contents,
    error,
  }))
}

/** The calls of one model response in a conversation. */
export interface CallGroup {
  /** Id of the group: that of its last message with calls. */
  readonly id: string
  readonly messages: readonly Message[]
  /** Index at which the next message of results is inserted. */
  readonly end: number
}

/** Finds the group that one of its messages belongs to. */
export function callGroup(all: readonly Message[], messageId: string): CallGroup | undefined {
  const at = all.findLastIndex((entry) => entry.id === messageId && holdsCalls(entry))
  if (at < 0) return undefined
  let first = at
  while (first > 0 && holdsCalls(all[first - 1]!)) first--
  let last = at
  while (last + 1 < all.length && holdsCalls(all[last + 1]!)) last++
  let end = last + 1
  while (all[end]?.role === 'tool') end++
  const messages = all.slice(first, last + 1)
  return { id: all[last]!.id, messages, end }
}

/** The calls of a group that have no result in the conversation. */
export function openIn(
  all: readonly Message[],
  group: CallGroup | undefined,
): readonly FunctionCallContent[] {
  if (group === undefined) return none
  const missing = unpaired(all)
  return contentFields(group.messages).functionCalls.filter((call) => missing.has(call))
}

/** The group with a call like this one that has no result yet. */
export function groupOfCall(
  all: readonly Message[],
  call: FunctionCallContent,
): CallGroup | undefined {
  const missing = unpaired(all)
  const holder = all.findLast(({ contents }) =>
    contents.some((content) => isSameCall(content, call) && missing.has(content)),
  )
  return holder && callGroup(all, holder.id)
}

/** Returns true for a call and its copies. */
export function isSameCall(content: Content, call: FunctionCallContent): boolean {
  return (
    content.type === 'function-call' &&
    content.callId === call.callId &&
    callKey(content) === callKey(call)
  )
}

/** A key that calls of one answer have in common if they are one call: ids repeat, also for other calls. */
export function callKey(call: FunctionCallContent): string {
  const { callId: ownId, name, arguments: args, metadata } = call
  const original = metadata?.['originalCallId']
  const callId = typeof original === 'string' ? original : ownId
  return `${callId.length} ${callId} ${name} ${args}`
}

/** Position of a call in a conversation: the id of its message, and its index in that. */
export function callAddress(all: readonly Message[], call: FunctionCallContent): string {
  const holder = all.findLast(({ contents }) => contents.includes(call))
  return `${holder?.id}:${holder?.contents.indexOf(call)}`
}

/** The message that a group of calls is known by. */
export function lastWithCalls(messages: readonly Message[]): Message {
  return messages.findLast(holdsCalls)!
}

function holdsCalls({ role, contents }: Message): boolean {
  return role === 'assistant' && contents.some(({ type }) => type === 'function-call')
}
