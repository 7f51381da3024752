import type {
  AgentContext,
  FunctionCallContent,
  FunctionResultContent,
  Message,
  PendingRequest,
} from '@lamella/core'
import { eventFacts, middlewareEvents, observeMiddleware } from '@lamella/core/authoring'
import type { AuditCapture, AuditedContext, AuditLogOptions } from './audit-options.ts'
import type { AuditFacts, AuditType } from '../record/audit-record.ts'
import type { AuditTrail } from './audit-trail.ts'
import { auditFailed } from './audit-trail.ts'
import { CapturedContent } from './captured-content.ts'

/** Creates the records of runs. Keeps no data of any run. */
export class RunAudit {
  readonly trail: AuditTrail
  readonly options: AuditLogOptions
  readonly #content: CapturedContent

  constructor(trail: AuditTrail, options: AuditLogOptions) {
    this.trail = trail
    this.options = options
    this.#content = new CapturedContent(options)
  }

  records(kind: 'model' | 'tool' | 'approval' | 'decision'): boolean {
    return this.options.records?.includes(kind) ?? true
  }

  /**
   * Records something about a run. Returns a promise only if the caller has to wait.
   * @throws LamellaError `audit_failed` if it cannot be recorded and `onError` is `closed`
   */
  record(type: AuditType, context: AuditedContext, facts: () => AuditFacts): void | Promise<void> {
    let all: AuditFacts
    try {
      all = { ...this.#about(context), ...facts() }
    } catch (error) {
      this.trail.failed(error)
      if (this.trail.isClosed) throw auditFailed('a record', error)
      return undefined
    }
    return this.trail.append(type, all, context.signal)
  }

  /** Records a failed call. The call keeps its own error, also if recording fails. */
  async recordFailure(
    type: AuditType,
    context: AuditedContext,
    facts: () => AuditFacts,
  ): Promise<void> {
    try {
      await this.record(type, context, facts)
    } catch {
      // Already reported.
    }
  }

  content(kind: keyof AuditCapture, context: AuditedContext, content: () => unknown): unknown {
    return this.#content.of(kind, content, this.#subject(context))
  }

  /** Records the decisions that middleware reports, until the returned function is called. */
  observe(context: AgentContext): () => void {
    const { decisions = middlewareEvents, versions = {} } = this.options
    if (!this.records('decision')) return () => {}
    return observeMiddleware(context.run, 'audit', decisions, (type, data) => {
      const written = this.record('decision', context, () => {
        const facts = eventFacts(data)
        const guardrail = String(facts['guardrail'])
        const version = Object.hasOwn(versions, guardrail) ? versions[guardrail] : undefined
        return { decision: { ...facts, type, version } }
      })
      // A failed write stops the run at its next record, or at its end.
      written?.catch(() => {})
    })
  }

  /** Records the pending requests. Their ids are credentials: only a hash is kept. */
  async requested(context: AgentContext, pending: readonly PendingRequest[]): Promise<void> {
    if (!this.records('approval')) return
    for (const request of pending) {
      await this.record('approval.requested', context, () => {
        const call = callOf(request)
        const asked = request.kind === 'interrupt' ? request.payload : call?.arguments
        return {
          kind: request.kind,
          request: this.#content.digest(request.id, this.#subject(context)),
          tool: call?.name,
          callId: call?.callId,
          arguments: this.content('arguments', context, () => asked),
        }
      })
    }
  }

  /** Records refused approvals: tool calls that have a refusal as result now and had no result before. */
  async refused(context: AgentContext, answered: ReadonlySet<string>): Promise<void> {
    if (!this.records('approval')) return
    for (const { callId, name, error } of resultsIn(context.run.messages.all)) {
      if (error?.code !== 'rejected' || answered.has(callId)) continue
      await this.record('approval.decided', context, () => ({
        approved: false,
        tool: name,
        callId,
        reason: this.content('errors', context, () => error.message),
      }))
    }
  }

  /** Writes everything to the sinks at the end of a run. */
  async finish({ signal }: AgentContext): Promise<void> {
    const { waitUntil } = this.options
    if (waitUntil === undefined) await this.trail.flush(signal)
    else waitUntil(this.trail.flush())
  }

  #about(context: AuditedContext): AuditFacts {
    const { run } = context
    return {
      run: run.id,
      agent: run.agentName,
      session: run.session?.id,
      parent: run.parent?.id,
      subject: this.#subject(context),
    }
  }

  #subject(context: AuditedContext): string | undefined {
    return this.options.subject?.(context)
  }
}

/** Returns the tool calls that have a result before the run begins. */
export function answeredCalls({ session, messages }: AgentContext): ReadonlySet<string> {
  const results = resultsIn([...(session?.messages ?? []), ...messages])
  return new Set(results.map(({ callId }) => callId))
}

function resultsIn(messages: readonly Message[]): readonly FunctionResultContent[] {
  return messages.flatMap(({ contents }) =>
    contents.filter((content) => content.type === 'function-result'),
  )
}

function callOf(request: PendingRequest): FunctionCallContent | undefined {
  if (request.kind === 'interrupt') return undefined
  return request.kind === 'approval' ? request.request.call : request.call
}
