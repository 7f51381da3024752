import type { Message } from '@lamella/core'
import type { CurrentRun } from '../turns/current-run.ts'
import { turnGroups } from '../turns/turn-groups.ts'

export interface ChunkRules {
  /** How much a chunk holds at least. */
  readonly stepMessages: number
  readonly stepTokens: number
  /** How much stays behind the last chunk at least. */
  readonly keepMessages: number
  readonly tokensOf: (message: Message) => number
  /** Turns with such a message are in no chunk. */
  readonly isPinned: (message: Message) => boolean
  /** Turns of the current run are in no chunk. */
  readonly current: Pick<CurrentRun, 'has'>
}

/**
 * Divides the beginning of a conversation into chunks of whole turns. Where they end depends only on
 * what comes before, so that it stays as the conversation grows. System messages are in none.
 */
export function summaryChunks(
  messages: readonly Message[],
  rules: ChunkRules,
): readonly (readonly Message[])[] {
  const turns = turnsOf(messages)
  const total = messages.filter(({ role }) => role !== 'system').length
  const chunks: Message[][] = []
  let chunk: Message[] = []
  let tokens = 0
  let count = 0
  for (const turn of turns) {
    count += turn.length
    if (turn.some(rules.isPinned) || turn.some(rules.current.has)) continue
    chunk.push(...turn)
    tokens += turn.reduce((sum, entry) => sum + rules.tokensOf(entry), 0)
    if (total - count < rules.keepMessages) break
    if (chunk.length < rules.stepMessages && tokens < rules.stepTokens) continue
    chunks.push(chunk)
    chunk = []
    tokens = 0
  }
  return chunks
}

function turnsOf(messages: readonly Message[]): readonly (readonly Message[])[] {
  const turns = new Map<number, Message[]>()
  for (const { isSystem, turn, messages: together } of turnGroups(messages)) {
    if (!isSystem) turns.set(turn, [...(turns.get(turn) ?? []), ...together])
  }
  return [...turns.values()]
}
