import type { RunStatus, Schema } from '@lamella/core'
import {
  canonicalJson,
  checkOptions,
  formatIssues,
  isObject,
  validate,
} from '@lamella/core/authoring'
import type { EvaluationCase } from '../cases/evaluation-case.ts'
import type { EvaluatedRun, EvaluatedToolCall } from '../runs/evaluated-run.ts'

/** A requirement that every run must meet. */
export interface Check {
  /** Name in tables and reports, unique in an evaluation. */
  readonly name: string
  /**
   * Returns true if the run passes, false or the reason if it fails, and `undefined` if the check does not
   * apply to its case. A check that throws fails.
   */
  run(run: EvaluatedRun): CheckResult | Promise<CheckResult>
}

/** Result of a check: passed, failed, failed for a reason, or not applicable. */
export type CheckResult = boolean | string | undefined

/**
 * A value, or a function that reads it from the case. If the function returns `undefined`, the check does
 * not apply to the case.
 */
export type Given<Value> = Value | ((of: EvaluationCase) => unknown)

/**
 * Creates a check from a function.
 * @throws TypeError that names the value
 * @example
 * ```ts
 * import { check } from '@lamella/evals'
 *
 * const short = check('short', ({ text }) => text.length < 400 || `has ${text.length} characters`)
 * console.log(short.name) // short
 * ```
 */
export function check(name: string, run: Check['run']): Check {
  const own: Check = { name, run }
  checkOptions('check', own, { name: 'string', run: 'function' })
  return own
}

/** Requires a call of the tool; with `times`, exactly that many. */
export function calledTool(
  tool: Given<string>,
  { times }: { readonly times?: number | undefined } = {},
): Check {
  return check(nameOf('calledTool', tool), (run) => {
    const name = textFor('calledTool', tool, run)
    if (name === undefined) return undefined
    const found = callsOf(run, name).length
    if (times === undefined ? found > 0 : found === times) return true
    return `${name} was called ${count(found)}, called were ${listed(run.toolCalls)}`
  })
}

/** Requires that the tool is not called; without a name, that no tool is. */
export function notCalledTool(tool?: Given<string>): Check {
  return check(nameOf('notCalledTool', tool), (run) => {
    if (tool === undefined)
      return run.toolCalls.length === 0 || `called were ${listed(run.toolCalls)}`
    const name = textFor('notCalledTool', tool, run)
    if (name === undefined) return undefined
    const found = callsOf(run, name).length
    return found === 0 || `${name} was called ${count(found)}`
  })
}

/**
 * Requires a call of the tool with these arguments. An object is contained in them: other arguments may
 * be there. A function judges them.
 */
export function argumentsMatch(
  tool: string,
  wanted:
    | Readonly<Record<string, unknown>>
    | ((args: Readonly<Record<string, unknown>>, of: EvaluationCase) => boolean | undefined),
): Check {
  return check(`argumentsMatch ${tool}`, (run) => {
    const calls = callsOf(run, tool)
    const fits = ({ arguments: args }: EvaluatedToolCall): boolean | undefined =>
      typeof wanted === 'function' ? wanted(args, run.case) : contains(args, wanted)
    const results = calls.map(fits)
    if (calls.length > 0 && results.every((result) => result === undefined)) return undefined
    if (results.includes(true)) return true
    if (calls.length === 0) return `${tool} was not called`
    return `${tool} was called with ${calls.map((call) => JSON.stringify(call.arguments)).join(' and ')}`
  })
}

/** Requires calls of these tools in this order. Other calls may be in between. */
export function calledInOrder(tools: Given<readonly string[]>): Check {
  return check('calledInOrder', (run) => {
    const names = given(tools, run)
    if (names === undefined) return undefined
    if (!Array.isArray(names)) throw wrongValue('calledInOrder', 'a list of names', run)
    let next = 0
    for (const { name } of run.toolCalls) if (name === names[next]) next++
    return (
      next === names.length || `${names[next]} is missing, called were ${listed(run.toolCalls)}`
    )
  })
}

/** Requires that no tool call failed. */
export function noToolErrors(): Check {
  return check('noToolErrors', ({ toolCalls }) => {
    const failed = toolCalls.filter(({ error }) => error !== undefined)
    return (
      failed.length === 0 || failed.map(({ name, error }) => `${name} failed: ${error}`).join(', ')
    )
  })
}

/**
 * Requires that the answer includes a text, in any case of letters.
 * @example
 * ```ts
 * import { includes } from '@lamella/evals'
 *
 * const checks = [includes('Monday'), includes(({ expected }) => expected)]
 * console.log(checks[0]?.name) // includes Monday
 * ```
 */
