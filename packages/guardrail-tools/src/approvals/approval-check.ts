import type {
  FunctionCallContent,
  FunctionInvocationContext,
  FunctionMiddleware,
} from '@lamella/core'
import type { GuardrailEvent } from '@lamella/guardrail'
import { errorResult, LamellaError, memoryStore } from '@lamella/core'
import { storeNamespace, perStore } from '@lamella/store'
import {
  defineFunctionMiddleware,
  reporter,
  systemClock,
  withinStoreTime,
} from '@lamella/core/authoring'
import type { ApprovalTicket } from './approval-gate.ts'
import { sealedCall, ticketKey } from './approval-gate.ts'
import { isSealed } from './approval-seal.ts'
import { approvalRequest } from '../policy/recorded-call.ts'
import type { ToolPolicyOptions } from '../policy/tool-policy-options.ts'

/** Creates the middleware that runs an approved tool call: unchanged, in time, and once. */
export function approvalCheck(name: string, options: ToolPolicyOptions): FunctionMiddleware {
  const { approval = {}, clock = systemClock, mode, onEvent } = options
  const { ttlMs = 900_000, sign, edit = true, storeTimeoutMs: timeoutMs = 2000 } = approval
  const storeOf = perStore(
    approval.store,
    (store) => store ?? memoryStore({ clock, maxEntries: 100_000 }),
  )
  const report = reporter<GuardrailEvent>('guardrail', onEvent)

  /** Returns the fault of an approval. */
  const problemOf = async (
    context: FunctionInvocationContext,
    ticket: ApprovalTicket | undefined,
    isEdited: boolean,
  ): Promise<string | undefined> => {
    if (isEdited && !edit) return 'approval_edited'
    if (ticket === undefined) return sign === undefined ? undefined : 'approval_unsigned'
    // The call that core runs, not the call that the conversation shows for the id.
    const written = context.metadata['call'] as FunctionCallContent
    const call = sealedCall(context.run, context.function.name, written, ticket, options)
    if (sign && !(await isSealed(call, ticket.seal, sign))) return 'approval_forged'
    return clock.now() < ticket.expiresAt ? undefined : 'approval_expired'
  }

  return defineFunctionMiddleware(
    'tool-policy',
    { ...options, name },
    async (context, callNext) => {
      const decision = context.metadata['approval'] as { readonly arguments?: unknown } | undefined
      if (decision === undefined || mode === 'shadow') {
        await callNext()
        return
      }
      const { metadata } = approvalRequest(context.run, context.callId) ?? {}
      const ticket = metadata?.[ticketKey] as ApprovalTicket | undefined
      let problem = await problemOf(context, ticket, decision.arguments !== undefined)
      const { tenant, principal } = context.run
      const store = storeNamespace(storeOf(context.run), { name: 'tool-policy', tenant, principal })
      const key = ticket && `approval:${ticket.nonce}`
      if (problem === undefined && key !== undefined) {
        const claimed = store.compareAndSet(key, undefined, true, { ttlMs: 2 * ttlMs })
        const { signal } = context
        const isFirst = await withinStoreTime(claimed, { clock: systemClock, timeoutMs, signal })
        if (!isFirst) problem = 'approval_used'
      }
      if (problem !== undefined) {
        report(context.run, {
          guardrail: name,
          stage: 'arguments',
          status: 'retry',
          category: problem,
        })
        context.result = errorResult('denied', problem, sentences[problem])
        return
      }
      try {
        await callNext()
      } catch (error) {
        // The tool call is not finished: it continues with the run.
        if (key !== undefined && LamellaError.is(error, 'run_paused')) await store.delete(key)
        throw error
      }
    },
  )
}

const sentences: Readonly<Record<string, string>> = {
  approval_edited: 'The arguments may not be edited.',
  approval_unsigned: 'The approval is not signed.',
  approval_forged: 'The approval is not for this call.',
  approval_expired: 'The approval has expired. Call the tool again to ask anew.',
  approval_used: 'The approval was used before.',
}
