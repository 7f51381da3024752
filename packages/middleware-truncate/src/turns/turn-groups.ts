import type { Content, Message } from '@lamella/core'

/** Messages that only make sense together: calls and their results, thoughts and what they led to. */
export interface TurnGroup {
  readonly messages: readonly Message[]
  /** Counts what users begin: 0 before the first message of a user. */
  readonly turn: number
  readonly isUser: boolean
  readonly isSystem: boolean
}

/** Divides a conversation between whole groups. */
export function turnGroups(messages: readonly Message[]): readonly TurnGroup[] {
  const reach = reaches(messages)
  const groups: TurnGroup[] = []
  let turn = 0
  let from = 0
  let to = 0
  for (let at = 0; at < messages.length; at++) {
    to = Math.max(to, reach[at]!)
    if (at < to) continue
    const together = messages.slice(from, at + 1)
    const { role } = together[0]!
    const isUser = role === 'user'
    const last = groups.findLast(({ isSystem }) => !isSystem)
    if (isUser && last?.isUser !== true) turn++
    groups.push({ messages: together, turn, isUser, isSystem: role === 'system' })
    from = to = at + 1
  }
  return groups
}

/** For each message, the index of the last one that belongs to it. */
function reaches(messages: readonly Message[]): readonly number[] {
  const reach = messages.map((_, index) => index)
  const open = new Map<string, number[]>()
  messages.forEach(({ role, contents }, at) => {
    // An assistant that continues speaks in one turn, as when its thoughts are a message of their own.
    if (role === 'assistant' && messages[at + 1]?.role === 'assistant') reach[at] = at + 1
    for (const content of contents) {
      const begins = begun(content)
      if (begins !== undefined) open.set(begins, [...(open.get(begins) ?? []), at])
      const ends = ended(content)
      const start = ends === undefined ? undefined : open.get(ends)?.pop()
      if (start !== undefined) reach[start] = Math.max(reach[start]!, at)
    }
  })
  return reach
}

function begun(content: Content): string | undefined {
  if (content.type === 'function-call') return `call ${content.callId}`
  if (content.type === 'approval-request') return `approval ${content.id}`
  return content.type === 'hosted' && content.id !== undefined ? `hosted ${content.id}` : undefined
}

function ended(content: Content): string | undefined {
  if (content.type === 'function-result') return `call ${content.callId}`
  if (content.type === 'approval-response') return `approval ${content.id}`
  return undefined
}
