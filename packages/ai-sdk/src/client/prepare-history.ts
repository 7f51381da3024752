import type { Content, FunctionResultContent, Message, Origin } from '@lamella/core'
import { CallIds, Losses, matchResults, missingResult, ownMessages } from '@lamella/core/transport'
import { MistralCallIds } from './mistral-call-ids.ts'
import { ownContent } from './own-content.ts'

/** A history that a model takes, and what it lost on the way. */
export interface PreparedHistory {
  readonly messages: readonly Message[]
  readonly losses: readonly string[]
}

// What Chat Completions takes, which is less than all others do.
const longestCallId = 40

function callIdsOf(provider: string): Pick<CallIds, 'legal'> {
  return provider.startsWith('mistral.') ? new MistralCallIds() : new CallIds(longestCallId)
}

/**
 * Makes any history valid for the models of the AI SDK, whose packages only translate: nothing is empty,
 * nothing in it is only understood by another provider, system messages come first and then the user, and
 * every call has one legal id and one result right behind its turn.
 */
export function prepareHistory(messages: readonly Message[], home: Origin): PreparedHistory {
  const losses = new Losses()
  const own = ownMessages(messages, losses, (content, origin) =>
    ownContent(content, origin, home, losses),
  )
  const shown = filesByUser(pairCalls(own, home, losses), home, losses)
  const paired = withAskedApprovals(shown, losses)
  const filled = paired.filter(({ contents }) => contents.length > 0)
  return { messages: begunByUser(systemFirst(filled)), losses: losses.toList() }
}

function pairCalls(
  messages: readonly Message[],
  { provider }: Origin,
  losses: Losses,
): readonly Message[] {
  const { results, strays } = matchResults(messages)
  const ids = callIdsOf(provider)
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
    if (contents.length === 0) continue
    endTurn()
    if (message.role !== 'assistant') {
      paired.push({ ...message, role: roleOf(message, contents), contents })
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
      const callId = ids.legal(content.callId, isOwn)
      if (callId !== content.callId) losses.add('an id of a call is rewritten')
      if (result === undefined) losses.add('a call without a result is answered with a note')
      isChanged ||= callId !== content.callId
      said.push(callId === content.callId ? content : { ...content, callId })
      const answer = result === undefined ? missingResult(callId) : { ...result, callId }
      answers.push({ ...answer, name: content.name })
    }
    paired.push(isChanged ? { ...message, contents: said } : message)
  }
  endTurn()
  return paired
}

/** A tool message holds results and answers to hosted approvals. All else there is for the model to read. */
function roleOf({ role }: Message, contents: readonly Content[]): Message['role'] {
  if (contents.every(({ type }) => type === 'approval-response')) return 'tool'
  return role === 'tool' ? 'user' : role
}

/** Most packages have no place for a file in what the model said: the user shows those of other models. */
function filesByUser(
  messages: readonly Message[],
  { provider }: Origin,
  losses: Losses,
): readonly Message[] {
  const shown: Message[] = []
  let waiting: Message | undefined
  for (const message of messages) {
    // Results come right behind their calls.
    if (waiting !== undefined && message.role !== 'tool') {
      shown.push(waiting)
      waiting = undefined
    }
    const isFile = (content: Content): boolean =>
      (content.type === 'data' || content.type === 'uri') &&
      (content.origin ?? message.origin)?.provider !== provider
    const files = message.role === 'assistant' ? message.contents.filter(isFile) : []
    if (files.length === 0) {
      shown.push(message)
      continue
    }
    losses.add('files of the assistant are shown by the user')
    const contents = message.contents.filter((content) => !isFile(content))
    if (contents.length > 0) shown.push({ ...message, contents })
    waiting = { id: `${message.id}-files`, role: 'user', contents: files }
  }
  return waiting === undefined ? shown : [...shown, waiting]
}

/** An answer to an approval goes only where it was asked for. */
function withAskedApprovals(messages: readonly Message[], losses: Losses): readonly Message[] {
  const asked = new Set<string>()
  return messages.map((message) => {
    const contents = message.contents.filter((content) => {
      if (content.type === 'approval-request') asked.add(content.id)
      if (content.type !== 'approval-response' || asked.has(content.id)) return true
      losses.add('approvals of hosted tools are left out')
      return false
    })
    return contents.length === message.contents.length ? message : { ...message, contents }
  })
}

/** Several providers refuse system messages behind the first turn. */
function systemFirst(messages: readonly Message[]): readonly Message[] {
  const isSystem = ({ role }: Message): boolean => role === 'system'
  return [...messages.filter(isSystem), ...messages.filter((message) => !isSystem(message))]
}

/** Bedrock, Anthropic and Google want to hear the user first. */
function begunByUser(messages: readonly Message[]): readonly Message[] {
  const at = messages.findIndex(({ role }) => role !== 'system')
  const first = messages[at]
  if (first === undefined || first.role === 'user') return messages
  const contents: Content[] = [{ type: 'text', text: '(The conversation continues here.)' }]
  return messages.toSpliced(at, 0, { id: `${first.id}-opening`, role: 'user', contents })
}
