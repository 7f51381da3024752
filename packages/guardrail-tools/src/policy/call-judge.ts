import type { FunctionInvocationContext, RunContext, Tool } from '@lamella/core'
import { callCounts } from './call-counts.ts'
import type { Ruling } from './policy-ruling.ts'
import { recordedCall, writtenArguments } from './recorded-call.ts'
import type { PolicyCall, ToolPolicyOptions } from './tool-policy-options.ts'
import { describedArguments } from './unknown-arguments.ts'

/** Makes the judge of a call that is about to run: described arguments, the policy, an approval, and counts. */
export function callJudge(
  options: ToolPolicyOptions,
  rule: (call: PolicyCall, run: RunContext) => Promise<Ruling>,
  isJudged: (run: RunContext) => boolean,
): (context: FunctionInvocationContext, run: RunContext) => Promise<Ruling> {
  const { unknownArguments = 'reject' } = options
  const overLimit = callCounts(options, isJudged)
  return async (context, run) => {
    const { function: tool, callId, metadata } = context
    const decision = metadata['approval'] as { readonly arguments?: unknown } | undefined
    const written = recordedCall(run, callId)
    const given = decision?.arguments ?? (written && writtenArguments(written))
    const unknown = unknownArguments === 'allow' ? [] : unknownIn(tool, given ?? context.arguments)
    if (unknown.length > 0 && unknownArguments === 'reject') {
      const reason = `there is no argument ${unknown.join(', ')}`
      return { action: 'deny', category: 'unknown_argument', reason }
    }
    const args =
      unknown.length > 0
        ? describedArguments(context.arguments, tool.jsonSchema).arguments
        : context.arguments
    const call = { tool, callId, arguments: args }
    const ruling = await rule(call, run)
    if (ruling.action === 'deny') return ruling
    if (ruling.action === 'ask' && decision === undefined) {
      return { action: 'deny', category: 'approval_missing', reason: 'a person has to allow it' }
    }
    const reason = await overLimit(call, run)
    if (reason !== undefined) return { action: 'deny', category: 'limit', reason }
    const changed = ruling.arguments ?? (unknown.length > 0 ? args : undefined)
    return { ...ruling, arguments: changed }
  }
}

function unknownIn({ jsonSchema, argumentAliases }: Tool, given: unknown): readonly string[] {
  const { properties } = jsonSchema
  const schema = properties
    ? { ...jsonSchema, properties: { ...properties, ...argumentAliases } }
    : jsonSchema
  return describedArguments(given as Readonly<Record<string, unknown>>, schema).unknown
}
