import type { PendingRequest } from './agent-response.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { ApprovalRequestContent, ApprovalResponseContent } from './content.ts'
import { LamellaError } from './lamella-error.ts'
import type { Message } from './message.ts'
import type { Run } from './run.ts'
import type { Session } from './session.ts'
import type { Decision } from './tool-batch.ts'

type Decided = Map<string, Map<string, Decision>>

/**
 * Approvals that an agent has asked for and that were not answered yet. An answer counts only if it
 * names the id of one of them, once, and what runs is the call that was recorded. Held in memory, for
 * conversations without a session; a session keeps its own.
 */
export class ApprovalRegistry {
  readonly #open = new Map<string, ApprovalRequestContent>()
  readonly #used = new Set<string>()

  remember(request: ApprovalRequestContent): void {
    this.#open.set(request.id, request)
    if (this.#open.size > maxRemembered) this.#open.delete(this.#open.keys().next().value!)
  }

  take(id: string): ApprovalRequestContent | undefined {
    const request = this.#open.get(id)
    this.#open.delete(id)
    return request
  }

  /** Marks an answer as given; false if it had been given before. */
  use(id: string): boolean {
    if (this.#used.has(id)) return false
    this.#used.add(id)
    if (this.#used.size > maxRemembered) this.#used.delete(this.#used.values().next().value!)
    return true
  }
}

const maxRemembered = 10_000

/** Finds the calls of the conversation that answers in `input` decide about. Forged ones decide nothing. */
export function decisionsFrom(
  input: readonly Message[],
  conversation: readonly Message[],
  session: Session | undefined,
  registry: ApprovalRegistry,
  run: Run,
): Decided {
  const decided: Decided = new Map()
  for (const { contents } of input) {
    for (const content of contents) {
      if (content.type !== 'approval-response' || content.hosted === true) continue
      const request = takeRequest(content.id, session, registry)
      const holder = request && holderOf(request, conversation)
      if (request === undefined || holder === undefined) {
        run.emit({ type: 'approval-ignored', data: { id: content.id } })
        continue
      }
      decide(decided, holder.id, request.call.callId, toDecision(content))
    }
  }
  return decided
}

/**
 * What answers to a checkpoint decide, by message and call.
 * @throws LamellaError `approval_invalid` for an answer to something that is not pending, or was answered
 */
export function decisionsForResume(
  checkpoint: Checkpoint,
  answers: Readonly<Record<string, unknown>>,
  registry: ApprovalRegistry,
): Decided {
  const pending = new Map(checkpoint.pending.map((request) => [request.id, request]))
  for (const id of Object.keys(answers)) {
    if (!pending.has(id)) throw new LamellaError(`resume: nothing pending has the id "${id}"`, { code: 'approval_invalid' })
    if (!registry.use(id)) throw new LamellaError(`resume: the request "${id}" was answered before`, { code: 'approval_invalid' })
  }
  const decided: Decided = new Map()
  if (checkpoint.batch === undefined) return decided
  decided.set(checkpoint.batch, new Map())
  for (const [id, request] of pending) {
    if (request.kind === 'interrupt' || !Object.hasOwn(answers, id)) continue
    const call = request.kind === 'approval' ? request.request.call : request.call
    registry.take(id)
    decide(decided, checkpoint.batch, call.callId, answerToDecision(request, answers[id]))
  }
  return decided
}

function decide(decided: Decided, messageId: string, callId: string, decision: Decision): void {
  const calls = decided.get(messageId) ?? new Map<string, Decision>()
  calls.set(callId, decision)
  decided.set(messageId, calls)
}

function takeRequest(
  id: string,
  session: Session | undefined,
  registry: ApprovalRegistry,
): ApprovalRequestContent | undefined {
  const remembered = registry.take(id)
  const recorded = session?.pending.find((request) => request.id === id)
  if (session !== undefined && recorded !== undefined) {
    session.pending = session.pending.filter((request) => request !== recorded)
  }
  const request = session === undefined ? remembered : recorded
  return request !== undefined && registry.use(id) ? request : undefined
}

/** The message that holds the request's call, still without a result. */
function holderOf(request: ApprovalRequestContent, conversation: readonly Message[]): Message | undefined {
  return conversation.findLast(({ contents }) =>
    contents.some(
      (content) =>
        content.type === 'function-call' &&
        content.callId === request.call.callId &&
        content.name === request.call.name &&
        content.arguments === request.call.arguments,
    ),
  )
}

function toDecision({ approved, arguments: edited, reason }: ApprovalResponseContent): Decision {
  return { approved, arguments: edited, reason }
}

function answerToDecision(request: PendingRequest, answer: unknown): Decision {
  if (request.kind === 'function-call') return { result: answer }
  if (typeof answer === 'boolean') return { approved: answer }
  const { approved, arguments: edited, reason } = (answer ?? {}) as Partial<ApprovalResponseContent>
  if (typeof approved !== 'boolean') {
    throw new LamellaError(
      `resume: the answer to an approval is true, false or { approved, arguments?, reason? }, got ${typeof answer}`,
      { code: 'approval_invalid' },
    )
  }
  return { approved, arguments: edited, reason }
}
