import { LamellaError } from '../base/lamella-error.ts'
import type { Checkpoint, Decision, Decisions, PendingRequest } from '../contract/outcome.ts'
import type { Session } from '../messages/session.ts'
import { groupOfCall } from '../messages/call-results.ts'
import type {
  ApprovalRequestContent,
  ApprovalResponseContent,
  Content,
  FunctionCallContent,
} from '../messages/content.ts'
import type { Message } from '../messages/message.ts'
import { isTrusted } from '../messages/trusted-content.ts'
import type { Run } from '../run/run.ts'

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
    forgetOldest(this.#open)
  }

  find(id: string): ApprovalRequestContent | undefined {
    return this.#open.get(id)
  }

  isUsed(id: string): boolean {
    return this.#used.has(id)
  }

  /** Marks a request as answered. */
  use(id: string): void {
    this.#open.delete(id)
    this.#used.add(id)
    forgetOldest(this.#used)
  }
}

function forgetOldest(ids: Map<string, unknown> | Set<string>): void {
  const [oldest] = ids.keys()
  if (ids.size > 10_000) ids.delete(oldest!)
}

/**
 * Finds the calls that answers decide about: those in `input` that code of this process made, and those that
 * were passed as `answers`.
 * @throws LamellaError `approval_invalid` or `approval_used` for one of `answers` that nothing waits for
 */
export function decisionsFrom(
  input: readonly Message[],
  answers: Readonly<Record<string, unknown>> | undefined,
  session: Session | undefined,
  registry: ApprovalRegistry,
  run: Run,
): ReadonlyMap<string, Decisions> {
  const conversation = run.messages.all
  const decided = new Map<string, Decisions>()
  for (const answer of contentsOf(input, 'approval-response')) {
    if (answer.hosted === true) continue
    const { id } = answer
    const request = isTrusted(answer) ? openRequest(id, session, registry) : undefined
    const group = request && groupOfCall(conversation, request.call)
    if (request === undefined || group === undefined) {
      run.emit({ type: 'approval-ignored', data: { id } })
      continue
    }
    use(id, session, registry)
    decide(decided, group.id, request.call, toDecision(answer))
  }
  for (const [id, answer] of Object.entries(answers ?? {})) {
    const request = requestFor(id, conversation, session, registry)
    const call = callOf(request)!
    const group = groupOfCall(conversation, call)
    if (group === undefined) throw invalid(`the call of the request "${id}" is not open`)
    const decision = answerToDecision(request, answer)
    if (request.kind === 'approval') use(id, session, registry)
    decide(decided, group.id, call, decision)
  }
  return decided
}

/** The open request with this id, or for the declared tool call with it. */
function requestFor(
  id: string,
  conversation: readonly Message[],
  session: Session | undefined,
  registry: ApprovalRegistry,
): PendingRequest {
  const request = openRequest(id, session, registry)
  if (request !== undefined) return { kind: 'approval', id, request }
  if (registry.isUsed(id)) throw used(id)
  const calls = contentsOf(conversation, 'function-call')
  const call = calls.findLast(({ callId }) => callId === id)
  const waits = contentsOf(conversation, 'approval-request').some(
    (entry) => entry.call.callId === id,
  )
  if (call === undefined || waits) throw invalid(`nothing pending has the id "${id}"`)
  return { kind: 'function-call', id, call }
}

/**
 * Converts answers to a checkpoint into decisions, by group and call.
 * @throws LamellaError `approval_invalid` for an answer to something that is not pending or no
 * answer, `approval_used` for a second one; then no answer is taken
 */
export function decisionsForResume(
  { pending, held, conversation = [] }: Checkpoint,
  answers: Readonly<Record<string, unknown>>,
  session: Session | undefined,
  registry: ApprovalRegistry,
): ReadonlyMap<string, Decisions> {
  const decided = new Map<string, Decisions>()
  for (const [id, decisions] of held) decided.set(id, new Map(decisions))
  for (const id of Object.keys(answers)) {
    const request = pending.find((entry) => entry.id === id)
    if (request === undefined) throw invalid(`nothing pending has the id "${id}"`)
    if (registry.isUsed(id)) throw used(id)
    const call = callOf(request)
    if (call === undefined) continue
    const group = groupOfCall(conversation, call)
    if (group !== undefined) decide(decided, group.id, call, answerToDecision(request, answers[id]))
  }
  for (const id of Object.keys(answers)) use(id, session, registry)
  if (session !== undefined) forgetDecided(session, conversation, decided)
  return decided
}

