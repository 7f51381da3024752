import type { Message } from '@lamella/core'
import type { HistoryRules } from './history-rules.ts'
import { Losses } from './losses.ts'
import { ownContent } from './own-content.ts'
import { ownMessages } from './own-messages.ts'
import { pairCalls } from './pair-calls.ts'

/** A history that an API accepts, and its losses. */
export interface PreparedHistory {
  /** Messages as they are sent. */
  readonly messages: readonly Message[]
  /** One sentence for each kind of loss, in the words of `canContinue`. */
  readonly losses: readonly string[]
}

/**
 * Makes any history valid for an API: without empty parts and opaque data of other providers, and
 * with one valid id and one result, directly after its turn, for every call. `adapt` makes further
 * changes that the API needs.
 *
 * @example
 * ```ts
 * import { message } from '@lamella/core'
 * import { CallIds, prepareHistory } from '@lamella/transport'
 *
 * const { messages, losses } = prepareHistory([message('user', 'Hello')], {
 *   provider: 'my-server',
 *   model: 'my-model',
 *   callIds: () => new CallIds(40),
 *   longestToolName: 64,
 *   reasoning: () => 'lost',
 *   refusal: ({ text }) => ({ type: 'text', text }),
 *   hosted: () => 'lost',
 *   takesApprovals: () => false,
 *   fileLoss: () => ({ words: 'a file is left out', isLeftOut: true }),
 * })
 * ```
 */
export function prepareHistory(
  messages: readonly Message[],
  rules: HistoryRules,
  adapt: (messages: readonly Message[], losses: Losses) => readonly Message[] = (paired) => paired,
): PreparedHistory {
  const losses = new Losses()
  const own = ownMessages(messages, losses, (content, origin) =>
    ownContent(content, origin, rules, losses),
  )
  const paired = adapt(pairCalls(own, rules, losses), losses)
  return { messages: paired.filter(({ contents }) => contents.length > 0), losses: losses.toList() }
}
