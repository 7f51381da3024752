import type { Middleware } from '@lamella/core'
import {
  defineAgentMiddleware,
  defineChatMiddleware,
  defineFunctionMiddleware,
} from '@lamella/core/authoring'
import type { AuditHead } from './record/audit-record.ts'
import type { AuditLogOptions } from './run/audit-options.ts'
import { checkAuditOptions } from './run/audit-options.ts'
import { AuditTrail } from './run/audit-trail.ts'
import { modelPart } from './run/model-part.ts'
import { RunAudit } from './run/run-audit.ts'
import { runPart } from './run/run-part.ts'
import { toolPart } from './run/tool-part.ts'

/** The middlewares of an audit log, and the log itself. */
export interface AuditLog extends ReadonlyArray<Middleware> {
  /** Where the chain ends, once something was recorded. Kept elsewhere, it shows that lines were cut off. */
  readonly head: AuditHead | undefined
  /** Resolves when all is written, or `waitMs` are over. */
  flush(): Promise<void>
  /** Writes what waits and lets go of the sinks. */
  close(): Promise<void>
}

/**
 * Records runs, model calls, tool calls, approvals and decisions in a log in which every line holds the
 * hash of the one before. Agents that write to one log share one `auditLog()`.
 * @throws TypeError or RangeError that names the option and the value
 */
export function auditLog(options: AuditLogOptions): AuditLog {
  checkAuditOptions(options)
  const trail = new AuditTrail(options)
  const audit = new RunAudit(trail, options)
  const middleware = { name: options.name, when: options.when }
  const middlewares: Middleware[] = []
  if (options.mode !== 'off') {
    middlewares.push(defineAgentMiddleware('audit', middleware, runPart(audit)))
    if (audit.records('model'))
      middlewares.push(defineChatMiddleware('audit', middleware, modelPart(audit)))
    if (audit.records('tool') || audit.records('approval')) {
      middlewares.push(defineFunctionMiddleware('audit', middleware, toolPart(audit)))
    }
  }
  return Object.defineProperties(middlewares, {
    head: { get: () => trail.head },
    flush: { value: () => trail.flush() },
    close: { value: () => trail.close() },
  }) as unknown as AuditLog
}
