import type { PendingRequest } from './agent-response.ts'
import type { FunctionCallContent, FunctionResultContent } from './content.ts'
import type { FunctionPipeline, PreparedCall } from './function-call.ts'
import { FunctionCall } from './function-call.ts'
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
  /** Where it is another one than the run's. */
  readonly signal: AbortSignal | undefined
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

/** What a call came to, and what ends the loop with it, if a layer does. */
interface CallOutcome {
  readonly result: FunctionResult
  readonly terminates?: MiddlewareTermination | undefined
}

interface Job {
  /** Among the calls of the batch. */
  readonly at: number
  readonly prepared: PreparedCall
}

/** Executes the calls of one model response. */
export async function runBatch(
  run: Run,
  batch: Batch,
  pipeline: FunctionPipeline,
  config: LoopConfiguration,
): Promise<BatchOutcome> {
  const { calls, decisions, waiting, budget, signal, oneByOne = false } = batch
  const { includeDetailedErrors, maxConcurrency } = config
  if (config.terminateOnUnknownCalls) refuseUnknown(run, calls)
  const held = run.toolsAllowed()
  if (held !== undefined) await run.unlessAborted(held, signal)

  const outcomes: (CallOutcome | undefined)[] = []
  const pending: PendingRequest[] = []
  const jobs: Job[] = []
  const firstAt = calls.length > 1 ? new Map<string, number>() : undefined
  for (const [at, call] of calls.entries()) {
    if (firstAt?.has(call.callId)) continue
    firstAt?.set(call.callId, at)
    const decision = decisions?.get(call.callId)
    const open = decision === undefined ? waiting?.get(call.callId) : undefined
    const prepared =
      open === undefined ? prepareCall(run, call, decision, config) : { pending: open }
    const step = 'then' in prepared ? await prepared : prepared
    if ('result' in step) outcomes[at] = { result: step.result }
    else if ('pending' in step) pending.push(step.pending)
    else if (jobs.length < budget) jobs.push({ at, prepared: step.run })
    else outcomes[at] = { result: errorResult('budget', 'the run may not call more tools') }
  }

  let interrupted = false
  const pause = (error: unknown, { call }: PreparedCall): void => {
    if (!isPause(error)) throw error
    interrupted = true
    if (!oneByOne) run.interrupts.claim(error, call.callId)
  }
  const start = ({ at, prepared }: Job, own: AbortSignal | undefined): Promise<void> => {
    if (oneByOne) run.place = prepared.call.callId
    const call = new FunctionCall(run, prepared, own, includeDetailedErrors)
    return pipeline(call).then(
      (result) => void (outcomes[at] = { result, terminates: call.terminates }),
      (error: unknown) => pause(error, prepared),
    )
  }
  if (jobs.length === 1) await start(jobs[0]!, signal)
  else if (jobs.length > 1) {
    const work = jobs.map((job) => ({
      exclusive: job.prepared.tool.exclusive,
      start: (own: AbortSignal) => start(job, own),
    }))
    await runLimited(work, oneByOne ? 1 : maxConcurrency, signal ?? run.signal)
  }
  // A call that came twice ran once.
  if (firstAt !== undefined && firstAt.size < calls.length) {
    for (const [at, { callId }] of calls.entries()) outcomes[at] = outcomes[firstAt.get(callId)!]
  }
  const executed = interrupted
    ? jobs.filter(({ at }) => outcomes[at] !== undefined).length
    : jobs.length
  return summarize(run, calls, outcomes, { pending, executed, interrupted })
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
  for (const [at, { callId, name, metadata }] of calls.entries()) {
    const outcome = outcomes[at] ?? (ends ? cancelled : undefined)
    if (outcome === undefined) continue
    const { contents, error } = outcome.result
    const result: FunctionResultContent = { type: 'function-result', callId, name, contents }
    if (error === undefined) {
      if (run.tools.returnsDirect(name)) direct = outcome.result
    } else if (countsAsError.has(error.code)) failed = true
    const isPlain = error === undefined && metadata === undefined
    results.push(
      isPlain ? result : { ...result, ...(error && { error }), ...(metadata && { metadata }) },
    )
  }
  const { executed } = of
  return ends
    ? { results, pending: [], executed, failed, terminates, interrupted: false, direct }
    : { ...of, results, failed, terminates, direct }
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
