import { LamellaError } from '../base/lamella-error.ts'
import { runConcurrently } from '../base/run-concurrently.ts'
import { isPause } from '../contract/control-flow.ts'
import type { LoopConfiguration } from '../contract/limits.ts'
import type { Decision, PendingRequest } from '../contract/outcome.ts'
import type { MiddlewareTermination } from '../contract/termination.ts'
import type { FunctionCallContent, FunctionResultContent } from '../messages/content.ts'
import { callAddress, callKey } from '../messages/call-results.ts'
import type { FunctionResult } from '../messages/function-result.ts'
import { errorResult } from '../messages/function-result.ts'
import { saveStep } from '../pausing/checkpoint.ts'
import type { RequestedTools } from '../pipeline/chat-call.ts'
import type { CallTool, PreparedCall } from '../pipeline/function-call.ts'
import { FunctionCall } from '../pipeline/function-call.ts'
import type { BatchOutcome } from '../run/loop-levels.ts'
import type { Run } from '../run/run.ts'
import type { Step } from './prepare-call.ts'
import { prepareCall, toolFor } from './prepare-call.ts'
import { resultOf } from './transcript.ts'

export interface Batch {
  readonly calls: readonly FunctionCallContent[]
  /** Requests that went out before for these calls, by position; undecided ones stay as they are. */
  readonly waiting: ReadonlyMap<string, PendingRequest>
  /** The request that the calls answer. Undefined if it was made before a pause, or never. */
  readonly requested?: RequestedTools | undefined
  /** Middleware of these calls asked before the run was resumed: one at a time, so that each gets its answer. */
  readonly oneByOne?: boolean | undefined
}

/** Settings for all batches of a loop. */
export interface BatchSettings {
  readonly config: LoopConfiguration
  readonly callFunction: CallTool
  /** Overrides the run's signal. */
  readonly signal: AbortSignal | undefined
}

/** Result of a call, and the termination if a middleware ended the loop. */
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
  if (settings.config.terminateOnUnknownCalls) refuseUnknown(run, batch)
  const held = run.toolsAllowed()
  if (held !== undefined) await run.unlessAborted(held, settings.signal)
  const work = new BatchWork(run, batch, budget, settings)
  for (let at = 0; at < batch.calls.length; at++) {
    const step = work.prepare(at)
    if (step === undefined) continue
    // A schema or an approval function may never settle.
    work.take(at, 'then' in step ? await run.unlessAborted(step, settings.signal) : step)
  }
  await work.execute()
  return work.outcome()
}

interface Job {
  /** Among the calls of the batch. */
  readonly at: number
  readonly prepared: PreparedCall
}

/** A batch in progress. */
class BatchWork {
  readonly #run: Run
  readonly #batch: Batch
  readonly #budget: number
  readonly #settings: BatchSettings
  readonly #outcomes: (CallOutcome | undefined)[] = []
  readonly #pending: PendingRequest[] = []
  readonly #jobs: Job[] = []
  /** Positions of the calls. */
  readonly #addresses: readonly string[]
  /** Index of the first of equal calls, which run once. */
  readonly #firstAt: readonly number[]
  #interrupted = false
  #executed = 0

  constructor(run: Run, batch: Batch, budget: number, settings: BatchSettings) {
    this.#run = run
    this.#batch = batch
    this.#budget = budget
    this.#settings = settings
    this.#addresses = batch.calls.map((call) => callAddress(run.messages.all, call))
    const keys = batch.calls.map(callKey)
    this.#firstAt = keys.map((key) => keys.indexOf(key))
  }

  prepare(at: number): Step | Promise<Step> | undefined {
    const { calls, waiting, requested } = this.#batch
    const { journal } = this.#run
    const call = calls[at]!
    const address = this.#addresses[at]!
    if (this.#firstAt[at] !== at) return undefined
    const done = journal.take('call', address)
    if (done !== undefined) {
      this.#executed++
      return { result: done.result }
    }
    const decision = journal.answers.get(address) as Decision | undefined
    const pending = decision === undefined ? waiting.get(address) : undefined
    if (pending !== undefined) return { pending }
    const known = toolFor(this.#run, call.name, requested)
    return prepareCall(this.#run, call, address, known, decision, this.#settings.config)
  }

  take(at: number, step: Step): void {
    if ('result' in step) this.#place(at, step.result)
    else if ('pending' in step) this.#pending.push(step.pending)
    else if (this.#executed + this.#jobs.length < this.#budget)
      this.#jobs.push({ at, prepared: step.run })
    else this.#place(at, overBudget)
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
    return runConcurrently(work, most, signal ?? (run.abortable ? run.signal : undefined))
  }

  #start({ at, prepared }: Job, signal: AbortSignal | undefined): Promise<void> {
    const run = this.#run
    const { address } = prepared
    const { oneByOne } = this.#batch
    const { config, callFunction } = this.#settings
    run.progress.moveTo(address)
    const call = new FunctionCall(run, prepared, signal, config.includeDetailedErrors)
    return callFunction(call).then(
      (result) => this.#finish(at, Object.freeze(result), call),
      (error: unknown) => {
        if (!isPause(error)) throw error
        this.#interrupted = true
        if (oneByOne !== true) run.interrupts.claim(error, address)
        this.#pending.push(...error.requests.filter(({ path }) => path !== undefined))
      },
    )
  }

  /** Keeps the result of a call, of one that has not run too. All results of a batch come through here. */
  #place(at: number, result: FunctionResult, call?: FunctionCall): void {
    this.#outcomes[at] = { result, terminates: call?.terminates }
  }

  /** Records the result of a call that has run. */
  #finish(at: number, result: FunctionResult, call: FunctionCall): void | Promise<void> {
    this.#place(at, result, call)
    this.#executed++
    // A middleware that ended the loop ends it again after a crash.
    if (call.terminates !== undefined) return undefined
    const run = this.#run
    run.journal.record({ kind: 'call', address: this.#addresses[at]!, result })
    return call.executed || !run.keepsSteps ? undefined : saveStep(run)
  }

  outcome(): BatchOutcome {
    const run = this.#run
    const outcomes = this.#outcomes
    const { calls } = this.#batch
    const terminates = outcomes.find((outcome) => outcome?.terminates !== undefined)?.terminates
    const ends = terminates !== undefined || run.stopped !== undefined
    const results: FunctionResultContent[] = []
    let failed = false
    for (let at = 0; at < calls.length; at++) {
      const call = calls[at]!
      const outcome = outcomes[this.#firstAt[at]!] ?? (ends ? cancelled : undefined)
      if (outcome === undefined) continue
      const { error } = outcome.result
      results.push(resultOf(call, outcome.result))
      if (error !== undefined) failed ||= countsAsError.has(error.code)
    }
    const executed = this.#executed
    const interrupted = this.#interrupted && !ends
    // Pending requests end with the run.
    const pending = ends ? [] : this.#pending
    return { results, pending, executed, failed, terminates, interrupted }
  }
}

const overBudget = errorResult('budget', 'the run may not call more tools')

const cancelled: CallOutcome = { result: errorResult('cancelled', 'the run ended') }
const countsAsError: ReadonlySet<string> = new Set([
  'tool_failed',
  'invalid_arguments',
  'unknown_tool',
  'timeout',
])

function refuseUnknown(run: Run, { calls, requested }: Batch): void {
  const unknown = calls.find(({ name }) => toolFor(run, name, requested)?.type !== 'function')
  if (unknown === undefined) return
  throw new LamellaError(`the model called "${unknown.name}", which is no tool of this run`, {
    code: 'unknown_tool',
  })
}
