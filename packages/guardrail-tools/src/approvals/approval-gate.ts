import type { FunctionCallContent, RunContext } from '@lamella/core'
import { isControlFlow } from '@lamella/core/authoring'
import type { CallGate } from '@lamella/core/authoring'
import type { SealedCall } from './approval-seal.ts'
import { seal } from './approval-seal.ts'
import type { Ruling } from '../policy/policy-ruling.ts'
import { writtenArguments } from '../policy/recorded-call.ts'
import type { PolicyCall, ToolPolicyOptions } from '../policy/tool-policy-options.ts'

/** Data of a request that returns with the approval. */
export interface ApprovalTicket {
  readonly expiresAt: number
  readonly nonce: string
  readonly seal?: string | undefined
}

/** Key of the ticket in the `metadata` of a request. */
export const ticketKey = 'lamella.tool-policy'

/** Creates the gate for tool calls that a person has to approve. */
export function approvalGate(
  run: RunContext,
  rule: (call: PolicyCall, run: RunContext) => Promise<Ruling>,
  options: ToolPolicyOptions,
): NonNullable<CallGate['approval']> {
  const { approval = {}, clock = run.clock } = options
  const { ttlMs = 900_000, sign } = approval
  return async ({ tool, callId, arguments: args, call, asks }) => {
    let ruling: Ruling | undefined
    try {
      ruling = await rule({ tool, callId, arguments: args }, run)
    } catch (error) {
      if (isControlFlow(error, run.signal)) throw error
      // The guardrail on arguments asks again and reports the failure.
    }
    if (!asks && ruling?.action !== 'ask') return false
    const ticket = { expiresAt: clock.now() + ttlMs, nonce: run.ids.createSecretId('nonce') }
    const signed = sign && (await seal(sealedCall(run, tool.name, call, ticket, options), sign[0]!))
    const metadata = { [ticketKey]: { ...ticket, ...(signed && { seal: signed }) } }
    return { metadata, ...(ruling?.reason && { reason: ruling.reason }) }
  }
}

/** Returns the signed data: the tool call as the model wrote it, its scope and its expiry. */
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
    agent: run.agentName ?? '',
    tenant: run.tenant,
    principal: run.principal,
    subject: approval.subject?.(run) ?? '',
    expiresAt,
    nonce,
  }
}
