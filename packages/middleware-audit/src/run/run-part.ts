import { explain } from '@lamella/core'
import type {
  AgentContext,
  AgentInfo,
  AgentMiddleware,
  AgentResponse,
  Block,
  PendingRequest,
} from '@lamella/core'
import { errorType, exitOf, usageSince } from '@lamella/core/authoring'
import type { AuditFacts } from '../record/audit-record.ts'
import { said } from './captured-content.ts'
import type { RunAudit } from './run-audit.ts'
import { answeredCalls } from './run-audit.ts'

/** Creates the middleware around a run: records its start and its end. */
export function runPart(audit: RunAudit): AgentMiddleware['process'] {
  return async (context, callNext) => {
    const { run } = context
    const start = audit.trail.clock.now()
    const usageBefore = run.usage
    const answered = answeredCalls(context)
    const spent = (): AuditFacts => ({
      elapsedMs: audit.trail.clock.now() - start,
      usage: usageSince(run.usage, usageBefore),
      attempts: run.attempts.length || undefined,
    })
    await audit.record('run.start', context, () => startFacts(audit, context))
    const unobserve = audit.observe(context)

    let response: AgentResponse
    try {
      response = await callNext()
    } catch (error) {
      unobserve()
      // The run keeps this error, also if recording it fails.
      await recordFailure(audit, context, error, { answered, spent }).catch(() => {})
      throw error
    }
    unobserve()
    await audit.refused(context, answered)
    await audit.requested(context, response.pending)
    await audit.record('run.end', context, () => ({
      ...spent(),
      status: response.status,
      finishReason: response.finishReason,
      reason: audit.content('errors', context, () => response.reason),
      block: response.block && blockFacts(response.block),
      output: audit.content('output', context, () => said(response.messages)),
    }))
    await audit.finish(context)
  }
}

function startFacts(audit: RunAudit, context: AgentContext): AuditFacts {
  const { agent, messages, instructions, stream } = context
  return {
    streamed: stream,
    messages: messages.length,
    middlewares: middlewaresOf(agent),
    versions: audit.options.versions,
    input: audit.content('input', context, () => said(messages)),
    instructions: audit.content('instructions', context, () => instructions),
  }
}

const known = new WeakMap<AgentInfo, AuditFacts>()

/** Names of an agent's middleware, which never change. */
function middlewaresOf(agent: AgentInfo): AuditFacts {
  const before = known.get(agent)
  if (before !== undefined) return before
  const { agent: run, chat, function: call } = explain(agent, '')
  const middlewares = { agent: run, chat, function: call }
  known.set(agent, middlewares)
  return middlewares
}

async function recordFailure(
  audit: RunAudit,
  context: AgentContext,
  error: unknown,
  of: { readonly answered: ReadonlySet<string>; readonly spent: () => AuditFacts },
): Promise<void> {
  const { answered, spent } = of
  const status = exitOf(error, context.signal)
  await audit.refused(context, answered)
  if (status === 'paused') {
    await audit.requested(context, (error as { requests: readonly PendingRequest[] }).requests)
  }
  const message = (): unknown => audit.content('errors', context, () => String(error))
  if (status === 'blocked') {
    const { block } = error as { block: Block }
    await audit.record('run.blocked', context, () => ({ ...spent(), block: blockFacts(block) }))
  } else if (status === 'failed' || status === 'aborted') {
    const type = errorType(error)
    await audit.record('run.error', context, () => ({
      ...spent(),
      status,
      error: type,
      message: message(),
    }))
  } else {
    await audit.record('run.end', context, () => ({ ...spent(), status, reason: message() }))
  }
  await audit.finish(context)
}

/** Returns the facts of a block without the sentence for the user. */
function blockFacts({ guardrail, level, stage, category }: Block): AuditFacts {
  return { guardrail, level, stage, category }
}
