import type { Content, Message } from '@lamella/core'
import type { Origin } from '@lamella/core/authoring'
import type { HistoryRules, Losses, PreparedHistory } from '@lamella/transport'
import { CallIds, prepareHistory, recordOf } from '@lamella/transport'
import { hostedPart } from './hosted-part.ts'
import { MistralCallIds } from './mistral-call-ids.ts'

/**
 * Makes any history valid for the models of the AI SDK, whose packages only translate. System messages
 * come first and then the user.
 */
export function modelHistory(messages: readonly Message[], home: Origin): PreparedHistory {
  const prepared = prepareHistory(messages, rulesOf(home), (paired, losses) =>
    withAskedApprovals(filesByUser(paired, home, losses), losses),
  )
  return { ...prepared, messages: begunByUser(systemFirst(prepared.messages)) }
}

// Ids and names of tools as Chat Completions takes them, which is less than all others do.
const longestCallId = 40
const longestToolName = 64

function rulesOf({ provider, model }: Origin): HistoryRules {
  return {
    provider,
    model,
    callIds: () =>
      provider.startsWith('mistral.') ? new MistralCallIds() : new CallIds(longestCallId),
    longestToolName,
    reasoning: () => 'kept',
    refusal: (content) => content,
    hosted: ({ data }, maker) => {
      if (recordOf(data)['type'] === 'source') return 'unwanted'
      return maker !== 'other' && hostedPart(data) !== undefined ? 'kept' : 'lost'
    },
    takesApprovals: (maker) => maker !== 'other',
    fileLoss: () => undefined,
  }
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
