import { matchResults } from '@lamella/core/authoring'
import { missingResult } from './missing-result.ts'
import { recordOf, stringOf } from '../wire/wire.ts'
import type { Content, FunctionCallContent, FunctionResultContent } from '@lamella/core'
import type { Message, Role } from '@lamella/core'
import type { HistoryRules } from './history-rules.ts'
import type { Losses } from './losses.ts'

/**
 * Returns messages in which every call has one legal id and one result right behind its turn. A missing
 * result becomes a note, a result without its call is left out.
 */
export function pairCalls(
  messages: readonly Message[],
  { provider, callIds, resultsEndTurn = false, isContinued = false }: HistoryRules,
  losses: Losses,
): readonly Message[] {
  const { results, strays } = matchResults(messages)
  const ids = callIds()
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
    const loose = message.contents.filter((content) => strays.has(content) && isResult(content))
    if (!isContinued) {
      for (const _ of loose) losses.add('a result without its call is left out')
    }
    if (message.role !== 'assistant') {
      endTurn()
      if (loose.length > 0 && isContinued) {
        paired.push({ ...message, role: 'tool', contents: loose })
      }
      if (contents.length > 0) {
        paired.push({ ...message, role: roleOf(message, contents), contents })
      }
      continue
    }

    if (contents.length === 0) continue
    if (!resultsEndTurn) endTurn()
    const said: Content[] = []
    for (const content of contents) {
      if (content.type !== 'function-call') {
        said.push(content)
        continue
      }
      const result = results.get(content)?.shift()
      if (result === undefined && content.informational) continue
      const isOwn = (content.origin ?? message.origin)?.provider === provider
      // Models read the ids, and Kimi's expects its own form of them.
      const known = ownId(content) ?? content.callId
      const callId = ids.legal(known, isOwn)
      if (callId !== known) losses.add('an id of a call is rewritten')
      if (result === undefined) losses.add('a call without a result is answered with a note')
      said.push({ ...content, callId })
      const answer = result === undefined ? missingResult(callId) : { ...result, callId }
      answers.push({ ...answer, name: content.name })
    }
    paired.push({ ...message, contents: said })
  }
  endTurn()
  return paired
}

/** The provider's id of a call. Data of other providers has been left out before. */
function ownId({ providerData }: FunctionCallContent): string | undefined {
  return stringOf(recordOf(providerData)['callId'])
}

function isResult(content: Content): boolean {
  return content.type === 'function-result'
}

/** A tool message holds results and answers to hosted approvals. All else there is for the model to read. */
function roleOf({ role }: Message, contents: readonly Content[]): Role {
  if (contents.every(({ type }) => type === 'approval-response')) return 'tool'
  return role === 'tool' ? 'user' : role
}
