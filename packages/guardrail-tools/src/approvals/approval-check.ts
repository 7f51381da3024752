import type {
  FunctionCallContent,
  FunctionInvocationContext,
  FunctionMiddleware,
  KeyValueStore,
  RunContext,
} from '@lamella/core'
import type { GuardrailEvent } from '@lamella/guardrail'
import { errorResult, LamellaError, memoryStore } from '@lamella/core'
import { storeNamespace, perStore } from '@lamella/store'
import {
  defineFunctionMiddleware,
  perRun,
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
  const { approval = {}, clock: own, mode, onEvent } = options
  const { ttlMs = 900_000, sign, edit = true, storeTimeoutMs: timeoutMs = 2000 } = approval
  const storeOf = perStore(
    approval.store,
    (store) => store ?? memoryStore({ clock: own, maxEntries: 100_000 }),
  )
  const report = reporter<GuardrailEvent>('guardrail', onEvent)
  const claimsOf = perRun((): Claims => ({ used: new Set() }))

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
    const { clock } = context.run
    return (own ?? clock).now() < ticket.expiresAt ? undefined : 'approval_expired'
  }

  /** Claims an approval. Resolves to false if it was used before. */
  async function claim(
    store: KeyValueStore,
    key: string,
    { ids }: RunContext,
    claims: Claims,
  ): Promise<boolean> {
    if (claims.used.has(key)) return false
    claims.used.add(key)
    // Each pass of a durable run makes the same id, and so finds its own claims.
    const owner = (claims.owner ??= ids.createSecretId('claim'))
    const isFirst = await store.compareAndSet(key, undefined, owner, { ttlMs: 2 * ttlMs })
    return isFirst || (await store.get(key)) === owner
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
        const { signal } = context
        const isFirst = claim(store, key, context.run, claimsOf(context.run))
        const inTime = { clock: systemClock, timeoutMs, signal }
        if (!(await withinStoreTime(isFirst, inTime))) problem = 'approval_used'
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
        if (key !== undefined && LamellaError.is(error, 'run_paused')) {
          claimsOf(context.run).used.delete(key)
          await store.delete(key)
        }
        throw error
      }
    },
  )
}

/** Approvals that a run has used. */
interface Claims {
  readonly used: Set<string>
  /** Makes the approvals theirs. */
  owner?: string
}

const sentences: Readonly<Record<string, string>> = {
  approval_edited: 'The arguments may not be edited.',
  approval_unsigned: 'The approval is not signed.',
  approval_forged: 'The approval is not for this call.',
  approval_expired: 'The approval has expired. Call the tool again to ask anew.',
  approval_used: 'The approval was used before.',
}
