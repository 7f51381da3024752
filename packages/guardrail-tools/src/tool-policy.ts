import type {
  AgentMiddleware,
  FunctionInvocationContext,
  FunctionMiddleware,
  RunContext,
} from '@lamella/core'
import type { IterationContext } from '@lamella/core/authoring'
import type { CheckContext, GuardrailSubject, Verdict } from '@lamella/guardrail'
import { guardrail, guardrailOptions } from '@lamella/guardrail'
import { GuardrailTripped, LamellaError } from '@lamella/core'
import { defineAgentMiddleware, interceptLoop, reporter } from '@lamella/core/authoring'
import { approvalCheck } from './approvals/approval-check.ts'
import { approvalGate } from './approvals/approval-gate.ts'
import { executionGate, noteJudged } from './policy/execution-gate.ts'
import { callJudge } from './policy/call-judge.ts'
import { driftOf, policyRuling } from './policy/policy-ruling.ts'
import type { ToolPolicyEvent, ToolPolicyOptions } from './policy/tool-policy-options.ts'
import { checkToolPolicy } from './policy/tool-policy-options.ts'
import { unmatchedNames, unmatchedText } from './policy/unmatched-names.ts'

/**
 * Decides which tools may be called, with which arguments, how often, and which calls a person has to approve.
 * @example
 * ```ts
 * import { Agent, jsonSchema, tool } from '@lamella/core'
 * import { ask, range, toolPolicy } from '@lamella/guardrail-tools'
 * import { callFunction, scriptedClient } from '@lamella/testing'
 *
 * const pay = tool({
 *   name: 'pay',
 *   description: 'Pays an amount in euros.',
 *   parameters: jsonSchema({ type: 'object', properties: { amount: { type: 'number' } } }),
 *   execute: ({ amount }) => `paid ${String(amount)}`,
 * })
 * const agent = new Agent({
 *   client: scriptedClient([callFunction('pay', { amount: 500 })]),
 *   tools: [pay],
 *   middleware: toolPolicy({ allow: ['pay'], rules: { pay: { amount: ask(range({ max: 100 })) } } }),
 * })
 *
 * console.log((await agent.run('Pay 500.')).status) // paused
 * ```
 * @throws TypeError or RangeError that names the option and the value
 */
export function toolPolicy(
  options: ToolPolicyOptions = {},
): readonly (AgentMiddleware | FunctionMiddleware)[] {
  checkToolPolicy(options)
  const { name = 'tool-policy', mode, onDeny = 'reject', unknownTool, blockMessage } = options
  if (mode === 'off') return []
  const rule = policyRuling(options)
  const runs = new WeakSet<RunContext>()
  const judge = callJudge(options, rule, (run) => runs.has(run))

  const atAgent = defineAgentMiddleware(
    'tool-policy',
    { ...options, name },
    async ({ run }, callNext) => {
      runs.add(run)
      if (mode !== 'shadow') {
        run.gateCalls({
          approval: approvalGate(run, rule, options),
          execution: executionGate(rule, options),
        })
        if (options.pinned) interceptLoop(run, { name, iteration: hideDrifted(options) })
        if (unknownTool === 'block') interceptLoop(run, { name, response: blockUnknown })
      }
      // Sub-agents inherit the policy, and have other tools.
      const isOwn = run.parent === undefined || !runs.has(run.parent)
      if (isOwn) interceptLoop(run, { name, iteration: tellUnmatched })
      await callNext()
    },
  )
  const report = reporter<ToolPolicyEvent>('tool_policy', undefined)
  /** Before the first model call, when all agent middleware has added its tools. */
  const tellUnmatched = async (
    { run, iteration }: IterationContext,
    next: () => Promise<void>,
  ): Promise<void> => {
    const unmatched = iteration > 0 ? [] : unmatchedNames(options, toolNames(run.tools))
    if (unmatched.length > 0 && options.strict === true && mode !== 'shadow') {
      throw new LamellaError(unmatchedText(name, unmatched).join('; '), {
        code: 'policy_unmatched',
      })
    }
    for (const one of unmatched) report(run, { policy: name, status: 'unmatched', ...one })
    await next()
  }
  const blockUnknown = ({ run, response }: IterationContext): void => {
    const calls = response?.functionCalls ?? []
    if (calls.every((call) => run.tools.get(call.name) !== undefined)) return
    const block = { guardrail: name, level: 'chat', stage: 'output' } as const
    throw new GuardrailTripped({ ...block, category: 'unknown_tool', message: blockMessage ?? '' })
  }

  const check = async (_: GuardrailSubject, { call, run }: CheckContext): Promise<Verdict> => {
    const context = call as FunctionInvocationContext
    const ruling = await judge(context, run)
    const { action, category, reason, arguments: changed } = ruling
    if (action === 'deny') {
      const feedback = reason && `Reason: ${reason}.`
      return onDeny === 'block'
        ? { action: 'block', category }
        : { action: 'retry', category, feedback }
    }
    if (changed === undefined) {
      noteJudged(context)
      return { action: 'allow' }
    }
    return { action: 'replace', category, replacement: JSON.stringify(changed) }
  }
  const atCalls = guardrail({
    ...guardrailOptions(options),
    name,
    role: 'tool-policy',
    applyTo: ['arguments'],
    readAs: 'raw',
    check,
  }) as readonly FunctionMiddleware[]
  const explained: AgentMiddleware = {
    ...atAgent,
    review: ({ tools }) => unmatchedText(name, unmatchedNames(options, tools)),
  }
  const middlewares = [explained, ...atCalls, approvalCheck(`${name}-approval`, options)]
  return middlewares.map((middleware) => ({ ...middleware, inherited: true }))
}

function toolNames(tools: RunContext['tools']): readonly string[] {
  return tools.executable.map((tool) => tool.name)
}

/** Creates the middleware that hides pinned tools with a changed definition. */
function hideDrifted(
  options: ToolPolicyOptions,
): (context: IterationContext, next: () => Promise<void>) => Promise<void> {
  const drifted = driftOf(options)
  return async ({ run }, next) => {
    for (const tool of run.tools.visible) {
      const ruling = tool.type === 'function' ? await drifted(tool) : undefined
      if (ruling?.action === 'deny') run.tools.hide(tool.name)
    }
    await next()
  }
}
