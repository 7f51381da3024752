import type { Message } from '@lamella/core'
import type { HistoryRules, PreparedHistory } from '@lamella/transport'
import { CallIds, prepareHistory, stringOf } from '@lamella/transport'
import { filePart } from './file-part.ts'

/** Model that a history is prepared for. */
export interface Home {
  readonly provider: string
  readonly model: string | undefined
}

/**
 * Makes any history valid for Google: it begins with the user, and the results of consecutive messages of
 * the model stand behind the last of them, because those are one turn.
 */
export function googleHistory(messages: readonly Message[], home: Home): PreparedHistory {
  const prepared = prepareHistory(messages, rulesOf(home))
  return { ...prepared, messages: endedByUser(begunByUser(prepared.messages)) }
}

/** Part of a model's name that its signatures are bound to. */
export function modelFamily(model: string): string {
  return model.replace(/^.*\//, '').replace(/-\d{3}$/, '')
}

/** Longest name of a tool. */
export const longestToolName = 64

function rulesOf({ provider, model }: Home): HistoryRules {
  return {
    provider,
    model,
    modelFamily,
    callIds: () => new CallIds(64),
    longestToolName,
    resultsEndTurn: true,
    reasoning: () => 'kept',
    refusal: ({ text }) => ({ type: 'text', text }),
    hosted: (_, maker) => (maker === 'other' ? 'lost' : 'kept'),
    takesApprovals: () => false,
    fileLoss: (content) =>
      filePart(content) === undefined
        ? {
            words: `a file of type ${stringOf(content.mediaType) ?? 'unknown'} is left out`,
            isLeftOut: true,
          }
        : undefined,
  }
}

/** The system prompt apart, the API wants to hear the user first. */
function begunByUser(messages: readonly Message[]): readonly Message[] {
  const at = messages.findIndex(({ role }) => role !== 'system')
  const first = messages[at]
  if (first === undefined || first.role === 'user') return messages
  const opening = saying(`${first.id}-opening`, '(The conversation continues here.)')
  return messages.toSpliced(at, 0, opening)
}

/** The API refuses a request that ends with the model. */
function endedByUser(messages: readonly Message[]): readonly Message[] {
  const last = messages.findLast(({ role }) => role !== 'system')
  if (last?.role !== 'assistant') return messages
  return [...messages, saying(`${last.id}-ending`, 'Continue.')]
}

function saying(id: string, text: string): Message {
  return { id, role: 'user', contents: [{ type: 'text', text }] }
}
