import type { Usage } from '@lamella/core'
import type { CallPicture, RunPicture } from './run-picture.ts'
import { exitOfCall, isPlanned } from './run-picture.ts'

/** A number of things: `1 model call`, `2 model calls`. */
export function count(number: number, thing: string): string {
  return `${grouped(number)} ${thing}${number === 1 ? '' : 's'}`
}

/** A whole number with commas: `20,000`. */
export function grouped(number: number): string {
  return String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** A duration: `0.42 ms`, `36 ms`, `1.24 s`, `2 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1) return `${ms.toFixed(2)} ms`
  if (ms < 10) return `${ms.toFixed(1)} ms`
  if (ms < 999.5) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(2)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** An amount of money, with as many digits as it takes to see some. */
export function money(dollars: number): string {
  if (dollars === 0) return '$0'
  return `$${dollars.toFixed(dollars >= 1 ? 2 : Math.min(8, 1 - Math.floor(Math.log10(dollars))))}`
}

/** Tokens: `120 in (80 cached), 30 out`. */
export function tokens(usage: Usage): string {
  const { inputTokens, outputTokens, totalTokens, cachedInputTokens = 0 } = usage
  if (inputTokens === undefined && outputTokens === undefined)
    return totalTokens === undefined ? 'no tokens' : count(totalTokens, 'token')
  const cached = cachedInputTokens > 0 ? ` (${grouped(cachedInputTokens)} cached)` : ''
  return `${grouped(inputTokens ?? 0)} in${cached}, ${grouped(outputTokens ?? 0)} out`
}

/** Name of a call: `Model call 2`, `Tool 1: search`. */
export function nameOfCall({ line, ordinal, run }: CallPicture): string {
  if (line.type === 'run') return run.line?.agent ?? 'Run'
  if (isPlanned(run)) return `Each ${line.type} call`
  if (line.type === 'model') return `Model call ${ordinal}`
  return `Tool ${ordinal}${line.name === undefined ? '' : `: ${line.name}`}`
}

/** Words for how something ended. */
export const exitWords: Readonly<Record<string, string>> = {
  ok: 'completed',
  completed: 'completed',
  open: 'no end recorded',
  planned: 'not run yet',
  failed: 'failed',
  blocked: 'blocked',
  terminated: 'terminated',
  paused: 'paused',
  aborted: 'aborted',
  budget_exhausted: 'budget exhausted',
  max_iterations: 'iteration limit reached',
}

/** How a run ended; `open` if the recording does not tell. */
export function statusOf(run: RunPicture): string {
  if (isPlanned(run)) return 'planned'
  if (run.end !== undefined) return run.end.status
  if (run.line?.level !== 'chat') return 'open'
  const last = run.calls.findLast(({ line }) => line.type === 'model')
  const exit = last === undefined ? 'open' : exitOfCall(last)
  return exit === 'ok' ? 'completed' : exit
}

/** Calls of a run by type, and how many of them ended otherwise than by returning. */
export function callCounts(
  run: RunPicture,
  type: 'model' | 'tool',
): { all: number; failed: number } {
  const calls = run.calls.filter(({ line }) => line.type === type)
  return {
    all: calls.length,
    failed: calls.filter((call) => exitOfCall(call) === 'failed' || errorOf(call) !== undefined)
      .length,
  }
}

/** Code of the error that a call ended with, or that a tool's result holds. */
export function errorOf(call: CallPicture): string | undefined {
  let pass = call.passes.at(-1)
  while (pass !== undefined) {
    if (pass.out?.error !== undefined) return pass.out.error
    if (pass.out?.exit === undefined && call.level === 'chat') return undefined
    pass = pass.inside.at(-1)
  }
  return undefined
}

/** Most calls that a planned run may make. */
export function limitOf(calls: number | undefined): string {
  return calls === undefined ? 'any number' : `up to ${grouped(calls)}`
}

/** Why a run ended, or what it would do, in one sentence. */
export function whyItEnded(run: RunPicture): string {
  const { plan } = run.line ?? {}
  if (plan !== undefined) {
    const history = plan.history === 0 ? '' : ` and ${grouped(plan.history)} of history`
    return `A run with ${count(plan.input, 'message')} of input${history} goes through these. Nothing was called.`
  }
  const models = callCounts(run, 'model').all
  const toolCalls = callCounts(run, 'tool').all
  const after =
    models === 0
      ? 'before any model call'
      : `after ${count(models, 'model call')}${toolCalls === 0 ? '' : ` and ${count(toolCalls, 'tool call')}`}`
  const { block, reason, error } = run.end ?? {}
  const told = reason?.text === undefined ? '' : `: ${reason.text}`
  switch (statusOf(run)) {
    case 'completed':
      return models === 0
        ? 'A middleware answered before any model call.'
        : `The model answered ${after}.`
    case 'blocked':
      return block === undefined
        ? `A guardrail blocked the run ${after}.`
        : `The guardrail ${block['guardrail']} blocked the ${block['stage']} ${after} (${block['category']}).`
    case 'terminated':
      return `A middleware ended the run ${after}${told}.`
    case 'budget_exhausted':
      return `The budget was used up ${after}${told}.`
    case 'max_iterations':
      return `The run reached its limit of iterations ${after}.`
    case 'paused':
      return `The run waits for an answer ${after}.`
    case 'aborted':
      return `The run was aborted ${after}.`
    case 'failed':
      return `The run failed ${after}${error === undefined ? '' : ` (${error})`}.`
    default:
      return `The recording ends ${after}: the run still works, or was cut off.`
  }
}
