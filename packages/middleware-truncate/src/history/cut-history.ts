import type { Message } from '@lamella/core'
import type { CurrentRun } from '../turns/current-run.ts'
import { isSummary } from '../turns/summary-message.ts'
import type { TurnGroup } from '../turns/turn-groups.ts'
import { turnGroups } from '../turns/turn-groups.ts'

/** Messages to keep regardless of the limits. System messages and the current run always stay. */
export interface KeepRules {
  readonly isPinned: (message: Message) => boolean
  readonly firstUser: boolean
  /** True to keep all calls of the current run, false to keep only the last ones. */
  readonly currentRun: boolean
  readonly current: CurrentRun
}

/** Limits of the messages to send. */
export interface CutLimits {
  readonly maxMessages: number
  readonly maxTokens: number
  /** Tokens of the request besides the messages. */
  readonly overheadTokens: number
  readonly tokensOf: (message: Message) => number
  /** Share of a limit that is removed in addition, so that the cut stays for several calls. */
  readonly headroom: number
}

export interface CutHistory {
  /** The same list if nothing was cut. */
  readonly messages: readonly Message[]
  readonly tokens: number
}

/** Removes whole turns, oldest first, until the rest is within the limits or must stay. */
export function cutHistory(
  messages: readonly Message[],
  limits: CutLimits,
  keep: KeepRules,
): CutHistory {
  const { maxMessages, maxTokens, overheadTokens, tokensOf, headroom } = limits
  const total = overheadTokens + sum(messages)
  let missing = inSteps(messages.length - maxMessages, headroom * maxMessages)
  let missingTokens = inSteps(total - maxTokens, headroom * maxTokens)
  const gone = new Set<Message>()
  let goneTokens = 0
  if (missing > 0 || missingTokens > 0) {
    for (const unit of droppable(messages, keep)) {
      if (missing <= 0 && missingTokens <= 0) break
      for (const entry of unit) gone.add(entry)
      const freed = sum(unit)
      missing -= unit.length
      missingTokens -= freed
      goneTokens += freed
    }
  }
  const kept = gone.size === 0 ? messages : messages.filter((entry) => !gone.has(entry))
  return { messages: kept, tokens: total - goneTokens }

  function sum(of: readonly Message[]): number {
    return of.reduce((added, entry) => added + tokensOf(entry), 0)
  }
}

/**
 * Rounds up to a multiple of `step`, so that the result stays the same while a value grows within a
 * step.
 */
function inSteps(excess: number, step: number): number {
  return excess <= 0 || step <= 0 ? excess : Math.ceil(excess / step) * step
}

/** Lists the messages to remove, one entry at a time and in this order. Pairs stay together. */
function droppable(messages: readonly Message[], keep: KeepRules): readonly (readonly Message[])[] {
  const isPinned = (group: TurnGroup): boolean =>
    group.messages.some(keep.isPinned) || (keep.firstUser && group.isUser && group.turn === 1)
  const turns = new Map<number, TurnGroup[]>()
  const summaries: TurnGroup[] = []
  const current: TurnGroup[] = []
  for (const group of turnGroups(messages)) {
    if (group.isSystem) continue
    if (group.messages.some(keep.current.has)) current.push(group)
    else if (group.messages.some(isSummary)) summaries.push(group)
    else turns.set(group.turn, [...(turns.get(group.turn) ?? []), group])
  }
  const units = [...turns.values()].map((groups) => {
    // A user's question stays before an answer that stays.
    const stays = groups.some(isPinned)
    return groups.filter((group) => !stays || (!isPinned(group) && !group.isUser))
  })
  // The remaining messages before the first turn.
  units.push(summaries.filter((group) => !isPinned(group)))
  if (!keep.currentRun) {
    const calls = current.filter((group) => !group.isUser).slice(0, -1)
    const isRead = (group: TurnGroup): boolean => !group.messages.some(keep.current.isUnread)
    const old = calls.filter((group) => isRead(group) && !isPinned(group))
    units.push(...old.map((group) => [group]))
  }
  return units
    .map((groups) => groups.flatMap((group) => group.messages))
    .filter(({ length }) => length > 0)
}
