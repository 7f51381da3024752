import type { FunctionInvocationContext, FunctionMiddleware } from '@lamella/core'
import { errorType, exitOf } from '@lamella/core/authoring'
import type { AuditFacts } from '../record/audit-record.ts'
import type { RunAudit } from './run-audit.ts'

/** Creates the middleware around a tool call: records the approval, the start and the result. */
export function toolPart(audit: RunAudit): FunctionMiddleware['process'] {
  return async (context, callNext) => {
    const { callId, arguments: args } = context
    const tool = context.function.name
    const start = audit.trail.clock.now()
    const approved = recordApproval(audit, context)
    // Awaits only a promise: parallel tool calls keep their order.
    if (approved !== undefined) await approved
    if (!audit.records('tool')) {
      await callNext()
      return
    }
    // Recorded before the call has any effect.
    const begun = audit.record('tool.call', context, () => ({
      tool,
      callId,
      arguments: audit.content('arguments', context, () => args),
    }))
    if (begun !== undefined) await begun
    const facts = (status: string): AuditFacts => ({
      tool,
      callId,
      status,
      executed: context.executed,
      elapsedMs: audit.trail.clock.now() - start,
    })
    let result: Awaited<ReturnType<typeof callNext>>
    try {
      result = await callNext()
    } catch (error) {
      const status = exitOf(error, context.signal)
      const isFault = status === 'failed' || status === 'aborted'
      await audit.recordFailure('tool.result', context, () => ({
        ...facts(status),
        error: isFault ? errorType(error) : undefined,
        message: audit.content('errors', context, () => String(error)),
      }))
      throw error
    }
    const { error, value, contents } = result
    const ended = audit.record('tool.result', context, () => ({
      ...facts(error === undefined ? 'completed' : 'failed'),
      error: error?.code,
      message: audit.content('errors', context, () => error?.message),
      result: audit.content('results', context, () => value ?? contents),
    }))
    if (ended !== undefined) await ended
  }
}

/** Records that a person approved the tool call. */
function recordApproval(audit: RunAudit, context: FunctionInvocationContext): void | Promise<void> {
  const { approval } = context.metadata as {
    approval?: {
      readonly approved?: boolean
      readonly arguments?: unknown
      readonly reason?: string
    }
  }
  if (approval?.approved !== true || !audit.records('approval')) return undefined
  return audit.record('approval.decided', context, () => ({
    approved: true,
    tool: context.function.name,
    callId: context.callId,
    edited: approval.arguments !== undefined,
    reason: audit.content('errors', context, () => approval.reason),
  }))
}
