import type { PendingRequest } from './agent-response.ts'
import type { FunctionCallContent, FunctionResultContent } from './content.ts'
import type { CallOutcome, FunctionPipeline, PreparedCall } from './function-call.ts'
import type { LoopConfiguration } from './function-invocation.ts'
import type { FunctionResult } from './function-result.ts'
import { errorResult } from './function-result.ts'
import { isPause } from './interrupts.ts'
import { LamellaError } from './lamella-error.ts'
import { prepareCall } from './prepare-call.ts'
import type { Run } from './run.ts'
import { runLimited } from './run-limited.ts'
import type { MiddlewareTermination } from './termination.ts'

/** What was decided about a call that had been pending. */
export type Decision =
  | {
      readonly approved: boolean
      readonly arguments?: Readonly<Record<string, unknown>> | undefined
      readonly reason?: string | undefined
    }
  | { readonly result: unknown }

/** By call id. */
export type Decisions = Map<string, Decision>

export interface Batch {
  readonly calls: readonly FunctionCallContent[]
  readonly decisions?: Decisions | undefined
  /** Requests that went out before for these calls, by call id; undecided ones stay as they are. */
  readonly waiting?: ReadonlyMap<string, PendingRequest> | undefined
  /** Tool calls that may still be executed in this run. */
  readonly budget: number
  readonly signal: AbortSignal
  /** Layers of these calls asked before the run was resumed: one at a time, so that each gets its answer. */
  readonly oneByOne?: boolean | undefined
}

/** A batch before the loop says within which limits. */
export type OpenBatch = Omit<Batch, 'budget' | 'signal'>

export interface BatchOutcome {
  /** In call order; calls that are pending have none. */
  readonly results: readonly FunctionResultContent[]
  readonly pending: readonly PendingRequest[]
  readonly executed: number
  readonly failed: boolean
  /** What ended the loop, if a layer did. */
  readonly terminates: MiddlewareTermination | undefined
  /** A layer paused the run. */
  readonly interrupted: boolean
  /** The answer of the run, where a tool's result is to be it. */
  readonly direct: FunctionResult | undefined
}

/** Executes the calls of one model response. */
export async function runBatch(
  run: Run,
  batch: Batch,
  pipeline: FunctionPipeline,
  config: LoopConfiguration,
): Promise<BatchOutcome> {
  if (config.terminateOnUnknownCalls) refuseUnknown(run, batch.calls)
  const held = run.toolsAllowed()
  if (held !== undefined) await run.unlessAborted(held, batch.signal)

  const outcomes: (CallOutcome | undefined)[] = []
  const pending: PendingRequest[] = []
  const jobs: { readonly at: number; readonly prepared: PreparedCall }[] = []
  const repeats: { readonly at: number; readonly of: number }[] = []
  const seen = batch.calls.length > 1 ? new Map<string, number>() : undefined
  for (const [at, call] of batch.calls.entries()) {
    const earlier = seen?.get(call.callId)
    if (earlier !== undefined) {
      repeats.push({ at, of: earlier })
      continue
    }
    seen?.set(call.callId, at)
    const decision = batch.decisions?.get(call.callId)
    const waiting = decision === undefined ? batch.waiting?.get(call.callId) : undefined
    const prepared =
      waiting === undefined ? prepareCall(run, call, decision, config) : { pending: waiting }
    const step = 'then' in prepared ? await prepared : prepared
    if ('result' in step) outcomes[at] = { result: step.result }
    else if ('pending' in step) pending.push(step.pending)
    else if (jobs.length < batch.budget) jobs.push({ at, prepared: step.run })
    else outcomes[at] = { result: errorResult('budget', 'the run may not call more tools') }
  }

  const interrupted = await runJobs(run, jobs, batch, pipeline, config, outcomes)
  const executed = interrupted
    ? jobs.filter(({ at }) => outcomes[at] !== undefined).length
    : jobs.length
  for (const { at, of } of repeats) outcomes[at] = outcomes[of]
  return summarize(run, batch.calls, outcomes, { pending, executed, interrupted })
}

/** Runs what may run; true if a layer paused the run. */
async function runJobs(
  run: Run,
  jobs: readonly { readonly at: number; readonly prepared: PreparedCall }[],
  { oneByOne = false, signal }: Batch,
  pipeline: FunctionPipeline,
  { includeDetailedErrors, maxConcurrency }: LoopConfiguration,
  outcomes: (CallOutcome | undefined)[],
): Promise<boolean> {
  if (jobs.length === 0) return false
  let interrupted = false
  const runOne = async (at: number, prepared: PreparedCall, own: AbortSignal): Promise<void> => {
    const { callId } = prepared.call
    if (oneByOne) run.place = callId
    try {
      outcomes[at] = await pipeline(run, prepared, own, includeDetailedErrors)
    } catch (error) {
      if (!isPause(error)) throw error
      interrupted = true
      if (!oneByOne) run.interrupts.claim(error, callId)
    }
  }
  if (jobs.length === 1) {
    await runOne(jobs[0]!.at, jobs[0]!.prepared, signal)
    return interrupted
  }
  const work = jobs.map(({ at, prepared }) => ({
    exclusive: prepared.tool.exclusive,
    start: (own: AbortSignal) => runOne(at, prepared, own),
  }))
  await runLimited(work, oneByOne ? 1 : maxConcurrency, signal)
  return interrupted
}

function summarize(
  run: Run,
  calls: readonly FunctionCallContent[],
  outcomes: (CallOutcome | undefined)[],
  of: Pick<BatchOutcome, 'pending' | 'executed' | 'interrupted'>,
): BatchOutcome {
  const results: FunctionResultContent[] = []
  const terminates = outcomes.find((outcome) => outcome?.terminates !== undefined)?.terminates
  const ends = terminates !== undefined || run.stopped !== undefined
  let failed = false
  let direct: FunctionResult | undefined
  for (const [at, call] of calls.entries()) {
    const outcome = outcomes[at] ?? (ends ? cancelled : undefined)
    if (outcome === undefined) continue
    const { contents, error } = outcome.result
    const { callId, name, metadata } = call
    results.push({
      type: 'function-result',
      callId,
      name,
      contents,
      ...(error === undefined ? undefined : { error }),
      ...(metadata === undefined ? undefined : { metadata }),
    })
    if (error !== undefined && countsAsError.has(error.code)) failed = true
    if (error === undefined && run.tools.returnsDirect(name)) direct = outcome.result
  }
  if (ends)
    return {
      results,
      pending: [],
      executed: of.executed,
      failed,
      terminates,
      interrupted: false,
      direct,
    }
  return { ...of, results, failed, terminates, direct }
}

/** What waits for somebody when the run ends waits no more. */
const cancelled: CallOutcome = { result: errorResult('cancelled', 'the run ended') }

const countsAsError: ReadonlySet<string> = new Set([
  'tool_failed',
  'invalid_arguments',
  'unknown_tool',
  'timeout',
])

function refuseUnknown(run: Run, calls: readonly FunctionCallContent[]): void {
  const unknown = calls.find(({ name }) => run.tools.get(name)?.type !== 'function')
  if (unknown === undefined) return
  throw new LamellaError(`the model called "${unknown.name}", which is no tool of this run`, {
    code: 'unknown_tool',
  })
}
