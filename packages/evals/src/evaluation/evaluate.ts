import type { Agent } from '@lamella/core'
import { LamellaError, memoryStore } from '@lamella/core'
import { canonicalJson, checkOptions, jsonCopy, sha256, wrongOption } from '@lamella/core/authoring'
import { budget } from '@lamella/middleware-budget'
import type { BudgetOptions } from '@lamella/middleware-budget'
import { checkCase } from '../cases/check-case.ts'
import type { CaseSource, EvaluationCase } from '../cases/evaluation-case.ts'
import type { Check } from '../checks/check.ts'
import type { Score } from '../checks/score.ts'
import type { EvaluatedRun } from '../runs/evaluated-run.ts'
import type { CaseRunOptions, RecordedRun, RunSetup } from '../runs/run-case.ts'
import { budgetName, inputText, runCase } from '../runs/run-case.ts'
import type { RunRecord, RunRecords } from '../runs/run-record.ts'
import { failuresOf } from '../runs/run-record.ts'
import type { ToolSource } from '../runs/tool-source.ts'
import type { User } from '../runs/user.ts'
import { meanOf } from '../statistics/score-interval.ts'
import type { Yardstick } from './conclude.ts'
import { conclude } from './conclude.ts'
import type { Evaluation } from './evaluation.ts'
import { Tally } from './tally.ts'

/** Limits of a whole evaluation. A counter without a limit is unlimited. */
export type EvaluationBudget = Pick<
  NonNullable<BudgetOptions['limits']>,
  'modelCalls' | 'toolCalls' | 'inputTokens' | 'outputTokens' | 'totalTokens' | 'costUsd'
>

/** Options of {@link evaluate}. */
export interface EvaluateOptions {
  /** Name of the evaluation, also of its files. @default 'evaluation' */
  readonly name?: string | undefined
  /** The agent, or a function that returns one for a run: it is called for each. */
  readonly agent: Agent | ((of: EvaluationCase, run: number) => Agent | Promise<Agent>)
  /** Cases, read one after another. Each has an `id` of its own. */
  readonly cases: CaseSource
  /** Requirements that every run must meet. @default [] */
  readonly checks?: readonly Check[] | undefined
  /** Measures of quality. @default [] */
  readonly scores?: readonly Score[] | undefined
  /** Runs of each case. More runs tell a smaller change from noise. @default 1 */
  readonly runs?: number | undefined
  /** Most runs at the same time. @default 4 */
  readonly concurrency?: number | undefined
  /** Limits of all runs together; `costUsd` needs `prices`. When one is reached, the evaluation ends. @default none */
  readonly budget?: EvaluationBudget | undefined
  /** Prices of tokens, as for `budget()` of `@lamella/middleware-budget`. @default none: costs are unknown */
  readonly prices?: BudgetOptions['prices'] | undefined
  /** User of the turns after the scripted ones. @default none */
  readonly user?: User | undefined
  /** Tools in place of the agent's. @default the agent's */
  readonly tools?: ToolSource | undefined
  /** Options of the agent's runs, for each case. @default none */
  readonly runOptions?: ((of: EvaluationCase) => CaseRunOptions) | undefined
  /** Runs of an earlier evaluation to compare scores with. @default none */
  readonly baseline?: RunRecords | undefined
  /** Finished runs of this evaluation, which crashed: they count and are not run again. @default none */
  readonly done?: RunRecords | undefined
  /** Runs whose recordings are kept in their records: those that failed or scored too low, all, or none. @default 'failing' */
  readonly recordings?: 'failing' | 'all' | 'none' | undefined
  /** Receives each finished run, awaited, one at a time. Write them to continue after a crash. @default none */
  readonly onRun?: ((record: RunRecord) => void | Promise<void>) | undefined
  /**
   * Probability, for an agent that has not changed, that no score is reported as worse. Between 0.5 and 1.
   * @default 0.99
   */
  readonly confidence?: number | undefined
  /** Fall of a score that is not worth a report as long as it may be noise, from 0 to 1. @default 0.05 */
  readonly tolerance?: number | undefined
  /** Seed of the permutation test: the same runs give the same verdict. @default 1 */
  readonly seed?: number | undefined
  /** Aborts the evaluation. @default none */
  readonly signal?: AbortSignal | undefined
  /** Source of the times of runs, in milliseconds. @default `performance.now` */
  readonly now?: (() => number) | undefined
}

/**
 * Runs an agent on all cases, checks and scores each run, and compares the scores with a threshold and a
 * baseline. It rejects if the evaluation itself is wrong or aborted, not if the agent fails.
 * @throws TypeError or RangeError that names the option and the value
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { evaluate, includes } from '@lamella/evals'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const agent = new Agent({ client: scriptedClient(() => 'It is open until six.') })
 * const cases = [{ id: 'hours', input: 'When do you close?' }]
 * const { verdict } = await evaluate({ agent, cases, checks: [includes('six')] })
 * console.log(verdict) // passed
 * ```
 */
