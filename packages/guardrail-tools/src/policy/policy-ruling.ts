import type { RunContext, Tool } from '@lamella/core'
import { valuesAt } from '../rules/argument-rule.ts'
import { nameGlob } from '../rules/name-glob.ts'
import { fingerprint } from './tool-fingerprint.ts'
import type { PolicyCall, PolicyDecision, ToolPolicyOptions } from './tool-policy-options.ts'

/** Decision of a policy. */
export interface Ruling {
  readonly action: 'allow' | 'deny' | 'ask'
  readonly category: string
  readonly reason?: string | undefined
  /** New arguments of the tool call. */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined
}

/** Creates the function that judges tool calls: lists, pins, rules, then the application's policy. Counts nothing. */
export function policyRuling(
  options: ToolPolicyOptions,
): (call: PolicyCall, run: RunContext) => Promise<Ruling> {
  const { allow, unlisted = allow === undefined ? 'by-effect' : 'deny', policy } = options
  const isDenied = nameGlob(options.deny ?? [])
  const isAsked = nameGlob(options.ask ?? [])
  const isAllowed = nameGlob(allow ?? [])
  const byArguments = argumentRuling(options)
  const drifted = driftOf(options)

  const byName = ({ name, readOnly }: Tool): Ruling => {
    if (isAsked(name)) return { action: 'ask', category: 'listed' }
    if (isAllowed(name)) return { action: 'allow', category: 'listed' }
    const action = unlisted === 'by-effect' ? (readOnly ? 'allow' : 'ask') : unlisted
    return { action, category: 'unlisted', reason: 'the tool is not on the list' }
  }

  return async (call, run) => {
    if (isDenied(call.tool.name)) {
      return { action: 'deny', category: 'denied_tool', reason: 'the tool may not be called' }
    }
    const found = [await drifted(call.tool), await byArguments(call)]
    const worst = found.find((one) => one?.action === 'deny') ?? found.find(Boolean)
    if (worst?.action === 'deny') return worst
    const listed = byName(call.tool)
    const before = worst !== undefined && listed.action === 'allow' ? worst : listed
    return overruled(before, await policy?.(call, run))
  }
}

/** Combines decisions: a policy may be stricter than lists and rules, and decides about unlisted tools. */
function overruled(before: Ruling, decision: PolicyDecision | undefined): Ruling {
  if (decision === undefined) return before
  const given = typeof decision === 'string' ? { action: decision } : decision
  if (given.action === 'rewrite') return { ...before, arguments: given.arguments }
  const { action } = given
  const reason = 'reason' in given ? given.reason : undefined
  const isLooser = action === 'allow' || (action === 'ask' && before.action === 'deny')
  return isLooser && before.category !== 'unlisted'
    ? before
    : { action, category: 'policy', reason }
}

/** Returns the drift of a pinned tool whose definition has changed. */
export function driftOf({
  pinned = {},
  onDrift = 'deny',
}: ToolPolicyOptions): (tool: Tool) => Promise<Ruling | undefined> {
  return async (tool) => {
    const expected = Object.hasOwn(pinned, tool.name) ? pinned[tool.name] : undefined
    if (expected === undefined || (await fingerprint(tool)) === expected) return undefined
    const reason = 'its definition is not the one that was approved'
    return { action: onDrift, category: 'definition_drift', reason }
  }
}

function argumentRuling({
  rules = {},
}: ToolPolicyOptions): (call: PolicyCall) => Promise<Ruling | undefined> {
  const all = Object.entries(rules).map(([glob, byPath]) => ({
    isOf: nameGlob([glob]),
    checks: Object.entries(byPath).flatMap(([path, given]) =>
      [given].flat().map((rule) => ({ path, rule })),
    ),
  }))
  return async ({ tool, arguments: args }) => {
    const found: Ruling[] = []
    for (const { isOf, checks } of all) {
      if (!isOf(tool.name)) continue
      for (const { path, rule } of checks) {
        for (const value of valuesAt(args, path)) {
          const problem = await rule.check(value)
          if (problem === undefined) continue
          const reason = `\`${path}\` ${problem}`
          found.push({ action: rule.otherwise ?? 'deny', category: 'argument', reason })
        }
      }
    }
    return found.find(({ action }) => action === 'deny') ?? found[0]
  }
}
