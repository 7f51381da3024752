import { isObject } from '../base/plain-data.ts'
import { LamellaError } from '../base/lamella-error.ts'
import { none } from '../base/none.ts'
import type { Decision, JournalStep, PendingRequest } from '../contract/outcome.ts'
import { callAddress, groupOfCall, isSameCall, openIn } from '../messages/call-results.ts'
import type {
  ApprovalRequestContent,
  ApprovalResponseContent,
  Content,
  FunctionCallContent,
} from '../messages/content.ts'
import type { Message } from '../messages/message.ts'
import type { Run } from '../run/run.ts'
import { keyOf } from '../store/key-of.ts'
import type { Claims } from './claims.ts'
import { used } from './claims.ts'
import type { OpenApprovals } from './open-approvals.ts'

type Answers = Readonly<Record<string, unknown>>
type Approval = Extract<Decision, { readonly approved: boolean }>
type AnswerStep = Extract<JournalStep, { readonly kind: 'answer' }>

/**
 * Turns answers to the requests of a checkpoint into steps of its journal.
 * @throws LamellaError `approval_invalid` for an answer to something that is not pending, or for no answer
 */
export function answerSteps(pending: readonly PendingRequest[], answers: Answers): AnswerStep[] {
  return Object.entries(answers).map(([id, given]) => {
    const request = pending.find((entry) => entry.id === id)
    if (request === undefined) throw notPending(id)
    const { address, path } = request
    const answer = path === undefined ? toAnswer(request, given) : given
    return { kind: 'answer', id, address, answer }
  })
}

/**
 * Claims what the `answers` of a run decide about.
 * @throws LamellaError `approval_used` if something was answered before
 */
export async function claimAnswered(
  claims: Claims,
  run: Run,
  answers: Answers,
  open: OpenApprovals,
): Promise<void> {
  const { input, session } = run
  const history = session?.messages ?? []
  const all = [...history, ...input]
  const asked = new Set(contentsOf(history, 'approval-request').map(({ id }) => id))
  const keys: string[] = []
  for (const id of Object.keys(answers)) {
    if (openRequest(id, run, open) !== undefined) {
      keys.push(id)
      continue
    }
    const isHosted = hostedRequest(all, id) !== undefined
    const call = declaredCall(all, id)
    // Without a session, a call cannot be told from that of another conversation.
    if ((isHosted || call !== undefined) && session === undefined) continue
    if (isHosted) keys.push(keyOf('', run, session!.id, id))
    else if (call !== undefined) keys.push(keyOf('', run, session!.id, callAddress(all, call)))
    else if (asked.has(id)) throw used(id)
    // oxlint-disable-next-line no-await-in-loop
    else await claims.refuseUsed(id)
  }
  await claims.claim(keys)
}

/**
 * Makes the message with the answers to requests of the provider itself: it gets them as part of the
 * conversation, and no call of this process waits for them.
 * @throws LamellaError `approval_used` if one was answered before
 */
export function hostedAnswers({ input, session, ids }: Run, answers: Answers): readonly Message[] {
  const all = [...(session?.messages ?? none), ...input]
  const contents = Object.entries(answers).flatMap(([id, given]): Content[] => {
    if (hostedRequest(all, id) === undefined) return []
    if (contentsOf(all, 'approval-response').some((entry) => entry.id === id)) throw used(id)
    return [{ type: 'approval-response', id, hosted: true, ...toApproval(given) }]
  })
  return contents.length === 0 ? none : [{ id: ids.createId('msg'), role: 'user', contents }]
}

/**
 * Records the answers to requests of this process. Work on their calls comes first.
 * @throws LamellaError `approval_invalid` for an answer to something that is not pending, or for no answer
 */
export function recordAnswers(run: Run, answers: Answers, open: OpenApprovals): void {
  for (const [id, answer] of Object.entries(answers)) {
    const isHosted = hostedRequest(run.messages.all, id) !== undefined
    if (!isHosted && !recordAnswer(run, id, answer, open)) throw notPending(id)
  }
}

function recordAnswer(run: Run, id: string, given: unknown, open: OpenApprovals): boolean {
  const { journal } = run
  const { all } = run.messages
  const request = openRequest(id, run, open)
  const call = request === undefined ? declaredCall(all, id) : request.call
  const group = call && groupOfCall(all, call)
  if (group === undefined) return false
  const kind = request === undefined ? 'function-call' : 'approval'
  const own = openIn(all, group).find((entry) => isSameCall(entry, call!))!
  journal.record({ kind: 'calls', group: group.id })
  const address = callAddress(all, own)
  journal.record({ kind: 'answer', id, address, answer: toAnswer({ kind }, given) })
  return true
}

/** The request that a provider made under this id. */
function hostedRequest(all: readonly Message[], id: string): ApprovalRequestContent | undefined {
  return contentsOf(all, 'approval-request').find((entry) => entry.hosted && entry.id === id)
}

/** The last call with this id, if nobody has to approve it. */
function declaredCall(all: readonly Message[], callId: string) {
  const asked = contentsOf(all, 'approval-request').some(({ call }) => call.callId === callId)
  return asked
    ? undefined
    : contentsOf(all, 'function-call').findLast((call) => call.callId === callId)
}

/**
 * Requests for the open calls of a group that were made before, by the position of the call. A request
 * belongs to the last call of its id before it.
 */
export function waitingIn(
  run: Run,
  calls: readonly FunctionCallContent[],
  open: OpenApprovals,
): ReadonlyMap<string, PendingRequest> {
  const { all } = run.messages
  const waiting = new Map<string, PendingRequest>()
  for (const own of calls) {
    const isOwn = ({ contents }: Message): boolean => contents.includes(own)
    const isSameId = ({ contents }: Message): boolean =>
      contents.some((content) => isSameCall(content, own))
    const from = all.findIndex(isOwn)
    const to = all.findIndex((entry, at) => at > from && isSameId(entry))
    const asked = contentsOf(all.slice(from, to < 0 ? all.length : to), 'approval-request')
    const address = callAddress(all, own)
    for (const { id, call } of asked) {
      const request = isSameCall(call, own) ? openRequest(id, run, open) : undefined
      if (request !== undefined) waiting.set(address, { kind: 'approval', id, address, request })
    }
  }
  for (const request of run.journal.state?.pending ?? []) waiting.set(request.address, request)
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
  run: Run,
  open: OpenApprovals,
): ApprovalRequestContent | undefined {
  const { session } = run
  return session === undefined
    ? open.find(id, run)
    : session.pending.find((entry) => entry.id === id)
}

function toAnswer({ kind }: Pick<PendingRequest, 'kind'>, given: unknown): unknown {
  if (kind === 'interrupt') return given
  return kind === 'function-call' ? { result: given } : toApproval(given)
}

function toApproval(given: unknown): Approval {
  if (typeof given === 'boolean') return { approved: given }
  if (isObject(given)) {
    const { approved, arguments: edited, reason } = given as Partial<ApprovalResponseContent>
    if (typeof approved === 'boolean') return { approved, arguments: edited, reason }
  }
  throw invalid(
    `the answer to an approval is true, false or { approved, arguments?, reason? }, got ${typeof given}`,
  )
}

function notPending(id: string): LamellaError {
  return invalid(`nothing pending has the id "${id}"`)
}

function invalid(problem: string): LamellaError {
  return new LamellaError(`answers: ${problem}`, { code: 'approval_invalid' })
}
