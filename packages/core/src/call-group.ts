import type { FunctionCallContent } from './content.ts'
import type { Message } from './message.ts'
import { unpaired } from './open-calls.ts'

/** The calls of one model response in a conversation. */
export interface CallGroup {
  /** The last message that holds calls: what the group is known by. */
  readonly id: string
  readonly messages: readonly Message[]
  /** Calls without a result. */
  readonly open: readonly FunctionCallContent[]
  /** Where the next message of results belongs. */
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
  while (end < all.length && isAnswer(all[end]!)) end++
  const messages = all.slice(first, last + 1)
  const missing = unpaired(all)
  const open = messages.flatMap(({ contents }) =>
    contents.filter((content) => content.type === 'function-call' && missing.has(content)),
  ) as FunctionCallContent[]
  return { id: all[last]!.id, messages, open, end }
}

/** The group with a call like this one that has no result yet. */
export function groupOfCall(
  all: readonly Message[],
  { callId, name, arguments: args }: FunctionCallContent,
): CallGroup | undefined {
  const missing = unpaired(all)
  const holder = all.findLast(({ contents }) =>
    contents.some(
      (content) =>
        content.type === 'function-call' &&
        content.callId === callId &&
        content.name === name &&
        content.arguments === args &&
        missing.has(content),
    ),
  )
  return holder && callGroup(all, holder.id)
}

/** The message that a group of calls is known by. */
export function lastWithCalls(messages: readonly Message[]): Message {
  return messages.findLast(holdsCalls)!
}

function holdsCalls({ role, contents }: Message): boolean {
  return role === 'assistant' && contents.some(({ type }) => type === 'function-call')
}

function isAnswer(message: Message): boolean {
  return message.role === 'tool' || (message.role === 'assistant' && !holdsCalls(message))
}
