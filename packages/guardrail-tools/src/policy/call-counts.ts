import type { RunContext, StateCell } from '@lamella/core'
import { defineState } from '@lamella/core'
import { canonicalJson, sha256 } from '@lamella/core/authoring'
import { nameGlob } from '../rules/name-glob.ts'
import type { PolicyCall, ToolPolicyOptions } from './tool-policy-options.ts'

type Counts = Readonly<Record<string, readonly string[]>>

/** Ids of the calls of a run, by what they count for. A call that is entered again counts once. */
const callsOf: StateCell<Counts> = defineState<Counts>({
  name: 'lamella.tool-policy.calls',
  initial: () => ({}),
  schema: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } },
})

/** Makes the count of calls. It says which limit a call is over, if any. */
export function callCounts({
  name = 'tool-policy',
  repeatLimit = 3,
  maxCalls = {},
}: ToolPolicyOptions): (call: PolicyCall, run: RunContext) => Promise<string | undefined> {
  const limits = Object.entries(maxCalls).map(([glob, max]) => ({
    glob,
    max,
    isOf: nameGlob([glob]),
  }))
  return async ({ tool, callId, arguments: args }, run) => {
    const same = await sha256(canonicalJson([tool.name, args]))
    const count = (what: string): number => {
      const key = `${name} ${what}`
      const ids = run.state.get(callsOf)[key] ?? []
      if (ids.includes(callId)) return ids.indexOf(callId) + 1
      run.state.update(callsOf, (all) => ({ ...all, [key]: [...ids, callId] }))
      return ids.length + 1
    }
    for (const { glob, max, isOf } of limits) {
      if (isOf(tool.name) && count(`max ${glob}`) > max) return `${glob} may be called ${max} times`
    }
    if (count(`same ${same}`) <= repeatLimit) return undefined
    return `it was called ${repeatLimit} times with the same arguments`
  }
}
