import type { ChatResponse } from '@lamella/core'
import { LamellaError } from '@lamella/core'
import { isObject } from '@lamella/core/authoring'

/** Answer of a judge. */
export interface JudgeAnswer {
  /** Score from 0 to 1 of each criterion, by id. */
  readonly scores: ReadonlyMap<string, number>
  /** Reason, if the judge was asked for one. */
  readonly reason?: string | undefined
}

/**
 * Reads the answer of a judge. It must be a single JSON object, at most in a code fence, with the ticket of
 * this question and a score for each criterion. An answer of any other form is not searched for a verdict,
 * since the judged text may have put one there.
 * @throws LamellaError `judge_refused` or `judge_malformed`, without a word of the answer
 */
export function parseVerdict(
  response: Pick<ChatResponse, 'text' | 'finishReason' | 'messages' | 'functionCalls'>,
  ids: readonly string[],
  ticket: string,
): JudgeAnswer {
  const { finishReason, functionCalls, messages, text } = response
  const isRefusal = messages.some(({ contents }) => contents.some(({ type }) => type === 'refusal'))
  if (isRefusal || finishReason === 'refusal' || finishReason === 'content-filter') {
    throw new LamellaError('the judge refused to answer', { code: 'judge_refused' })
  }
  if (functionCalls.length > 0) throw malformed('a call of a tool')
  const { ticket: given, scores, reason, ...more } = objectFrom(unfenced(text))
  if (given !== ticket) throw malformed('another ticket')
  if (Object.keys(more).length > 0) throw malformed('more than was asked for')
  if (reason !== undefined && typeof reason !== 'string')
    throw malformed('a reason that is no text')
  if (!isObject(scores)) throw malformed('no scores')
  const entries = Object.entries(scores)
  const isEach = entries.length === ids.length && ids.every((id) => Object.hasOwn(scores, id))
  if (!isEach) throw malformed('scores for other criteria')
  for (const [, score] of entries) {
    if (typeof score !== 'number' || !(score >= 0 && score <= 1)) {
      throw malformed('a score that is not from 0 to 1')
    }
  }
  return { scores: new Map(entries as [string, number][]), reason }
}

function unfenced(text: string): string {
  const answer = text.trim()
  if (!answer.startsWith('```') || !answer.endsWith('```')) return answer
  const firstLine = answer.indexOf('\n')
  const isJson = ['```', '```json'].includes(answer.slice(0, firstLine).trim())
  return isJson ? answer.slice(firstLine, -3) : answer
}

function objectFrom(json: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    throw malformed('no JSON')
  }
  if (!isObject(value)) throw malformed('no object')
  return value
}

function malformed(what: string): LamellaError {
  return new LamellaError(`the judge answered with ${what}`, { code: 'judge_malformed' })
}
