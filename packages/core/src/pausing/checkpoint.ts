import { jsonCopy } from '../base/json.ts'
import type {
  Checkpoint,
  CheckpointState,
  JournalStep,
  PendingRequest,
} from '../contract/outcome.ts'
import type { ChatResponse } from '../messages/chat-response.ts'
import type { Session } from '../messages/session.ts'
import { checkpointInvalid as invalid } from '../run/checkpoint-signer.ts'
import type { Run } from '../run/run.ts'
import { checkpointShape, misfit, stateShape } from './checkpoint-shape.ts'

/** Passes a checkpoint of the run to `onCheckpoint`, if there is one, after the earlier ones. */
export function saveStep(run: Run): Promise<void> | undefined {
  return run.saveNext(() => takeCheckpoint(run))
}

/** Creates the checkpoint of a run that pauses for `pending`, or continues. */
export function takeCheckpoint(run: Run, pending?: readonly PendingRequest[]): Promise<Checkpoint> {
  const { journal, session, usage, attempts, stopped } = run
  const { answers, state } = journal
  const known = state?.pending ?? []
  const step: CheckpointState = {
    kind: 'state',
    id: run.ids.createSecretId('checkpoint'),
    runId: run.id,
    agentName: run.agentName,
    tenant: run.tenant,
    principal: run.principal,
    sessionId: session?.id,
    paused: pending !== undefined,
    pending: pending ?? known.filter(({ address }) => !answers.has(address)),
    moreIterations: run.messages.begun && run.moreIterations > 0 ? run.moreIterations : undefined,
    usage,
    attempts,
    cells: run.stateSnapshot(),
    tools: journal.entered ? run.tools.snapshot() : state?.tools,
    stopped:
      typeof stopped?.response === 'object'
        ? { ...stopped, response: plain(stopped.response) }
        : stopped,
  }
  const steps = [...journal.steps.map(plainStep), step]
  return run.signer.sign(jsonCopy({ version: 1, input: run.input, journal: steps }))
}

function plainStep(step: JournalStep): JournalStep {
  if (step.kind === 'model') return { ...step, response: plain(step.response) }
  if (step.kind !== 'end') return step
  // Its messages are those of the steps before it.
  return {
    ...step,
    response: { ...plain(step.response), messages: [], text: '', functionCalls: [] },
  }
}

/** Removes fields that are not JSON. */
export function plain<Response extends Pick<ChatResponse, 'raw' | 'value'>>({
  raw: _raw,
  value: _value,
  ...response
}: Response): Response {
  return response as Response
}

/**
 * Returns the state of the run that a checkpoint ends with: its pending requests, its id and the run's.
 * @throws LamellaError `checkpoint_invalid` for what is no checkpoint, or one of another version or session
 *
 * @example
 * ```ts
 * import { Agent, checkpointState, tool } from '@lamella/core'
 * import { callFunction, scriptedClient } from '@lamella/testing'
 *
 * const pay = tool({ name: 'pay', description: 'Pays.', approval: 'always', execute: () => 'paid' })
 * const client = scriptedClient([callFunction('pay', {}), 'Done.'])
 * const agent = new Agent({ client, tools: [pay] })
 * const { checkpoint } = await agent.run('Pay.')
 * const { pending } = checkpointState(checkpoint!)
 * const answers = Object.fromEntries(pending.map(({ id }) => [id, true]))
 * console.log((await agent.resume(checkpoint!, answers)).text) // Done.
 * ```
 */
export function checkpointState(value: Checkpoint, session?: Pick<Session, 'id'>): CheckpointState {
  const { version, input, journal } = (value ?? {}) as Partial<Checkpoint>
  const state = Array.isArray(journal) ? (journal as JournalStep[]).at(-1) : undefined
  if (!Array.isArray(input) || state?.kind !== 'state')
    throw invalid('this is no checkpoint; pass `response.checkpoint` of a paused run')
  if (version !== 1) {
    throw invalid(`the checkpoint has version ${JSON.stringify(version)}, this version reads 1`)
  }
  checkPlace(misfit(stateShape, state, `.journal[${journal!.length - 1}]`))
  const { sessionId } = state
  if (session !== undefined && sessionId !== undefined && session.id !== sessionId) {
    throw invalid(`the checkpoint is of the session "${sessionId}", not of "${session.id}"`)
  }
  return state
}

/** @throws LamellaError `checkpoint_invalid` for a checkpoint of another agent, tenant or principal, or of another shape */
export function checkOwner(checkpoint: Checkpoint, run: Run): void {
  const { agentName, tenant, principal } = checkpointState(checkpoint)
  checkPlace(misfit(checkpointShape, checkpoint))
  const isOfOwner = tenant === run.tenant && principal === run.principal
  if (agentName !== run.agentName || !isOfOwner)
    throw invalid('the checkpoint is of another agent, `tenant` or `principal`')
}

function checkPlace(place: string | undefined): void {
  if (place !== undefined)
    throw invalid(`the checkpoint has no readable value at \`${place.slice(1)}\``)
}
