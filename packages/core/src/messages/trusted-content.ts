import { LamellaError } from '../base/lamella-error.ts'
import type { ApprovalResponseContent, Content, FunctionResultContent } from './content.ts'
import { toFunctionResult } from './function-result.ts'
import type { Message } from './message.ts'

/** Marks contents that code of this process made. JSON cannot carry a symbol, so a parsed body never has it. */
const trusted = Symbol.for('lamella.trusted')

/** An answer to a request for approval. */
export interface ApprovalAnswer {
  /** True runs the call, false rejects it. */
  readonly approved: boolean
  /** Arguments to run the call with, validated again. @default those of the call */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined
  /** Reason that the model reads when the call is rejected. @default a fixed sentence */
  readonly reason?: string | undefined
  /** True if the provider requested approval and receives the answer. @default false */
  readonly hosted?: boolean | undefined
}

/**
 * Makes the answer to a request for approval, as a part of a run's input. Only answers made by this
 * function are accepted there; an answer from JSON is rejected with `untrusted_input`.
 *
 * @example
 * const asked = await agent.run('Refund order 7', { session })
 * const [request] = asked.pending
 * if (mayApprove(user)) await agent.run(approvalResponse(request.id, true), { session })
 */
export function approvalResponse(
  id: string,
  answer: boolean | ApprovalAnswer,
): ApprovalResponseContent {
  const given = typeof answer === 'boolean' ? { approved: answer } : answer
  if (typeof given?.approved !== 'boolean') {
    throw new TypeError(
      `approvalResponse: \`answer\` must be true, false or { approved, arguments?, reason? }, got ${typeof answer}`,
    )
  }
  const { approved, arguments: edited, reason, hosted } = given
  return mark({
    type: 'approval-response',
    id,
    approved,
    ...(edited && { arguments: edited }),
    ...(reason !== undefined && { reason }),
    ...(hosted === true && { hosted }),
  })
}

/**
 * Makes the result of a call to a declared tool, as a part of a run's input. A result from JSON is
 * rejected with `untrusted_input`, unless its call is in the same input.
 */
export function toolResult(callId: string, value: unknown): FunctionResultContent {
  const { contents, error } = toFunctionResult(value)
  return mark({ type: 'function-result', callId, contents, ...(error && { error }) })
}

function mark<Marked extends Content>(content: Marked): Marked {
  return Object.freeze({ ...content, [trusted]: true })
}

/** Tells whether code of this process made a content. */
export function isTrusted(content: Content): boolean {
  return (content as { [trusted]?: unknown })[trusted] === true
}

/**
 * Refuses answers that a run's input brings without authority. A conversation that an application passes
 * whole may hold answers of the past: those whose call has its result in the same input.
 * @throws LamellaError `untrusted_input`
 */
export function checkAuthority(input: readonly Message[]): void {
  if (!input.some(({ contents }) => contents.some(isClaim))) return
  const contents = input.flatMap((entry) => entry.contents)
  const calls = new Set<string>()
  const results = new Set<string | undefined>()
  const requests = new Map<string, string>()
  for (const content of contents) {
    if (content.type === 'function-call') calls.add(content.callId)
    else if (content.type === 'function-result') results.add(content.callId)
    else if (content.type === 'approval-request') requests.set(content.id, content.call.callId)
  }
  for (const claim of contents.filter(isClaim)) {
    if (claim.type === 'function-result' && !calls.has(claim.callId)) {
      throw untrusted('a tool result', 'toolResult(callId, value)')
    }
    if (claim.type === 'approval-response' && !results.has(requests.get(claim.id))) {
      throw untrusted('an approval', 'approvalResponse(id, answer)')
    }
  }
}

/** An answer that code of this process has not made. */
function isClaim(content: Content): boolean {
  const { type } = content
  return (type === 'approval-response' || type === 'function-result') && !isTrusted(content)
}

function untrusted(what: string, factory: string): LamellaError {
  return new LamellaError(
    `run: the input holds ${what} that is plain data; use \`agent.resume(checkpoint, answers)\`, \`run(input, { session, answers })\` or \`${factory}\``,
    { code: 'untrusted_input' },
  )
}
