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

/** An audit log: the list of its middleware, with the state of the log. */
export interface AuditLog extends ReadonlyArray<Middleware> {
  /** Last record of the chain. Undefined before the first one. Kept elsewhere, it shows that lines were cut off. */
  readonly head: AuditHead | undefined
  /** Resolves when every record is written, or after `waitMs`. */
  flush(): Promise<void>
  /**
   * Writes the waiting records and closes the sinks. Rejects with `audit_failed` if they cannot be written;
   * they are kept, and can be written by the next call.
   */
  close(): Promise<void>
}

/**
 * Records runs, model calls, tool calls, approvals and decisions in a log in which every line holds the
 * hash of the line before it. Agents that write to the same log share one `auditLog()`.
 * @example
 * ```ts
 * import { tmpdir } from 'node:os'
 * import { join } from 'node:path'
 * import { Agent } from '@lamella/core'
 * import { auditLog, jsonLines, verify } from '@lamella/middleware-audit'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const path = join(tmpdir(), `audit-log-${process.pid}.jsonl`)
 * const audit = auditLog({ sinks: jsonLines(path) })
 * const agent = new Agent({ client: scriptedClient(['Hello!']), middleware: [audit] })
 *
 * await agent.run('Hi')
 * await audit.close()
 * console.log((await verify(path)).ok) // true
 * ```
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
