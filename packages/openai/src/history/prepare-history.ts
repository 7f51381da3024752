import type { Content, FunctionResultContent, Message } from '@lamella/core'
import { CallIds, Losses, matchResults, missingResult, ownMessages } from '@lamella/core/transport'
import type { CallIdForm } from '../dialects/chat-dialect.ts'
import type { Home } from './own-content.ts'
import { ownContent } from './own-content.ts'

export interface HistoryRules extends Home {
  readonly callIds: CallIdForm
  /** The provider holds what came before: results may answer calls that are not here. */
  readonly isContinued: boolean
}

export interface PreparedHistory {
  readonly messages: readonly Message[]
  readonly losses: readonly string[]
}

/** Rules of an API, the same for all of its calls. */
export type ApiRules = Omit<HistoryRules, 'provider' | 'model' | 'isContinued'>

/** A request body, and what of the history it leaves out or changes. */
export interface PreparedBody {
  readonly body: Record<string, unknown>
  readonly losses: readonly string[]
}

/**
 * Makes any history valid for an OpenAI API: nothing empty, nothing that only another provider
 * understands, every call with one legal id and one result right behind its turn.
 */
export function prepareHistory(messages: readonly Message[], rules: HistoryRules): PreparedHistory {
  const losses = new Losses()
  const own = ownMessages(messages, losses, (content, origin) =>
    ownContent(content, origin, rules, losses),
  )
  const paired = pairCalls(own, rules, losses)
  return { messages: paired.filter(({ contents }) => contents.length > 0), losses: losses.toList() }
}

function pairCalls(
  messages: readonly Message[],
  rules: HistoryRules,
  losses: Losses,
): readonly Message[] {
  const { results, strays } = matchResults(messages)
  const ids = new CallIds(rules.callIds.maxLength, rules.callIds.isExact)
  const paired: Message[] = []
  let answers: FunctionResultContent[] = []
  const endTurn = (): void => {
    if (answers.length === 0) return
    const { id } = paired.at(-1)!
    paired.push({ id: `${id}-results`, role: 'tool', contents: answers })
    answers = []
  }

  for (const message of messages) {
    const contents = message.contents.filter((content) => content.type !== 'function-result')
    const loose = message.contents.filter((content) => isStray(content, strays))
    if (!rules.isContinued) {
      for (const _ of loose) losses.add('a result without its call is left out')
    }
    if (message.role !== 'assistant') {
      endTurn()
      if (loose.length > 0 && rules.isContinued) {
        paired.push({ ...message, role: 'tool', contents: loose })
      }
      if (contents.length > 0) {
        // A tool message holds results. What else stands there is for the model to read.
        paired.push({ ...message, role: message.role === 'tool' ? 'user' : message.role, contents })
      }
      continue
    }

    const said: Content[] = []
    let isChanged = contents.length < message.contents.length
    for (const content of contents) {
      if (content.type !== 'function-call') {
        said.push(content)
        continue
      }
      const result = results.get(content)?.shift()
      if (result === undefined && content.informational) {
        isChanged = true
        continue
      }
      const isOwn = (content.origin ?? message.origin)?.provider === rules.provider
      // One provider's APIs differ in how long they may be.
      const isShort = content.callId.length <= rules.callIds.maxLength
      const callId = ids.legal(content.callId, isOwn && isShort)
      if (callId !== content.callId) losses.add('an id of a call is rewritten')
      if (result === undefined) losses.add('a call without a result is answered with a note')
      isChanged ||= callId !== content.callId
      said.push(callId === content.callId ? content : { ...content, callId })
      answers.push(result === undefined ? missingResult(callId) : { ...result, callId })
    }
    paired.push(isChanged ? { ...message, contents: said } : message)
  }
  endTurn()
  return paired
}

function isStray(content: Content, strays: ReadonlySet<Content>): content is FunctionResultContent {
  return content.type === 'function-result' && strays.has(content)
}
