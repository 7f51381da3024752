import type { AgentResponse, AgentResponseInit, Attempt, PendingRequest } from './agent-response.ts'
import type { ChatResponse } from './chat-response.ts'
import { callOf } from './approvals.ts'
import { createSecretId } from './create-id.ts'
import type { FunctionResult } from './function-result.ts'
import { jsonCopy } from './json-copy.ts'
import { LamellaError } from './lamella-error.ts'
import type { Message } from './message.ts'
import type { Run } from './run.ts'
import type { Told } from './run-conversation.ts'
import type { RunToolsSnapshot } from './run-tools.ts'
import type { Session } from './session.ts'
import type { Decision } from './tool-batch.ts'
import type { Usage } from './usage.ts'

/** That a run is to end, and with which last word. */
export interface Stop {
  readonly reason: string
  readonly response?: AgentResponseInit | string | undefined
}

/**
 * A paused run as JSON. It holds the conversation, what had finished, and what is waited for. Who
 * can change it can make the run do anything: keep it where the user cannot.
 */
export interface Checkpoint {
  readonly version: 1
  readonly id: string
  readonly runId: string
  readonly agentName?: string | undefined
  readonly sessionId?: string | undefined
  /** The input of the run. */
  readonly input: readonly Message[]
  /**
   * The conversation up to here, history and input included; without what the run added, if the
   * loop is over. Missing if it had not begun.
   */
  readonly conversation?: readonly Message[] | undefined
  readonly conversationId?: string | undefined
  /** The provider that keeps it. */
  readonly keeper?: string | undefined
  /** How many of these messages a provider that keeps the conversation has seen. */
  readonly sent: number
  readonly iteration: number
  readonly functionCalls: number
  readonly consecutiveErrors: number
  /** Rounds that layers have allowed beyond the limit. @default 0 */
  readonly moreIterations?: number | undefined
  readonly usage: Usage
  readonly attempts: readonly Attempt[]
  readonly pending: readonly PendingRequest[]
  /** Answers that layers have been given, by the address of the question. */
  readonly answers: Readonly<Record<string, unknown>>
  readonly state: Readonly<Record<string, unknown>>
  readonly tools?: RunToolsSnapshot | undefined
  /** Groups of calls that are open, with what was decided already, by call id. */
  readonly held: readonly (readonly [
    id: string,
    decisions: readonly (readonly [callId: string, Decision])[],
  ])[]
  /** Finished work that a layer still held in its hands. */
  readonly model?: { readonly iteration: number; readonly response: ChatResponse } | undefined
  readonly toolResults: readonly (readonly [callId: string, result: FunctionResult])[]
  readonly loop?:
    | { readonly response: AgentResponse; readonly absorbed: readonly string[] }
    | undefined
  /**
   * In the middle of a run: what it has told since it began or was resumed. Who goes on tells it again,
   * so that the layers around the run see all of it.
   */
  readonly told?: Told | undefined
  /** Ids of messages that were rewritten away. A session that was not saved since still has them. */
  readonly dropped?: readonly string[] | undefined
  /** In the middle of a run: that it is to end, and how. */
  readonly stopped?: Stop | undefined
  /** Sub-agents that are paused too, by the id of the call that runs them. */
  readonly children: Readonly<Record<string, Checkpoint>>
}

/**
 * Writes down where a run stands while it goes on. What it waits for is what it waited for before and
 * was not told.
 */
export function takeStep(run: Run): Checkpoint {
  const decided = new Set([...(run.held ?? [])].flatMap(([, decisions]) => [...decisions.keys()]))
  const pending = (run.checkpoint?.pending ?? []).filter((request) => {
    const call = callOf(request)
    return call !== undefined && !decided.has(call.callId)
  })
  return takeCheckpoint(run, run.input, pending, true)
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

/** Whether layers have asked something before the pause: they will ask it again, and find the answer. */
export function hasQuestions(checkpoint: Checkpoint | undefined): boolean {
  if (checkpoint === undefined) return false
  const { answers, pending } = checkpoint
  return Object.keys(answers).length > 0 || pending.some(({ kind }) => kind === 'interrupt')
}

function plainStop(stop: Stop | undefined): Stop | undefined {
  return typeof stop?.response === 'object' ? { ...stop, response: plain(stop.response) } : stop
}

/** Without what is no JSON. */
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
  session: Session | undefined,
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
