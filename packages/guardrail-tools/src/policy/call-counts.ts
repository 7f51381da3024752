import type { RunContext, StateCell } from '@lamella/core'
import { defineState, jsonSchema } from '@lamella/core'
import { canonicalJson, sha256 } from '@lamella/core/authoring'
import { nameGlob } from '../rules/name-glob.ts'
import type { PolicyCall, ToolPolicyOptions } from './tool-policy-options.ts'

type Counts = Readonly<Record<string, readonly string[]>>

/** Ids of the calls of a run, by counter. A call that runs again counts once. */
const callsOf: StateCell<Counts> = defineState<Counts>({
  name: 'lamella.tool-policy.calls',
  initial: () => ({}),
  schema: jsonSchema({
    type: 'object',
    additionalProperties: { type: 'array', items: { type: 'string' } },
  }),
})

/**
 * Creates the counter of calls. It returns the limit that a call exceeds, if any. `isJudged`
 * returns true for runs of the policy: a run and the sub-agents that inherit the policy share
 * `maxCalls`.
 */
export function callCounts(
  { name = 'tool-policy', repeatLimit = 3, maxCalls = {} }: ToolPolicyOptions,
  isJudged: (run: RunContext) => boolean,
): (call: PolicyCall, run: RunContext) => Promise<string | undefined> {
  const limits = Object.entries(maxCalls).map(([glob, max]) => ({
    glob,
    max,
    isOf: nameGlob([glob]),
  }))
  const outermostOf = (run: RunContext): RunContext =>
    run.parent !== undefined && isJudged(run.parent) ? outermostOf(run.parent) : run
  return async ({ tool, callId, arguments: args }, run) => {
    const same = await sha256(canonicalJson([tool.name, args]))
    const count = (what: string, { state }: RunContext, id: string): number => {
      const key = `${name} ${what}`
      const ids = state.get(callsOf)[key] ?? []
      if (ids.includes(id)) return ids.indexOf(id) + 1
      state.update(callsOf, (all) => ({ ...all, [key]: [...ids, id] }))
      return ids.length + 1
    }
    const outermost = outermostOf(run)
    // Providers repeat ids in other runs.
    const id = outermost === run ? callId : `${run.id} ${callId}`
    for (const { glob, max, isOf } of limits) {
      if (isOf(tool.name) && count(`max ${glob}`, outermost, id) > max)
        return `${glob} may be called ${max} times`
    }
    if (count(`same ${same}`, run, callId) <= repeatLimit) return undefined
    return `it was called ${repeatLimit} times with the same arguments`
  }
}
