import type { Message } from '@lamella/core'
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
  /** Start of the current run. */
  readonly currentFrom: number
}

/**
 * Divides the beginning of a conversation into chunks of whole turns. Where they end depends only on
 * what comes before, so that it stays as the conversation grows. System messages are in none.
 */
export function summaryChunks(
  messages: readonly Message[],
  rules: ChunkRules,
): readonly (readonly Message[])[] {
  const turns = turnsOf(messages, rules.currentFrom)
  const total = messages.filter(({ role }) => role !== 'system').length
  const chunks: Message[][] = []
  let chunk: Message[] = []
  let tokens = 0
  let count = 0
  for (const turn of turns) {
    count += turn.length
    if (turn.some(rules.isPinned)) continue
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

/** The turns that end before the current run. */
function turnsOf(
  messages: readonly Message[],
  currentFrom: number,
): readonly (readonly Message[])[] {
  const turns = new Map<number, Message[]>()
  let end = 0
  for (const group of turnGroups(messages)) {
    end += group.messages.length
    if (end > currentFrom) break
    if (!group.isSystem)
      turns.set(group.turn, [...(turns.get(group.turn) ?? []), ...group.messages])
  }
  return [...turns.values()]
}
