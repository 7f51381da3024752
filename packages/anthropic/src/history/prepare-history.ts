import type { Content, FunctionResultContent, Message } from '@lamella/core'
import { CallIds, Losses, matchResults, missingResult, ownMessages } from '@lamella/core/transport'
import { pairHosted } from './hosted-pairs.ts'
import type { Home } from './own-content.ts'
import { ownContent } from './own-content.ts'

export interface PreparedHistory {
  readonly messages: readonly Message[]
  readonly losses: readonly string[]
}

const longestCallId = 64

/**
 * Makes any history valid for the Messages API: it begins with the user, nothing is empty, nothing
 * in it is only understood by another provider, and every call has one legal id and one result right
 * behind its turn.
 */
export function prepareHistory(messages: readonly Message[], home: Home): PreparedHistory {
  const losses = new Losses()
  const own = ownMessages(messages, losses, (content, origin) =>
    ownContent(content, origin, home, losses),
  )
  const paired = pairHosted(pairCalls(own, home, losses), losses)
  const filled = paired.filter(({ contents }) => contents.length > 0)
  return { messages: begunByUser(filled), losses: losses.toList() }
}

function pairCalls(
  messages: readonly Message[],
  { provider }: Home,
  losses: Losses,
): readonly Message[] {
  const { results, strays } = matchResults(messages)
  const ids = new CallIds(longestCallId)
  const paired: Message[] = []
  let answers: FunctionResultContent[] = []
  const endTurn = (): void => {
    if (answers.length === 0) return
    const { id } = paired.at(-1)!
    paired.push({ id: `${id}-results`, role: 'tool', contents: answers })
    answers = []
  }

  for (const message of messages) {
    const contents = message.contents.filter(({ type }) => type !== 'function-result')
    for (const content of message.contents) {
      if (strays.has(content)) losses.add('a result without its call is left out')
    }
    // Where nothing is left to say, the turn continues.
    if (contents.length === 0) continue
    endTurn()
    if (message.role !== 'assistant') {
      // A tool message holds results. What else stands there is for the model to read.
      const role = message.role === 'tool' ? 'user' : message.role
      paired.push({ ...message, role, contents })
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
      const isOwn = (content.origin ?? message.origin)?.provider === provider
      const callId = ids.legal(content.callId, isOwn && /^[\w-]+$/.test(content.callId))
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

/** The system prompt apart, the API wants to hear the user first. */
function begunByUser(messages: readonly Message[]): readonly Message[] {
  const at = messages.findIndex(({ role }) => role !== 'system')
  const first = messages[at]
  if (first === undefined || first.role === 'user') return messages
  const contents: Content[] = [{ type: 'text', text: '(The conversation goes on here.)' }]
  const opening: Message = { id: `${first.id}-opening`, role: 'user', contents }
  return messages.toSpliced(at, 0, opening)
}
