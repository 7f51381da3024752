import type { PendingRequest } from '@lamella/core'
import { isObject } from '@lamella/core/authoring'
import { invalidInput } from '../http/read-json.ts'
import type { AnswerQuestion } from './chat-options.ts'

/** A parsed answer, and the permission that it needs. */
export interface ClientAnswer {
  /** The answer for `agent.resume`. */
  readonly value: unknown
  /** Question that an application must allow. Undefined for an answer that runs nothing. */
  readonly question?: Pick<AnswerQuestion, 'kind' | 'id' | 'tool' | 'arguments' | 'payload'>
  /** Name of the declared tool whose result it is. */
  readonly tool?: string
}

const longestReason = 2000

/**
 * Reads the answer of a client to a request. The result of a declared tool is always text.
 */
export function clientAnswer(request: PendingRequest, value: unknown): ClientAnswer {
  if (request.kind === 'function-call') {
    const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
    return { value: text, tool: request.call.name }
  }
  if (request.kind === 'interrupt') {
    const { id, payload } = request
    return { value, question: { kind: 'interrupt', id, payload } }
  }
  const { call } = request.request
  const answer = typeof value === 'boolean' ? { approved: value } : value
  const { approved, arguments: edited, reason } = (answer ?? {}) as Record<string, unknown>
  if (
    typeof approved !== 'boolean' ||
    (reason !== undefined && (typeof reason !== 'string' || reason.length > longestReason)) ||
    (edited !== undefined && !isObject(edited))
  ) {
    throw invalidInput(
      `the answer to an approval is true, false or { approved, arguments?, reason? }, with at most ${longestReason} characters of reason`,
    )
  }
  const given = { approved, ...(reason !== undefined && { reason }) }
  if (!approved) return { value: given }
  const question = {
    kind: 'approval',
    id: request.id,
    tool: call.name,
    arguments: edited ?? parsed(call.arguments),
  } as const
  return { value: { ...given, ...(edited && { arguments: edited }) }, question }
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = text === '' ? {} : JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
