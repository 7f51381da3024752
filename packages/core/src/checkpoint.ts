import type { AgentResponse, Attempt, PendingRequest } from './agent-response.ts'
import type { ChatResponse } from './chat-response.ts'
import { createSecretId } from './create-id.ts'
import type { FunctionResult } from './function-result.ts'
import { LamellaError } from './lamella-error.ts'
import type { Message } from './message.ts'
import type { Run } from './run.ts'
import type { RunToolsSnapshot } from './run-tools.ts'
import type { Session } from './session.ts'
import type { Usage } from './usage.ts'

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
  /** The conversation up to here, history and input included. */
  readonly conversation: readonly Message[]
  readonly conversationId?: string | undefined
  readonly iteration: number
  readonly functionCalls: number
  readonly consecutiveErrors: number
  readonly usage: Usage
  readonly attempts: readonly Attempt[]
  readonly pending: readonly PendingRequest[]
  /** Answers that layers have been given, by the address of the question. */
  readonly answers: Readonly<Record<string, unknown>>
  readonly state: Readonly<Record<string, unknown>>
  readonly tools?: RunToolsSnapshot | undefined
  /** The assistant message whose calls are being worked on. */
  readonly batch?: string | undefined
  /** Finished work that a layer still held in its hands. */
  readonly model?: { readonly iteration: number; readonly response: ChatResponse } | undefined
  readonly toolResults: readonly (readonly [callId: string, result: FunctionResult])[]
  readonly loop?: AgentResponse | undefined
  /** Sub-agents that are paused too, by the id of the call that runs them. */
  readonly children: Readonly<Record<string, Checkpoint>>
}

/** Writes down where a run stands. */
export function takeCheckpoint(
  run: Run,
  input: readonly Message[],
  pending: readonly PendingRequest[],
  session: Session | undefined,
): Checkpoint {
  const interrupted = pending.some(({ kind }) => kind === 'interrupt')
  return {
    version: 1,
    id: createSecretId('checkpoint'),
    runId: run.id,
    agentName: run.agentName,
    sessionId: session?.id,
    input,
    conversation: run.messages.all,
    conversationId: session?.conversationId,
    ...run.loopState,
    usage: run.usage,
    attempts: run.attempts,
    pending,
    answers: run.interrupts.answers,
    state: run.stateSnapshot(),
    tools: run.tools.snapshot(),
    batch: run.pausedBatch,
    model: interrupted && run.lastModel?.iteration === run.loopState.iteration ? run.lastModel : undefined,
    toolResults: [...(run.toolResults ?? [])],
    loop: interrupted ? run.lastLoop : undefined,
    children: run.children,
  }
}

/** @throws LamellaError `checkpoint_invalid` for what is no checkpoint, or one of a later version */
export function checkCheckpoint(value: unknown): asserts value is Checkpoint {
  const { version, runId, conversation, pending } = (value ?? {}) as Partial<Checkpoint>
  if (typeof runId !== 'string' || !Array.isArray(conversation) || !Array.isArray(pending)) {
    throw new LamellaError('resume: this is no checkpoint', { code: 'checkpoint_invalid' })
  }
  if (version !== 1) {
    throw new LamellaError(`resume: the checkpoint has version ${String(version)}, this version reads 1`, {
      code: 'checkpoint_invalid',
    })
  }
}