export function includes(text: Given<string>): Check {
  return check(nameOf('includes', text), (run) => {
    const wanted = textFor('includes', text, run)
    if (wanted === undefined) return undefined
    return (
      run.text.toLowerCase().includes(wanted.toLowerCase()) || `"${wanted}" is not in the answer`
    )
  })
}

/** Requires that the answer matches a regular expression, or is JSON that a schema accepts. */
export function matches(wanted: RegExp | Schema): Check {
  if (wanted instanceof RegExp)
    return check(`matches ${wanted}`, ({ text }) => text.search(wanted) >= 0 || 'it does not match')
  return check('matches a schema', async ({ text, responses }) => {
    let value: unknown = responses.at(-1)?.value
    try {
      value ??= JSON.parse(text)
    } catch {
      return 'the answer is no JSON'
    }
    const { issues } = await validate(wanted, value)
    return issues === undefined || formatIssues(issues)
  })
}

/** Requires the status of the last turn. */
export function statusIs(status: Given<RunStatus>): Check {
  return check(nameOf('statusIs', status), (run) => {
    const wanted = textFor('statusIs', status, run)
    if (wanted === undefined) return undefined
    return wanted === run.status || `it is ${run.status}`
  })
}

/** Requires that the guardrail with this name blocked the last turn; without a name, any guardrail. */
export function blockedBy(guardrail?: Given<string>): Check {
  return check(nameOf('blockedBy', guardrail), (run) => {
    const wanted = guardrail === undefined ? '' : textFor('blockedBy', guardrail, run)
    if (wanted === undefined) return undefined
    const by = run.block?.guardrail
    if (by === undefined) return `it is ${run.status}`
    return wanted === '' || by === wanted || `it was blocked by ${by}`
  })
}

/**
 * Requires that a run costs at most so many US dollars. Needs the option `prices`.
 * @throws RangeError for what is no amount
 */
export function costAtMost(usd: number): Check {
  checkAmount('costAtMost', usd)
  return check(`costAtMost ${usd}`, ({ costUsd }) => {
    if (costUsd === undefined) return 'the cost is unknown: `evaluate` has no `prices`'
    return costUsd <= usd || `it cost ${costUsd.toFixed(6)} US dollars`
  })
}

/**
 * Requires that the agent takes at most so many milliseconds, in all turns together.
 * @throws RangeError for what is no amount
 */
export function latencyAtMost(ms: number): Check {
  checkAmount('latencyAtMost', ms)
  return check(
    `latencyAtMost ${ms}`,
    ({ elapsedMs }) => elapsedMs <= ms || `it took ${Math.round(elapsedMs)} ms`,
  )
}

function checkAmount(owner: string, amount: number): void {
  if (!Number.isFinite(amount) || amount < 0)
    throw new RangeError(`${owner}: expected a number from 0 up, got ${amount}`)
}

function nameOf(kind: string, value: unknown): string {
  return typeof value === 'string' ? `${kind} ${value}` : kind
}

function given<Value>(value: Given<Value>, { case: of }: EvaluatedRun): unknown {
  return typeof value === 'function' ? (value as (of: EvaluationCase) => unknown)(of) : value
}

function textFor(owner: string, value: Given<string>, run: EvaluatedRun): string | undefined {
  const text = given(value, run)
  if (text !== undefined && typeof text !== 'string') throw wrongValue(owner, 'a text', run)
  return text
}

function wrongValue(owner: string, wish: string, { case: of }: EvaluatedRun): TypeError {
  return new TypeError(`${owner} needs ${wish} for case "${of.id}"`)
}

function callsOf({ toolCalls }: EvaluatedRun, name: string): EvaluatedToolCall[] {
  return toolCalls.filter((call) => call.name === name)
}

function listed(calls: readonly EvaluatedToolCall[]): string {
  return calls.length === 0 ? 'none' : calls.map(({ name }) => name).join(', ')
}

function count(times: number): string {
  return times === 1 ? 'once' : `${times} times`
}

/** Tells if a value has everything that another one has; lists are equal. */
function contains(value: unknown, part: unknown): boolean {
  if (!isObject(part) || Array.isArray(part)) return canonicalJson(value) === canonicalJson(part)
  return (
    isObject(value) &&
    Object.entries(part).every(
      ([key, inner]) => Object.hasOwn(value, key) && contains(value[key], inner),
    )
  )
}