export async function evaluate(options: EvaluateOptions): Promise<Evaluation> {
  const yardstick = yardstickOf(options)
  const { checks = [], scores = [], runs = 1, concurrency = 4, recordings = 'failing' } = options
  const { agent, cases, onRun } = options
  const agentOf = typeof agent === 'function' ? agent : () => agent
  const tally = new Tally()
  const done = await doneByCase(options.done ?? [])
  const baseline = options.baseline && (await Tally.of(options.baseline))
  const stop = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal
  const setup = setupOf(options, signal)
  let ended: 'budget' | undefined
  let writing: Promise<void> = Promise.resolve()

  const finish = async (recorded: RecordedRun, digest: string): Promise<void> => {
    const record = await assess(recorded.run, digest, checks, scores)
    const isKept = recordings === 'all' || (recordings === 'failing' && isBad(record))
    tally.add(record)
    if (onRun === undefined) return
    const kept = isKept ? { ...record, recording: recorded.recording } : record
    writing = writing.then(() => onRun(kept))
    await writing
  }
  const isBad = (record: RunRecord): boolean =>
    failuresOf(record).length > 0 ||
    scores.some(({ name, threshold = 0 }) => {
      const score = record.scores[name]
      const before = baseline?.scoresOf(record.case, name) ?? []
      const least = before.length === 0 ? 0 : meanOf(before) - yardstick.tolerance
      return score !== undefined && (score < threshold || score < least)
    })

  const jobs = jobsOf(cases, runs, { tally, done })
  const work = async (): Promise<void> => {
    for await (const { of, run, digest } of jobs) {
      signal.throwIfAborted()
      const recorded = await runCase(await agentOf(of, run), of, run, setup)
      if (recorded.isOverBudget) {
        ended = 'budget'
        return
      }
      await finish(recorded, digest)
      if (ended !== undefined) return
    }
  }
  const workers = Array.from({ length: concurrency }, () =>
    work().catch((error: unknown) => {
      stop.abort(error)
      throw error
    }),
  )
  const results = await Promise.allSettled(workers)
  options.signal?.throwIfAborted()
  if (results.some(({ status }) => status === 'rejected')) throw stop.signal.reason
  if (tally.runs === 0 && ended === undefined)
    throw new RangeError(`${yardstick.name}: \`cases\` has no case`)
  return conclude(yardstick, tally, baseline, ended)
}

/**
 * Names, thresholds and settings of an evaluation.
 * @throws TypeError or RangeError that names the option and the value
 */
export function yardstickOf(options: EvaluateOptions): Yardstick {
  checkOptions('evaluate', options, {
    name: 'string?',
    agent: 'any',
    cases: 'any',
    checks: 'any',
    scores: 'any',
    runs: 1,
    concurrency: 1,
    budget: {
      modelCalls: 'any',
      toolCalls: 'any',
      inputTokens: 'any',
      outputTokens: 'any',
      totalTokens: 'any',
      costUsd: 'any',
    },
    prices: 'any',
    user: 'function?',
    tools: 'function?',
    runOptions: 'function?',
    baseline: 'any',
    done: 'any',
    recordings: ['failing', 'all', 'none'],
    onRun: 'function?',
    confidence: 'any',
    tolerance: 'any',
    seed: 0,
    signal: 'any',
    now: 'function?',
  })
  const { name = 'evaluation', agent, cases, checks = [], scores = [] } = options
  const { confidence = 0.99, tolerance = 0.05, seed = 1 } = options
  const isAgent = typeof agent === 'function' || typeof agent?.run === 'function'
  if (!isAgent) throw wrongOption('evaluate', 'agent', 'an agent or a function', agent)
  const isSource = typeof cases === 'object' && cases !== null
  if (!isSource || !(Symbol.iterator in cases || Symbol.asyncIterator in cases))
    throw wrongOption('evaluate', 'cases', 'a list or an iterable of cases', cases)
  if (!(confidence > 0.5 && confidence < 1))
    throw wrongOption('evaluate', 'confidence', 'a number between 0.5 and 1', confidence)
  if (!(tolerance >= 0 && tolerance <= 1))
    throw wrongOption('evaluate', 'tolerance', 'a number from 0 to 1', tolerance)
  const names = [...checks, ...scores].map((part) => part.name)
  const twice = names.find((one, at) => names.indexOf(one) < at)
  if (twice !== undefined)
    throw new TypeError(`evaluate: \`checks\` and \`scores\` have the name "${twice}" twice`)
  return {
    name,
    checks: checks.map((check) => check.name),
    scores: scores.map(({ name: score, threshold }) => ({ name: score, threshold })),
    confidence,
    tolerance,
    seed,
  }
}

