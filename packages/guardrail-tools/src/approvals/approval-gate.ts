import type { FunctionCallContent, RunContext } from '@lamella/core'
import { createSecretId } from '@lamella/core'
import type { ApprovalGate } from '@lamella/core/authoring'
import { isControlFlow, systemClock } from '@lamella/core/authoring'
import type { SealedCall } from './approval-seal.ts'
import { seal } from './approval-seal.ts'
import type { Ruling } from '../policy/policy-ruling.ts'
import { writtenArguments } from '../policy/recorded-call.ts'
import type { PolicyCall, ToolPolicyOptions } from '../policy/tool-policy-options.ts'

/** What goes with a request, and comes back with the approval. */
export interface ApprovalTicket {
  readonly expiresAt: number
  readonly nonce: string
  readonly seal?: string | undefined
}

/** Where a ticket is in the `metadata` of a request. */
export const ticketKey = 'lamella.tool-policy'

/** Has calls wait that a policy wants a person to decide about. */
export function approvalGate(
  run: RunContext,
  rule: (call: PolicyCall, run: RunContext) => Promise<Ruling>,
  options: ToolPolicyOptions,
): ApprovalGate {
  const { approval = {}, clock = systemClock } = options
  const { ttlMs = 900_000, sign } = approval
  return async ({ tool, callId, arguments: args, call, asks }) => {
    let ruling: Ruling | undefined
    try {
      ruling = await rule({ tool, callId, arguments: args }, run)
    } catch (error) {
      if (isControlFlow(error, run.signal)) throw error
      // The guardrail on arguments asks again, and fails in its own way.
    }
    if (!asks && ruling?.action !== 'ask') return false
    const ticket = { expiresAt: clock.now() + ttlMs, nonce: createSecretId('nonce') }
    const signed = sign && (await seal(sealedCall(run, tool.name, call, ticket, options), sign[0]!))
    const metadata = { [ticketKey]: { ...ticket, ...(signed && { seal: signed }) } }
    return { metadata, ...(ruling?.reason && { reason: ruling.reason }) }
  }
}

/** What is signed: the call as the model wrote it, where it belongs, and how long it holds. */
export function sealedCall(
  run: RunContext,
  tool: string,
  call: FunctionCallContent,
  { expiresAt, nonce }: ApprovalTicket,
  { approval = {} }: ToolPolicyOptions,
): SealedCall {
  return {
    tool,
    callId: call.callId,
    arguments: writtenArguments(call),
    scope: run.session?.id ?? run.id,
    subject: approval.subject?.(run) ?? run.tenant ?? '',
    expiresAt,
    nonce,
  }
}
