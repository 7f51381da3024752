import type { PendingRequest } from './agent-response.ts'
import { groupOfCall } from './call-group.ts'
import type { Checkpoint } from './checkpoint.ts'
import type {
  ApprovalRequestContent,
  ApprovalResponseContent,
  FunctionCallContent,
} from './content.ts'
import { LamellaError } from './lamella-error.ts'
import type { Message } from './message.ts'
import type { Run } from './run.ts'
import type { Session } from './session.ts'
import type { Decision, Decisions } from './tool-batch.ts'

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
    if (this.#used.size > maxRemembered) this.#used.delete(this.#used.values().next().value!)
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
): ReadonlyMap<string, Decisions> {
  let decided: Map<string, Decisions> | undefined
  for (const { contents } of input) {
    for (const content of contents) {
      if (content.type !== 'approval-response' || content.hosted === true) continue
      const request = openRequest(content.id, session, registry)
      const group = request && groupOfCall(conversation, request.call)
      if (request === undefined || group === undefined) {
        run.emit({ type: 'approval-ignored', data: { id: content.id } })
        continue
      }
      use(request.id, session, registry)
      decide((decided ??= new Map()), group.id, request.call, toDecision(content))
    }
  }
  return decided ?? nothingDecided
}

/**
 * What answers to a checkpoint decide, by group and call.
 * @throws LamellaError `approval_invalid` for an answer to something that is not pending, or was
 * answered, or is none; then no answer is taken
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
    if (registry.isUsed(id)) throw invalid(`the request "${id}" was answered before`)
    const call = callOf(request)
    if (call === undefined) continue
    const group = groupOfCall(conversation, call)
    if (group !== undefined) decide(decided, group.id, call, answerToDecision(request, answers[id]))
  }
  for (const id of Object.keys(answers)) use(id, session, registry)
  if (session !== undefined) forgetDecided(session, conversation, decided)
  return decided
}

/** What was answered before a run was cut off, its session may not know yet. */
function forgetDecided(
  session: Session,
  conversation: readonly Message[],
  decided: ReadonlyMap<string, Decisions>,
): void {
  const asked = new Set<string>()
  for (const { contents } of conversation)
    for (const content of contents) if (content.type === 'approval-request') asked.add(content.id)
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
  for (const { contents } of group) {
    for (const content of contents) {
      if (content.type !== 'approval-request' || content.hosted === true) continue
      const { id } = content
      const known = checkpoint?.pending.find((entry) => entry.id === id)
      const request = openRequest(id, session, registry)
      if (known !== undefined && !registry.isUsed(id)) waiting.set(content.call.callId, known)
      else if (request !== undefined)
        waiting.set(request.call.callId, { kind: 'approval', id, request })
    }
  }
  return waiting
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

function callOf(request: PendingRequest): FunctionCallContent | undefined {
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

function invalid(problem: string): LamellaError {
  return new LamellaError(`resume: ${problem}`, { code: 'approval_invalid' })
}

const nothingDecided: ReadonlyMap<string, Decisions> = new Map()