/** Removes requests from the session that were answered before an interrupted run could save it. */
function forgetDecided(
  session: Session,
  conversation: readonly Message[],
  decided: ReadonlyMap<string, Decisions>,
): void {
  const asked = new Set(contentsOf(conversation, 'approval-request').map(({ id }) => id))
  session.pending = session.pending.filter(({ id, call }) => {
    if (!asked.has(id)) return true
    const group = groupOfCall(conversation, call)
    return group !== undefined && decided.get(group.id)?.has(call.callId) !== true
  })
}

/** Requests for the calls of a group that were made before and are still open, by call id. */
export function waitingIn(
  group: readonly Message[],
  checkpoint: Checkpoint | undefined,
  session: Session | undefined,
  registry: ApprovalRegistry,
): ReadonlyMap<string, PendingRequest> {
  const waiting = new Map<string, PendingRequest>()
  for (const request of checkpoint?.pending ?? []) {
    if (request.kind === 'function-call') waiting.set(request.call.callId, request)
  }
  for (const { id, call, hosted } of contentsOf(group, 'approval-request')) {
    if (hosted === true) continue
    const known = checkpoint?.pending.find((entry) => entry.id === id)
    const request = openRequest(id, session, registry)
    if (known !== undefined && !registry.isUsed(id)) waiting.set(call.callId, known)
    else if (request !== undefined)
      waiting.set(request.call.callId, { kind: 'approval', id, request })
  }
  return waiting
}

function contentsOf<Type extends Content['type']>(
  messages: readonly Message[],
  type: Type,
): readonly Extract<Content, { readonly type: Type }>[] {
  return messages.flatMap(({ contents }) =>
    contents.filter((content) => content.type === type),
  ) as Extract<Content, { readonly type: Type }>[]
}

function openRequest(
  id: string,
  session: Session | undefined,
  registry: ApprovalRegistry,
): ApprovalRequestContent | undefined {
  if (session === undefined) return registry.find(id)
  return registry.isUsed(id) ? undefined : session.pending.find((request) => request.id === id)
}

function use(id: string, session: Session | undefined, registry: ApprovalRegistry): void {
  registry.use(id)
  if (session?.pending.some((request) => request.id === id) !== true) return
  session.pending = session.pending.filter((request) => request.id !== id)
}

function decide(
  decided: Map<string, Decisions>,
  groupId: string,
  { callId }: FunctionCallContent,
  decision: Decision,
): void {
  const calls = decided.get(groupId) ?? new Map<string, Decision>()
  calls.set(callId, decision)
  decided.set(groupId, calls)
}

/** The call that a request is about, if it is about one. */
export function callOf(request: PendingRequest): FunctionCallContent | undefined {
  if (request.kind === 'interrupt') return undefined
  return request.kind === 'approval' ? request.request.call : request.call
}

function toDecision({
  approved,
  arguments: edited,
  reason,
}: Partial<ApprovalResponseContent>): Decision {
  return { approved: approved === true, arguments: edited, reason }
}

function answerToDecision(request: PendingRequest, answer: unknown): Decision {
  if (request.kind === 'function-call') return { result: answer }
  if (typeof answer === 'boolean') return { approved: answer }
  const given = (answer ?? {}) as Partial<ApprovalResponseContent>
  if (typeof given.approved === 'boolean') return toDecision(given)
  throw invalid(
    `the answer to an approval is true, false or { approved, arguments?, reason? }, got ${typeof answer}`,
  )
}

function used(id: string): LamellaError {
  return new LamellaError(`the request "${id}" was answered before; nothing ran`, {
    code: 'approval_used',
  })
}

function invalid(problem: string): LamellaError {
  return new LamellaError(`answers: ${problem}`, { code: 'approval_invalid' })
}
