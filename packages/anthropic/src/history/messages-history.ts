import type { Message } from '@lamella/core'
import type { HistoryRules, PreparedHistory } from '@lamella/transport'
import { CallIds, prepareHistory, recordOf } from '@lamella/transport'
import { fileBlock } from './file-block.ts'
import { pairHosted } from './hosted-pairs.ts'
import type { MessagesDialect } from './messages-dialect.ts'

/** Model that a history is prepared for. */
export interface Home {
  readonly provider: string
  readonly model: string | undefined
  readonly dialect: MessagesDialect
}

const longestCallId = 64

/**
 * Makes any history valid for the Messages API. It begins and ends with the user, and what hosted tools
 * did comes in pairs.
 */
export function messagesHistory(messages: readonly Message[], home: Home): PreparedHistory {
  const prepared = prepareHistory(messages, rulesOf(home), pairHosted)
  return { ...prepared, messages: endedByUser(begunByUser(prepared.messages)) }
}

function rulesOf({ provider, model, dialect }: Home): HistoryRules {
  return {
    provider,
    model,
    modelFamily: (name) => name.replace(/-(\d{8}|latest)$/, ''),
    callIds: () => new CallIds(longestCallId, false, (id) => /^[\w-]+$/.test(id)),
    longestToolName: 128,
    // Without its signature, as in an answer that broke off, thinking is refused.
    reasoning: ({ text, protected: signature }) =>
      signature || (dialect.unsignedThinking && text !== '') ? 'kept' : 'lost',
    // What Anthropic says of a refusal is no part of the conversation.
    refusal: (content, isOwn) => (isOwn ? undefined : content),
    hosted: ({ data }, maker) => {
      if (recordOf(data)['status'] === 'in_progress') return 'unwanted'
      return maker === 'other' ? 'lost' : 'kept'
    },
    takesApprovals: () => false,
    fileLoss: (content) =>
      dialect.files && fileBlock(content) !== undefined
        ? undefined
        : {
            words: `a file of type ${content.mediaType ?? 'unknown'} is left out`,
            isLeftOut: true,
          },
  }
}

/** The system prompt apart, the API wants to hear the user first. */
function begunByUser(messages: readonly Message[]): readonly Message[] {
  const at = messages.findIndex(({ role }) => role !== 'system')
  const first = messages[at]
  if (first === undefined || first.role === 'user') return messages
  return messages.toSpliced(
    at,
    0,
    saying(`${first.id}-opening`, '(The conversation continues here.)'),
  )
}

/**
 * Newer models refuse a request that ends with an answer of a model. An application's own text at the end is the
 * beginning of the answer, and the model continues an answer that Anthropic has paused.
 */
function endedByUser(messages: readonly Message[]): readonly Message[] {
  const last = messages.findLast(({ role }) => role !== 'system')
  if (last?.role !== 'assistant' || last.origin === undefined) return messages
  if (last.contents.some(({ type }) => type === 'hosted')) return messages
  return [...messages, saying(`${last.id}-ending`, 'Continue.')]
}

function saying(id: string, text: string): Message {
  return { id, role: 'user', contents: [{ type: 'text', text }] }
}
