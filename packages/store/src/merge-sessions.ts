import { createId } from '@lamella/core'
import type { SessionSnapshot } from '@lamella/core'

/**
 * Joins two continuations of one session: what `mine` added to `base` follows what `theirs` has. Gives
 * `undefined` where both changed the same thing: a rewritten history, or one entry of the state.
 */
export function mergeSessions(
  base: SessionSnapshot | undefined,
  mine: SessionSnapshot,
  theirs: SessionSnapshot,
): SessionSnapshot | undefined {
  const before = base?.messages ?? []
  const known = new Set(before.map(({ id }) => id))
  const kept = new Set(mine.messages.map(({ id }) => id))
  const hasRewritten = before.some(({ id }) => !kept.has(id))
  const added = mine.messages.filter(({ id }) => !known.has(id))
  const present = new Map(theirs.messages.map((message) => [message.id, JSON.stringify(message)]))
  const isPlaced = mine.messages.slice(before.length).length === added.length
  if (hasRewritten || !isPlaced) return undefined
  const state = mergeState(base?.state ?? {}, mine.state, theirs.state)
  if (state === undefined) return undefined

  // Providers repeat ids: one that says something else is another message.
  const news = added.flatMap((message) => {
    const other = present.get(message.id)
    if (other === undefined) return [message]
    return other === JSON.stringify(message) ? [] : [{ ...message, id: createId('msg') }]
  })
  const asked = new Set(base?.pending.map(({ id }) => id))
  const open = new Set(mine.pending.map(({ id }) => id))
  const others = new Set(theirs.pending.map(({ id }) => id))
  return {
    ...theirs,
    messages: [...theirs.messages, ...news],
    pending: [
      // What was answered on either side is not asked any more.
      ...theirs.pending.filter(({ id }) => !asked.has(id) || open.has(id)),
      ...mine.pending.filter(({ id }) => !asked.has(id) && !others.has(id)),
    ],
    state,
  }
}

function mergeState(
  base: SessionSnapshot['state'],
  mine: SessionSnapshot['state'],
  theirs: SessionSnapshot['state'],
): SessionSnapshot['state'] | undefined {
  // A name may be `__proto__`.
  const merged = new Map(Object.entries(theirs))
  for (const name of new Set([...Object.keys(base), ...Object.keys(mine)])) {
    const [was, own, other] = [base, mine, theirs].map((state) =>
      Object.hasOwn(state, name) ? JSON.stringify(state[name]) : undefined,
    )
    if (own === was || own === other) continue
    if (other !== was) return undefined
    if (own === undefined) merged.delete(name)
    else merged.set(name, mine[name])
  }
  return Object.fromEntries(merged)
}
