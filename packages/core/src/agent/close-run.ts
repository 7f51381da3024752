import { none } from '../base/none.ts'
import type { AgentMiddleware } from '../contract/agent.ts'
import { MiddlewareContractError } from '../contract/contract-error.ts'
import type { AgentResponse, PendingRequest, RunStatus } from '../contract/outcome.ts'
import type { Session } from '../messages/session.ts'
import { cancelledResults, groupOfCall, openCalls, unpaired } from '../messages/call-results.ts'
import type { ChatResponse } from '../messages/chat-response.ts'
import { contentFields, toChatResponse } from '../messages/chat-response.ts'
import type { Message } from '../messages/message.ts'
import { withAuthor } from '../messages/message.ts'
import { takeCheckpoint } from '../pausing/checkpoint.ts'
import { ChatCall } from '../pipeline/chat-call.ts'
import { passAnswer } from '../pipeline/model-call.ts'
import type { FailedOutcome } from '../run/failed-outcome.ts'
import type { Run } from '../run/run.ts'
import type { AgentCall, OnceRecord } from './agent-call.ts'

/** Finalizes a run after its middleware: updates the session. Async only to add a checkpoint to a pause. */
export function closeRun(
  call: AgentCall,
  given: AgentResponse,
): AgentResponse | Promise<AgentResponse> {
  const { run } = call
  const { usage, attempts, journal } = run
  if (given.status === 'paused') {
    const pending = pendingOf(call, given)
    const response = { ...given, pending, usage, attempts }
    return takeCheckpoint(run, pending).then((checkpoint) => {
      keepPause(call, response)
      if (run.session !== undefined && pending.some(({ kind }) => kind === 'interrupt'))
        run.session.paused = checkpoint
      return { ...response, checkpoint }
    })
  }
  // Its run has been continued.
  if (run.session !== undefined && journal.state !== undefined) run.session.paused = undefined
  const settled = given.pending.length === 0 ? given : cancelOpenCalls(given, run)
  const response = { ...settled, pending: journal.open, usage, attempts }
  if (ends.has(response.status)) keepAll(call, response)
  else keepDone(call, response)
  return response
}

/** Saves what was said before a pause in the session, and the open requests. */
function keepPause(call: AgentCall, { messages, pending }: AgentResponse): void {
  const { run, plan } = call
  const { session } = run
  const { begun, added } = run.messages
  if (session !== undefined && begun) {
    // What a middleware has put in place of a message comes again after a pause.
    const said = messages.filter(({ id }) => added.some((own) => own.id === id))
    saveSaid(call, session, said)
  }
  for (const request of pending) {
    if (request.kind !== 'approval' || request.path !== undefined) continue
    if (session === undefined) plan.agent.approvals.remember(request.request, run)
    else if (!session.pending.some(({ id }) => id === request.id))
      session.pending = [...session.pending, request.request]
  }
}

/** Saves a run that ended as intended in the session. */
function keepAll(call: AgentCall, response: AgentResponse): void {
  const { messages, session } = call.run
  if (session === undefined) return
  if (!messages.begun) tell(call, session, response)
  saveSaid(call, session, withEffects(call.run, response.messages))
}

function saveSaid(call: AgentCall, session: Session, said: readonly Message[]): void {
  const between = talkedSince(call, session)
  save(session, call.run.messages.history(said, between, session.messages))
}

/**
 * Effects that a middleware has taken out of `said`, or that its transforms have not seen, happened all the same. They
 * stand behind what was said before them.
 */
function withEffects({ journal, messages }: Run, said: readonly Message[]): readonly Message[] {
  const ids = new Set(said.map(({ id }) => id))
  const lost = new Map<string, readonly Message[]>()
  let last = ''
  for (const entry of journal.effects) {
    if (ids.has(entry.id)) last = entry.id
    else if (!messages.done.includes(entry)) lost.set(last, [...(lost.get(last) ?? none), entry])
  }
  const behind = (id: string): readonly Message[] => lost.get(id) ?? none
  return [...behind(''), ...said.flatMap((entry) => [entry, ...behind(entry.id)])]
}

/**
 * Saves in the session what stays of a run that did not end as intended: what it has done, or also what it has said.
 * While a guardrail has not returned its verdict, or once it has blocked, nothing that was said is saved.
 */
export function keepDone(
  call: AgentCall,
  outcome: Pick<AgentResponse | FailedOutcome, 'status' | 'messages'> | undefined,
): void {
  const { run, plan } = call
  const { keep = 'effects' } = plan.options
  const { session, messages, journal } = run
  if (session === undefined || !messages.begun || keep === 'nothing') return
  const isFit = outcome !== undefined && outcome.status !== 'blocked' && run.verdictsOpen === 0
  const { effects } = journal
  if (keep === 'all' && isFit) saveSaid(call, session, withEffects(run, partial(outcome.messages)))
  else if (effects.length > 0)
    save(session, messages.historyOfEffects(effects, talkedSince(call, session), session.messages))
}

