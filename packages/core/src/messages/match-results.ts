import type { Content, FunctionResultContent } from './content.ts'
import type { Message } from './message.ts'

/** Results of a conversation and the calls that they belong to. */
export interface ResultMatches {
  /** The results of each call: one for each time that it stands in the history. */
  readonly results: ReadonlyMap<Content, (FunctionResultContent | undefined)[]>
  /** Results without a call. */
  readonly strays: ReadonlySet<Content>
}

interface OpenCall {
  readonly turn: number
  readonly slots: (FunctionResultContent | undefined)[]
  readonly slot: number
}

/**
 * Pairs calls with their results by place: among calls of one id, the first result belongs to the first
 * call. Ids may come again in later turns (Bedrock counts calls from 0 in every response): then a call
 * that had no result by that time has none.
 *
 * @example
 * ```ts
 * import { message } from '@lamella/core'
 * import { matchResults } from '@lamella/core/authoring'
 *
 * const call = { type: 'function-call', callId: 'c1', name: 'look', arguments: '{}' } as const
 * const result = { type: 'function-result', callId: 'c1', contents: [] } as const
 * const { results } = matchResults([message('assistant', call), message('tool', result)])
 * console.log(results.get(call)?.length) // 1
 * ```
 */
export function matchResults(messages: readonly Message[]): ResultMatches {
  const results = new Map<Content, (FunctionResultContent | undefined)[]>()
  const strays = new Set<Content>()
  const open = new Map<string, OpenCall[]>()
  let turn = 0
  let isTurn = false
  for (const { role, contents } of messages) {
    if (role === 'assistant' && !isTurn) turn++
    isTurn = role === 'assistant'
    for (const content of contents) {
      if (content.type === 'function-call') {
        const slots = results.get(content) ?? []
        results.set(content, slots)
        const waiting = (open.get(content.callId) ?? []).filter((call) => call.turn === turn)
        waiting.push({ turn, slots, slot: slots.push(undefined) - 1 })
        open.set(content.callId, waiting)
      } else if (content.type === 'function-result') {
        const call = open.get(content.callId)?.shift()
        if (call === undefined) strays.add(content)
        else call.slots[call.slot] = content
      }
    }
  }
  return { results, strays }
}
