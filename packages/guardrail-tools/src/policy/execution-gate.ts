import type { FunctionInvocationContext, RunContext } from '@lamella/core'
import type { GuardrailEvent } from '@lamella/guardrail'
import { errorResult, GuardrailTripped } from '@lamella/core'
import type { CallGate } from '@lamella/core/authoring'
import { isControlFlow, reporter, unlessAborted } from '@lamella/core/authoring'
import type { Ruling } from './policy-ruling.ts'
import type { PolicyCall, ToolPolicyOptions } from './tool-policy-options.ts'

/** Arguments that the policy has allowed, by the metadata of the tool call. */
const judged = new WeakMap<Record<string, unknown>, unknown>()

/** Notes that the tool call is allowed with these arguments. */
export function noteJudged({ metadata, arguments: args }: FunctionInvocationContext): void {
  judged.set(metadata, args)
}

/**
 * Creates the gate that judges a tool call directly before its tool runs, after middleware inside the policy
 * has changed the arguments.
 */
export function executionGate(
  rule: (call: PolicyCall, run: RunContext) => Promise<Ruling>,
  options: ToolPolicyOptions,
): NonNullable<CallGate['execution']> {
  const { name = 'tool-policy', onDeny = 'reject', onError = 'closed', blockMessage } = options
  const report = reporter<GuardrailEvent>('guardrail', options.onEvent)

  const rulingOf = async (context: FunctionInvocationContext): Promise<Ruling> => {
    const { function: tool, callId, arguments: args, metadata, run } = context
    const ruling = await rule({ tool, callId, arguments: args }, run)
    return ruling.action === 'ask' && metadata['approval'] === undefined
      ? { action: 'deny', category: 'approval_missing', reason: 'a person has to allow it' }
      : ruling
  }

  return async (context) => {
    if (judged.get(context.metadata) === context.arguments) return undefined
    let ruling: Ruling
    try {
      ruling = await unlessAborted(context.signal, rulingOf(context))
    } catch (error) {
      if (isControlFlow(error, context.signal)) throw error
      const event = { guardrail: name, stage: 'arguments', status: 'error' } as const
      report(context.run, { ...event, category: 'guardrail_error' })
      if (onError === 'open') return undefined
      ruling = { action: 'deny', category: 'guardrail_error' }
    }
    const { action, category, reason } = ruling
    if (action !== 'deny') return undefined
    const isBlock = onDeny === 'block' || category === 'guardrail_error'
    const status = isBlock ? 'blocked' : 'retry'
    report(context.run, { guardrail: name, stage: 'arguments', status, category })
    if (!isBlock) return errorResult('denied', category, reason && `Reason: ${reason}.`)
    const level = 'function'
    const message = blockMessage ?? ''
    throw new GuardrailTripped({ guardrail: name, level, stage: 'arguments', category, message })
  }
}
