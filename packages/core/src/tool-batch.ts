import type { PendingRequest } from './agent-response.ts'
import type { FunctionCallContent, FunctionResultContent } from './content.ts'
import type { FunctionPipeline, PreparedCall } from './function-call.ts'
import { FunctionCall } from './function-call.ts'
import type { LoopConfiguration } from './function-invocation.ts'
import type { FunctionResult } from './function-result.ts'
import { errorResult } from './function-result.ts'
import { isPause } from './interrupts.ts'
import { LamellaError } from './lamella-error.ts'
import type { Step } from './prepare-call.ts'
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
  /** Layers of these calls asked before the run was resumed: one at a time, so that each gets its answer. */
  readonly oneByOne?: boolean | undefined
}

/** What the loop runs all its batches with. */
export interface BatchSettings {
  readonly config: LoopConfiguration
  readonly callFunction: FunctionPipeline
  /** Where it is another one than the run's. */
  readonly signal: AbortSignal | undefined
}

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

/** Executes the calls of one model response, at most `budget` of them. */
export async function runBatch(
  run: Run,
  batch: Batch,
  budget: number,
  settings: BatchSettings,
): Promise<BatchOutcome> {
  if (settings.config.terminateOnUnknownCalls) refuseUnknown(run, batch.calls)
  const held = run.toolsAllowed()
  if (held !== undefined) await run.unlessAborted(held, settings.signal)
  const work = new BatchWork(run, batch, budget, settings)
  for (let at = 0; at < batch.calls.length; at++) {
    const step = work.prepare(at)
    if (step !== undefined) work.take(at, 'then' in step ? await step : step)
  }
  await work.execute()
  return work.outcome()
}

interface Job {
  /** Among the calls of the batch. */
  readonly at: number
  readonly prepared: PreparedCall
}

/** A batch while it is worked on. */
class BatchWork {
  readonly #run: Run
  readonly #batch: Batch
  readonly #budget: number
  readonly #settings: BatchSettings
  readonly #outcomes: (CallOutcome | undefined)[] = []
  readonly #pending: PendingRequest[] = []
  readonly #jobs: Job[] = []
  /** Where each call id came first: a call that comes twice runs once. */
  readonly #firstAt: Map<string, number> | undefined
  #interrupted = false

  constructor(run: Run, batch: Batch, budget: number, settings: BatchSettings) {
    this.#run = run
    this.#batch = batch
    this.#budget = budget
    this.#settings = settings
    if (batch.calls.length > 1) this.#firstAt = new Map()
  }

  prepare(at: number): Step | Promise<Step> | undefined {
    const { calls, decisions, waiting } = this.#batch
    const call = calls[at]!
    const { callId } = call
    if (this.#firstAt?.has(callId)) return undefined
    this.#firstAt?.set(callId, at)
    const decision = decisions?.get(callId)
    const pending = decision === undefined ? waiting?.get(callId) : undefined
    return pending === undefined
      ? prepareCall(this.#run, call, decision, this.#settings.config)
      : { pending }
  }

  take(at: number, step: Step): void {
    if ('result' in step) this.#outcomes[at] = { result: step.result }
    else if ('pending' in step) this.#pending.push(step.pending)
    else if (this.#jobs.length < this.#budget) this.#jobs.push({ at, prepared: step.run })
    else this.#outcomes[at] = overBudget
  }

  /** Runs what may run. */
  execute(): void | Promise<void> {
    const jobs = this.#jobs
    const { signal, config } = this.#settings
    if (jobs.length <= 1) return jobs[0] && this.#start(jobs[0], signal)
    const work = jobs.map((job) => ({
      exclusive: job.prepared.tool.exclusive,
      start: (own: AbortSignal) => this.#start(job, own),
    }))
    const most = this.#batch.oneByOne === true ? 1 : config.maxConcurrency
    const run = this.#run
    return runLimited(work, most, signal ?? (run.abortable ? run.signal : undefined))
  }

  #start({ at, prepared }: Job, signal: AbortSignal | undefined): Promise<void> {
    const run = this.#run
    const { callId } = prepared.call
    const { oneByOne } = this.#batch
    const { config, callFunction } = this.#settings
    if (oneByOne === true) run.place = callId
    const call = new FunctionCall(run, prepared, signal, config.includeDetailedErrors)
    return callFunction(call).then(
      (result) => {
        this.#outcomes[at] = { result, terminates: call.terminates }
      },
      (error: unknown) => {
        if (!isPause(error)) throw error
        this.#interrupted = true
        if (oneByOne !== true) run.interrupts.claim(error, callId)
      },
    )
  }

  outcome(): BatchOutcome {
    const run = this.#run
    const outcomes = this.#outcomes
    const { calls } = this.#batch
    const terminates = outcomes.find((outcome) => outcome?.terminates !== undefined)?.terminates
    const ends = terminates !== undefined || run.stopped !== undefined
    const results: FunctionResultContent[] = []
    let failed = false
    let direct: FunctionResult | undefined
    for (let at = 0; at < calls.length; at++) {
      const call = calls[at]!
      const { callId, name } = call
      const outcome = outcomes[this.#firstAt?.get(callId) ?? at] ?? (ends ? cancelled : undefined)
      if (outcome === undefined) continue
      const { error } = outcome.result
      results.push(resultOf(call, outcome.result))
      if (error !== undefined) failed ||= countsAsError.has(error.code)
      else if (run.tools.returnsDirect(name)) direct = outcome.result
    }
    const executed = this.#interrupted
      ? this.#jobs.filter(({ at }) => outcomes[at] !== undefined).length
      : this.#jobs.length
    const interrupted = this.#interrupted && !ends
    // What waits for somebody when the run ends waits no more.
    const pending = ends ? [] : this.#pending
    return { results, pending, executed, failed, terminates, interrupted, direct }
  }
}

function resultOf(
  { callId, name, metadata }: FunctionCallContent,
  { contents, error }: FunctionResult,
): FunctionResultContent {
  const result: FunctionResultContent = { type: 'function-result', callId, name, contents }
  if (error === undefined && metadata === undefined) return result
  return { ...result, ...(error && { error }), ...(metadata && { metadata }) }
}

const overBudget: CallOutcome = {
  result: errorResult('budget', 'the run may not call more tools'),
}
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
