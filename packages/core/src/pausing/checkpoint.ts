import { createSecretId } from '../base/create-id.ts'
import { jsonCopy } from '../base/json.ts'
import { LamellaError } from '../base/lamella-error.ts'
import type { Checkpoint, PendingRequest, Stop } from '../contract/outcome.ts'
import type { Session } from '../messages/session.ts'
import type { ChatResponse } from '../messages/chat-response.ts'
import type { Message } from '../messages/message.ts'
import type { Run } from '../run/run.ts'
import { callOf } from './approvals.ts'

/**
 * Takes a checkpoint during a run. Its pending requests are the earlier ones without a decision.
 */
function takeStep(run: Run): Checkpoint {
  const decided = new Set([...(run.held ?? [])].flatMap(([, decisions]) => [...decisions.keys()]))
  const pending = (run.checkpoint?.pending ?? []).filter((request) => {
    const call = callOf(request)
    return call !== undefined && !decided.has(call.callId)
  })
  return takeCheckpoint(run, run.input, pending, true)
}

/** Passes a checkpoint of the run to `onCheckpoint`, after the earlier ones. */
export function saveStep(run: Run): Promise<void> {
  return run.saveNext(takeStep)
}

/** Writes down where a run stands. With `isStep`, in the middle of its work. */
export function takeCheckpoint(
  run: Run,
  input: readonly Message[],
  pending: readonly PendingRequest[],
  isStep = false,
): Checkpoint {
  const { messages, finished, lastLoop, checkpoint } = run
  const checkpointId = createSecretId('checkpoint')
  const { usage, attempts } = run
  const { answers } = run.interrupts
  const state = run.stateSnapshot()
  if (checkpoint !== undefined && !messages.begun) {
    return { ...checkpoint, id: checkpointId, pending, answers, state, usage, attempts }
  }
  const interrupted = isStep || pending.some(({ kind }) => kind === 'interrupt')
  const model =
    run.lastModel?.iteration === run.loopState.iteration ? run.lastModel : finished.model
  const loop = interrupted && !isStep && lastLoop?.status !== 'paused' ? lastLoop : undefined
  const { ground } = messages
  return jsonCopy({
    version: 1,
    id: checkpointId,
    runId: run.id,
    agentName: run.agentName,
    sessionId: run.session?.id,
    input,
    conversation: loop ? ground.base : messages.begun ? messages.all : undefined,
    conversationId: run.conversationId,
    keeper: run.conversationId === undefined ? undefined : run.keeper,
    sent: run.sent,
    ...run.loopState,
    moreIterations: run.moreIterations || undefined,
    usage,
    attempts,
    pending,
    answers,
    state,
    tools: run.tools.snapshot(),
    held: [...(run.held ?? [])].map(([id, decisions]) => [id, [...decisions]] as const),
    model:
      interrupted && model !== undefined
        ? { ...model, response: plain(model.response) }
        : undefined,
    toolResults: interrupted
      ? [...finished.toolResults, ...(run.toolResults ?? [])].map(
          ([callId, { contents, error }]) => [callId, { contents, error }] as const,
        )
      : [],
    loop: loop && { response: plain(loop), absorbed: ground.absorbed },
    dropped: messages.dropped && [...messages.dropped],
    told: isStep ? messages.told : undefined,
    stopped: isStep ? plainStop(run.stopped) : undefined,
    children: run.children,
  })
}

/**
 * Returns true if middlewares sent requests before the pause. They repeat them after it and receive
 * the answers.
 */
export function hasQuestions(checkpoint: Checkpoint | undefined): boolean {
  if (checkpoint === undefined) return false
  const { answers, pending } = checkpoint
  return Object.keys(answers).length > 0 || pending.some(({ kind }) => kind === 'interrupt')
}

function plainStop(stop: Stop | undefined): Stop | undefined {
  return typeof stop?.response === 'object' ? { ...stop, response: plain(stop.response) } : stop
}

/** Removes fields that are not JSON. */
function plain<Response extends Pick<ChatResponse, 'raw' | 'value'>>({
  raw: _raw,
  value: _value,
  ...response
}: Response): Response {
  return response as Response
}

/** @throws LamellaError `checkpoint_invalid` for what is no checkpoint, one of a later version or of another session */
export function checkCheckpoint(
  value: unknown,
  session: Pick<Session, 'id'> | undefined,
): asserts value is Checkpoint {
  const { version, runId, sessionId, input, pending } = (value ?? {}) as Partial<Checkpoint>
  if (typeof runId !== 'string' || !Array.isArray(input) || !Array.isArray(pending)) {
    throw invalid('this is no checkpoint')
  }
  if (version !== 1) {
    throw invalid(`the checkpoint has version ${String(version)}, this version reads 1`)
  }
  if (session !== undefined && sessionId !== undefined && session.id !== sessionId) {
    throw invalid(`the checkpoint is of the session "${sessionId}", not of "${session.id}"`)
  }
}

function invalid(problem: string): LamellaError {
  return new LamellaError(`resume: ${problem}`, { code: 'checkpoint_invalid' })
}