function setupOf(options: EvaluateOptions, signal: AbortSignal): RunSetup {
  const { prices, budget: limits, tools, user, runOptions, now } = options
  return {
    tools,
    user,
    runOptions,
    signal,
    hasPrices: prices !== undefined,
    now: now ?? (() => performance.now()),
    // Repeated calls are for the agent's own budget to judge.
    budget: budget({
      name: budgetName,
      limits: { ...limits, repeatedToolCalls: false },
      scope: () => budgetName,
      store: memoryStore(),
      thresholds: [],
      prices,
      onUnknownPrice: limits?.costUsd === undefined ? 'ignore' : 'error',
    }),
  }
}

interface Job {
  readonly of: EvaluationCase
  readonly run: number
  readonly digest: string
}

/** Runs that are left to do, in the order of the cases. The workers share it. */
async function* jobsOf(
  cases: CaseSource,
  runs: number,
  { tally, done }: { readonly tally: Tally; readonly done: ReadonlyMap<string, RunRecord[]> },
): AsyncGenerator<Job> {
  const ids = new Set<string>()
  for await (const given of cases) {
    const of = checkCase(`evaluate: case ${ids.size + 1}`, given)
    if (ids.has(of.id)) throw new TypeError(`evaluate: \`cases\` has the id "${of.id}" twice`)
    ids.add(of.id)
    const digest = await digestOf(of)
    tally.expect(of.id, digest)
    for (const record of done.get(of.id) ?? []) {
      if (record.digest === digest && record.run < runs) tally.add(record)
    }
    for (let run = 0; run < runs; run++) {
      if (!tally.has(of.id, run)) yield { of, run, digest }
    }
  }
}

/** Finished runs by their case, without their texts. */
async function doneByCase(records: RunRecords): Promise<Map<string, RunRecord[]>> {
  const done = new Map<string, RunRecord[]>()
  for await (const { recording: _recording, ...record } of records) {
    const lean = { ...record, input: '', output: '' }
    const known = done.get(record.case)
    if (known === undefined) done.set(record.case, [lean])
    else known.push(lean)
  }
  return done
}

async function digestOf({ input, turns, goal, toolResults }: EvaluationCase): Promise<string> {
  const hash = await sha256(canonicalJson(jsonCopy({ input, turns, goal, toolResults })))
  return hash.slice(0, 16)
}

async function assess(
  run: EvaluatedRun,
  digest: string,
  checks: readonly Check[],
  scores: readonly Score[],
): Promise<RunRecord> {
  const errors: string[] = run.error === undefined ? [] : [messageOf(run.error)]
  const checked: [string, string | null][] = []
  const scored: [string, number][] = []
  // A run that threw has no answer to judge.
  if (errors.length === 0) {
    for (const check of checks) {
      try {
        const result = await check.run(run)
        if (result === undefined) continue
        const reason = result === true ? null : result || 'it does not pass'
        checked.push([check.name, reason])
      } catch (error) {
        run.signal.throwIfAborted()
        checked.push([check.name, messageOf(error)])
      }
    }
    for (const part of scores) {
      try {
        const value = await part.score(run)
        if (value !== undefined) scored.push([part.name, checkedScore(part.name, value, run)])
      } catch (error) {
        run.signal.throwIfAborted()
        if (LamellaError.is(error, 'score_invalid')) throw error
        errors.push(`${part.name}: ${messageOf(error)}`)
      }
    }
  }
  const { inputTokens = 0, outputTokens = 0, totalTokens = inputTokens + outputTokens } = run.usage
  return {
    case: run.case.id,
    run: run.run,
    digest,
    status: run.status,
    checks: Object.fromEntries(checked),
    scores: Object.fromEntries(scored),
    ...(errors.length > 0 && { error: errors.join('\n') }),
    elapsedMs: run.elapsedMs,
    tokens: totalTokens,
    ...(run.costUsd !== undefined && { costUsd: run.costUsd }),
    input: inputText(run.case).slice(0, longestText),
    output: run.text.slice(0, longestText),
  }
}

const longestText = 4_000

function checkedScore(name: string, value: unknown, { case: of }: EvaluatedRun): number {
  if (typeof value === 'number' && value >= 0 && value <= 1) return value
  const message = `score "${name}" must be a number from 0 to 1, got ${String(value)} for case "${of.id}"`
  throw new LamellaError(message, { code: 'score_invalid' })
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 500) || 'it threw'
}