/** Gives a session what an ended run had left in it, if it was not saved. What others have said since stands behind. */
export function restoreSession(session: Session, { session: left, before = [] }: OnceRecord): void {
  const { messages } = session
  const has = new Set(messages.map(({ id }) => id))
  // A session without the last of the old messages has been compacted, or is another one.
  if (left === undefined || (before.length > 0 && !has.has(before.at(-1)!))) return
  const old = new Set(before)
  const added = left.messages.filter(({ id }) => !old.has(id))
  const since = messages.filter(({ id }) => !old.has(id))
  if (added.length + since.length === 0) session.paused ??= left.paused
  if (added.length === 0 || added.some(({ id }) => has.has(id))) return
  if (session.revision === left.revision) Object.assign(session.state, left.state)
  session.paused = left.paused
  const asked = left.pending.filter(({ id }) => !session.pending.some((own) => own.id === id))
  session.pending = [...session.pending, ...asked]
  save(session, [...left.messages, ...since])
}

/** A request for a call that has its result, or is gone, is closed. */
function save(session: Session, messages: readonly Message[]): void {
  session.messages = messages
  const open = session.pending.filter(({ call }) => groupOfCall(messages, call) !== undefined)
  if (open.length < session.pending.length) session.pending = open
}

/** Marks messages of an unfinished run; calls without a result are left out. */
function partial(messages: readonly Message[]): readonly Message[] {
  const cut = unpaired(messages)
  return messages.flatMap((entry) => {
    const contents = entry.contents.filter((content) => !cut.has(content))
    if (contents.length === 0) return []
    return { ...entry, contents, metadata: { ...entry.metadata, partial: true } }
  })
}

/** @throws MiddlewareContractError for an edit after the loop, which nothing has read */
export function checkLateEdit(
  middlewares: readonly AgentMiddleware[],
  { progress: { lateEdit } }: Run,
  { status }: AgentResponse,
): void {
  if (lateEdit === undefined || status === 'paused') return
  const { what, depth } = lateEdit
  const name = middlewares[depth]?.name ?? ''
  const problem = `called ${what} after the loop had ended, where it changes nothing`
  throw new MiddlewareContractError(name, problem)
}

/** Ends a run as stopped that a middleware answered before the loop could stop it. */
export async function stoppedEarly(call: AgentCall, given: AgentResponse): Promise<AgentResponse> {
  const { run } = call
  const { progress, stopped } = run
  if (stopped === undefined || progress.phase !== 'early' || given.status !== 'completed')
    return given
  const { reason, response } = stopped
  const { value: _, ...kept } = given
  const more =
    response === undefined ? none : await sayLate(call, toChatResponse(response, run.ids))
  const messages = [...given.messages, ...more]
  return { ...kept, messages, ...contentFields(messages), status: 'terminated', reason }
}

/** Lets the caller read an answer that no model call gave, as the middleware that handles such answers leaves it. */
async function sayLate(
  { run, plan }: AgentCall,
  answer: ChatResponse,
): Promise<readonly Message[]> {
  const { client, instructions } = plan.agent
  const input = { client, instructions, messages: run.input, options: {} }
  const passed = passAnswer(new ChatCall(run, input, plan.pipelines.callModel), answer)
  if (passed !== undefined) return (await passed).messages
  const messages = withAuthor(answer.messages, run.agentName)
  for (const { id: messageId, ...rest } of messages) run.sink.push({ ...rest, messageId })
  return messages
}

/** Adds the response of a middleware that replaced the loop to the conversation. */
function tell(call: AgentCall, session: Session, response: AgentResponse): void {
  const { run } = call
  call.history = session.messages
  const { journal } = run
  journal.record({ kind: 'begin', messages: [...session.messages, ...run.input] })
  run.messages.repeatEdits()
  journal.record({ kind: 'messages', messages: response.messages })
}

/** Cancels the open calls of a run that a middleware ended. */
function cancelOpenCalls(response: AgentResponse, run: Run): AgentResponse {
  const calls = openCalls(response.messages)
  if (calls.length === 0) return response
  const message: Message = {
    id: run.ids.createId('msg'),
    role: 'tool',
    contents: cancelledResults(calls, 'the run ended'),
    ...(run.agentName !== undefined && { authorName: run.agentName }),
  }
  // All agent middleware is done: the update reaches the caller as it is.
  run.transformWith(undefined, run.partial)
  run.sink.push({ ...message, messageId: message.id })
  return { ...response, messages: [...response.messages, message] }
}

/**
 * Collects pending requests from the loop, from middleware, and from the checkpoint being resumed.
 */
function pendingOf(call: AgentCall, given: AgentResponse): readonly PendingRequest[] {
  const { interrupts, journal } = call.run
  const { answers, entered, state } = journal
  const before = entered ? none : (state?.pending ?? none)
  const open = before.filter(({ address }) => !answers.has(address))
  const all = [...given.pending, ...(call.paused?.pending ?? none), ...open, ...interrupts.pending]
  return [...new Map(all.map((request) => [request.id, request])).values()]
}

/**
 * Returns messages that others added to the session: while this run was paused, or runs inside of it.
 */
function talkedSince({ run, history }: AgentCall, session: Session): readonly Message[] {
  const { journal } = run
  if (journal.state === undefined) {
    if (session.messages === history) return none
    const before = new Set(history)
    return session.messages.filter((message) => !before.has(message))
  }
  const known = new Set(
    journal.steps.flatMap((step) => {
      if ('messages' in step) return step.messages.map(({ id }) => id)
      return 'message' in step ? [step.message.id] : []
    }),
  )
  return session.messages.filter(({ id }) => !known.has(id))
}

/** Statuses of runs that ended as intended. */
const ends: ReadonlySet<RunStatus> = new Set(['completed', 'terminated', 'max_iterations'])
