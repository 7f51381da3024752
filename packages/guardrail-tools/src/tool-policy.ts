import type {
  AgentMiddleware,
  CheckContext,
  FunctionInvocationContext,
  FunctionMiddleware,
  GuardSubject,
  IterationContext,
  Verdict,
} from '@lamella/core'
import { guardrail, GuardrailTripped } from '@lamella/core'
import type { SeamLayer } from '@lamella/core/authoring'
import { agentLayer, gateApprovals, guardrailOptions, interceptLoop } from '@lamella/core/authoring'
import { approvalCheck } from './approval-check.ts'
import { approvalGate } from './approval-gate.ts'
import { callJudge } from './call-judge.ts'
import { driftOf, policyRuling } from './policy-ruling.ts'
import type { ToolPolicyOptions } from './tool-policy-options.ts'
import { checkToolPolicy } from './tool-policy-options.ts'

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
  const judge = callJudge(options, rule)

  const atAgent = agentLayer('tool-policy', { ...options, name }, async ({ run }, callNext) => {
    if (mode !== 'shadow') {
      gateApprovals(run, approvalGate(run, rule, options))
      if (options.pinned) interceptLoop(run, { name, iteration: hideDrifted(options) })
      if (unknownTool === 'block') interceptLoop(run, { name, response: blockUnknown })
    }
    await callNext()
  })
  const blockUnknown = ({ run, response }: IterationContext): void => {
    const calls = response?.functionCalls ?? []
    if (calls.every((call) => run.tools.get(call.name) !== undefined)) return
    const block = { guardrail: name, level: 'chat', stage: 'output' } as const
    throw new GuardrailTripped({ ...block, category: 'unknown_tool', message: blockMessage ?? '' })
  }

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
    ...guardrailOptions(options),
    name,
    role: 'tool-policy',
    applyTo: ['arguments'],
    check,
  }) as readonly FunctionMiddleware[]
  return [atAgent, ...atCalls, approvalCheck(`${name}-approval`, options)]
}

/** Makes the layer that shows the model no tool that has become another one. */
function hideDrifted(options: ToolPolicyOptions): SeamLayer<IterationContext> {
  const drifted = driftOf(options)
  return async ({ run }, next) => {
    for (const tool of run.tools.visible) {
      const ruling = tool.type === 'function' ? await drifted(tool) : undefined
      if (ruling?.action === 'deny') run.tools.hide(tool.name)
    }
    await next()
  }
}
