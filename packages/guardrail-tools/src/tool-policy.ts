import type {
  AgentMiddleware,
  FunctionMiddleware,
  GuardSubject,
  CheckContext,
  Verdict,
  FunctionInvocationContext,
  RunContext,
  Tool,
} from '@lamella/core'
import { guardrail, GuardrailTripped } from '@lamella/core'
import { agentLayer, gateApprovals, interceptLoop } from '@lamella/core/authoring'
import { approvalCheck } from './approval-check.ts'
import { approvalGate } from './approval-gate.ts'
import { callCounts } from './call-counts.ts'
import type { Ruling } from './policy-ruling.ts'
import { driftOf, policyRuling } from './policy-ruling.ts'
import { recordedArguments } from './recorded-call.ts'
import type { ToolPolicyOptions } from './tool-policy-options.ts'
import { checkToolPolicy } from './tool-policy-options.ts'
import { describedArguments } from './unknown-arguments.ts'

/**
 * Decides which tools may be called, with which arguments, how often, and for which a person is asked.
 * @throws TypeError or RangeError that names the option and the value
 */
export function toolPolicy(
  options: ToolPolicyOptions = {},
): readonly (AgentMiddleware | FunctionMiddleware)[] {
  checkToolPolicy(options)
  const { name = 'tool-policy', mode, onDeny = 'reject', unknownTool, blockMessage } = options
  if (mode === 'off') return []
  const rule = policyRuling(options)
  const drifted = driftOf(options)
  const judge = callJudge(options, rule)

  const atAgent = agentLayer('tool-policy', { ...options, name }, async ({ run }, callNext) => {
    if (mode !== 'shadow') {
      gateApprovals(run, approvalGate(run, rule, options))
      interceptLoop(run, {
        name,
        iteration: async (_, next) => {
          for (const tool of run.tools.visible) {
            const ruling = tool.type === 'function' ? await drifted(tool) : undefined
            if (ruling?.action === 'deny') run.tools.hide(tool.name)
          }
          await next()
        },
        response: ({ response }) => {
          const isKnown = (call: { readonly name: string }) =>
            run.tools.get(call.name) !== undefined
          if (unknownTool !== 'block' || response?.functionCalls.every(isKnown)) return
          const block = { guardrail: name, level: 'chat', stage: 'output' } as const
          const message = blockMessage ?? ''
          throw new GuardrailTripped({ ...block, category: 'unknown_tool', message })
        },
      })
    }
    await callNext()
  })

  const check = async (_: GuardSubject, { layer, run }: CheckContext): Promise<Verdict> => {
    const ruling = await judge(layer as FunctionInvocationContext, run)
    const { action, category, reason, arguments: changed } = ruling
    if (action === 'deny') {
      const feedback = reason && `Reason: ${reason}.`
      return onDeny === 'block'
        ? { action: 'block', category }
        : { action: 'retry', category, feedback }
    }
    if (changed === undefined) return { action: 'allow' }
    return { action: 'replace', category, replacement: JSON.stringify(changed) }
  }
  const atCalls = guardrail({
    ...options,
    name,
    role: 'tool-policy',
    applyTo: ['arguments'],
    check,
  }) as readonly FunctionMiddleware[]
  return [atAgent, ...atCalls, approvalCheck(`${name}-approval`, options)]
}

/** Judges a call that is about to run: described arguments, the policy, an approval, and counts. */
function callJudge(
  options: ToolPolicyOptions,
  rule: (call: Parameters<ReturnType<typeof policyRuling>>[0], run: RunContext) => Promise<Ruling>,
): (context: FunctionInvocationContext, run: RunContext) => Promise<Ruling> {
  const { unknownArguments = 'reject' } = options
  const overLimit = callCounts(options)
  return async (context, run) => {
    const { function: tool, callId, metadata } = context
    const decision = metadata['approval'] as { readonly arguments?: unknown } | undefined
    const given = decision?.arguments ?? recordedArguments(run, callId)
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
